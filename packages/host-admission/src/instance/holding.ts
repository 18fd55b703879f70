/** Whether an instance holds an agent, as GET /agentmux/agent/holding says it on the wire. */
import { booleanField, optionalText, shaped, textField, wholeField } from '../json-fields.js'

/** In the words of the wire, so that a route can send it as it is. Not held: host name set, the rest empty or 0. */
export interface Holding {
  readonly held: boolean
  readonly hostname: string
  readonly channel: string
  readonly version: string
  readonly acquired_at_ms: number
  /** Hex SHA-256 of the claim id; older builds leave it out. */
  readonly claim?: string
}

/** Undefined if the body is not one, or a field is longer than a peer may send. */
export function parseHolding(body: unknown): Holding | undefined {
  return shaped(body, (fields) => {
    const claim = optionalText(fields, 'claim', 64)
    return {
      held: booleanField(fields, 'held'),
      hostname: textField(fields, 'hostname', 253),
      channel: textField(fields, 'channel', 64),
      version: textField(fields, 'version', 64),
      acquired_at_ms: wholeField(fields, 'acquired_at_ms'),
      ...(/^[0-9a-f]{64}$/.test(claim) ? { claim } : {})
    }
  })
}
