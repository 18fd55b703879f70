/** What the daemon says of its LAN, read so that a daemon of another version cannot confuse whoever asks it. */
import * as z from 'zod/mini'
import type { LanView } from '../lan/lan-view.js'

const text = z.catch(z.string(), '')
const count = z.catch(z.number(), 0)
const texts = z.catch(z.array(z.string()), [])

const peer = z.object({
  instance_id: text,
  hostname: text,
  channel: text,
  version: text,
  address: text,
  port: count
})

const view = z.object({
  enabled: z.boolean(),
  signed: z.catch(z.boolean(), false),
  addresses: texts,
  multicast: z.catch(z.enum(['working', 'unavailable', 'off']), 'off'),
  probe: z.catch(z.enum(['listening', 'unavailable', 'off']), 'off'),
  why: z.optional(text),
  interfaces: z.catch(
    z.array(z.object({ name: text, addresses: texts, joined: z.catch(z.boolean(), false) })),
    []
  ),
  unsigned: count,
  peers: z.catch(z.array(peer), []),
  peer_count: count
})

/** Undefined if it is none. */
export function lanViewIn(body: unknown): LanView | undefined {
  const result = view.safeParse(body)
  if (!result.success) return undefined
  const { why, ...rest } = result.data
  return why === undefined ? rest : { ...rest, why }
}
