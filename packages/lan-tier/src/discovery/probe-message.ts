/** The datagrams of the UDP probe, both ways. What does not fit is nothing: no reason is given and nothing is thrown. */
import { acceptClaim, type PeerClaim } from '../peers/peer-claim.js'

export const PROBE_PORT = 47_891
export const MAX_REQUEST_BYTES = 1_024
export const MAX_REPLY_BYTES = 1_400

const REQUEST_TYPE = 'agentmux_discover'
const REPLY_TYPE = 'agentmux_discover_response'

export const probeRequest = (): Buffer => Buffer.from(JSON.stringify({ type: REQUEST_TYPE, v: 1 }))

export function isProbeRequest(datagram: Buffer): boolean {
  return fieldsOf(datagram, MAX_REQUEST_BYTES)?.type === REQUEST_TYPE
}

/** Undefined if it would not fit into a datagram of the protocol. */
export function probeReply({ instanceId, authKey, ...rest }: PeerClaim): Buffer | undefined {
  const { hostname, version, port, channel } = rest
  const body = { type: REPLY_TYPE, v: 1, instance_id: instanceId, hostname, version, port }
  const reply = Buffer.from(JSON.stringify({ ...body, auth_key: authKey, channel }))
  return reply.byteLength <= MAX_REPLY_BYTES ? reply : undefined
}

export function parseProbeReply(datagram: Buffer): PeerClaim | undefined {
  const fields = fieldsOf(datagram, MAX_REPLY_BYTES)
  if (fields?.type !== REPLY_TYPE) return undefined
  const { instance_id: instanceId, auth_key: authKey, hostname, version, channel, port } = fields
  return acceptClaim({ instanceId, authKey, hostname, version, channel, port })
}

/** A JSON object of version 1; as a number, so 1.0 is the same. */
function fieldsOf(datagram: Buffer, maxBytes: number): Record<string, unknown> | undefined {
  if (datagram.byteLength > maxBytes) return undefined
  try {
    const parsed: unknown = JSON.parse(datagram.toString('utf8'))
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
    const fields = parsed as Record<string, unknown>
    return fields.v === 1 ? fields : undefined
  } catch {
    return undefined
  }
}
