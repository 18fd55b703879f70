/** What a peer answers about one agent, in the words of the wire. It is of the promised shape and size or it is nothing. */
import { leaseHostname } from '@agentmux/lease-model'
import * as z from 'zod/mini'

const notHeld = z.object({ held: z.literal(false) })
const held = z.object({
  held: z.literal(true),
  hostname: z.string().check(z.maxLength(253)),
  channel: z.string().check(z.maxLength(64)),
  version: z.string().check(z.maxLength(64)),
  acquired_at_ms: z.int(),
  claim: z.optional(z.unknown()),
  yielding: z.optional(z.unknown())
})
const holding = z.discriminatedUnion('held', [notHeld, held])

export type Holding =
  | { readonly kind: 'not-held' }
  | {
      readonly kind: 'held'
      /** Trimmed and lower-cased, as in a lease. */
      readonly hostname: string
      readonly channel: string
      readonly version: string
      readonly acquiredAtMs: number
      /** Hex SHA-256 of the claim id; empty where the answer has none. */
      readonly claim: string
      readonly yielding: boolean
    }

/** Undefined if the value is not one. A `claim` that is no hash is none at all, as from an older build. */
export function parseHolding(value: unknown): Holding | undefined {
  const parsed = holding.safeParse(value)
  if (!parsed.success) return undefined
  if (!parsed.data.held) return { kind: 'not-held' }
  const { hostname, channel, version, acquired_at_ms: acquiredAtMs, claim, yielding } = parsed.data
  return {
    kind: 'held',
    hostname: leaseHostname(hostname),
    channel,
    version,
    acquiredAtMs,
    claim: typeof claim === 'string' && /^[0-9a-f]{64}$/i.test(claim) ? claim.toLowerCase() : '',
    yielding: yielding === true
  }
}

/**
 * The holdings in an answer to many questions, for the UIDs that were asked and for no other: what a peer adds by itself
 * is not read, so that it cannot make us speak of agents that it made up. Undefined if the body is no such answer.
 */
export function parseHoldings(body: unknown, uids: readonly string[]): Map<string, Holding> | undefined {
  const holdings = ownField(body, 'holdings')
  if (typeof holdings !== 'object' || holdings === null || Array.isArray(holdings)) return undefined
  const read = new Map<string, Holding>()
  for (const uid of uids) {
    const one = parseHolding(ownField(holdings, uid))
    if (one !== undefined) read.set(uid, one)
  }
  return read
}

function ownField(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null || !Object.hasOwn(of, key)) return undefined
  return (of as Readonly<Record<string, unknown>>)[key]
}
