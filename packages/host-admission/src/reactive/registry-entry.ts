/** One entry of the reactive registry: that an instance runs an agent of this name, and where that instance answers. */
import { InstanceEndpoint } from '../instance/instance-endpoint.js'
import { optionalText, optionalWhole, parsedJson, shaped, textField, wholeField } from '../json-fields.js'

export interface RegistryEntry {
  readonly agentName: string
  readonly blockId: string
  /** The server's process; 0 if unknown. */
  readonly pid: number
  /** Unix milliseconds, by the writer's clock. */
  readonly updatedAtMs: number
  /** Empty if unknown. */
  readonly channel: string
  /** Which registration wrote it; 0 if unknown. */
  readonly nonce: number
  /** Undefined if what it says cannot be one: such an entry is kept, and nobody is asked. */
  readonly endpoint: InstanceEndpoint | undefined
}

/** What an instance writes about itself and one of its agents. */
export interface OwnEntry {
  readonly agentName: string
  readonly blockId: string
  readonly pid: number
  readonly channel: string
  readonly nonce: number
  readonly localUrl: string
  readonly authKey: string
}

const MAX_TEXT = 1_024
const MAX_PID = 2 ** 32 - 1

/** Undefined if it is malformed. */
export function parseEntry(text: string): RegistryEntry | undefined {
  const entry = shaped(parsedJson(text), (fields) => {
    const pid = wholeField(fields, 'pid')
    const channel = optionalText(fields, 'channel', MAX_TEXT)
    const authKey = optionalText(fields, 'auth_key', MAX_TEXT)
    return {
      agentName: textField(fields, 'agent_id', MAX_TEXT),
      blockId: textField(fields, 'block_id', MAX_TEXT),
      pid,
      updatedAtMs: wholeField(fields, 'updated_at'),
      channel,
      nonce: optionalWhole(fields, 'registration_nonce'),
      endpoint: InstanceEndpoint.at(textField(fields, 'local_url', MAX_TEXT), { authKey, pid, channel })
    }
  })
  return entry !== undefined && entry.pid <= MAX_PID ? entry : undefined
}

export function formatEntry(entry: OwnEntry, updatedAtMs: number): string {
  return JSON.stringify({
    agent_id: entry.agentName,
    local_url: entry.localUrl,
    block_id: entry.blockId,
    pid: entry.pid,
    updated_at: updatedAtMs,
    auth_key: entry.authKey,
    channel: entry.channel,
    registration_nonce: entry.nonce
  })
}
