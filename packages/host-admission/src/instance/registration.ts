/** An agent that another instance says it runs: one item of GET /agentmux/reactive/agents. */
import { optionalText, optionalWhole, shaped, textField } from '../json-fields.js'

export interface Registration {
  /** Never empty: a registration without a UID is evidence of nothing. */
  readonly uid: string
  readonly agentName: string
  readonly blockId: string
  /** Unix milliseconds; 0 if unknown. */
  readonly registeredAtMs: number
}

const MAX_UID = 1_024
const MAX_TEXT = 1_024

/** The items that say something; undefined if the body is not a list. One bad item does not spoil the others. */
export function parseRegistrations(body: unknown): Registration[] | undefined {
  if (!Array.isArray(body)) return undefined
  return body.map(parseRegistration).filter((one) => one !== undefined)
}

function parseRegistration(item: unknown): Registration | undefined {
  const registration = shaped(item, (fields) => ({
    uid: textField(fields, 'uid', MAX_UID),
    agentName: optionalText(fields, 'agent_id', MAX_TEXT),
    blockId: optionalText(fields, 'block_id', MAX_TEXT),
    registeredAtMs: optionalWhole(fields, 'registered_at')
  }))
  return registration?.uid.trim() === '' ? undefined : registration
}
