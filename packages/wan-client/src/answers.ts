/**
 * What the relay's bodies may say. Everything is checked before it is believed: a field of the wrong type makes the answer
 * no answer. Texts are trimmed, cut and freed of control characters, for people read them.
 */
import { type Holder, unnamedHolder } from '@agentmux/lease-model'
import { z } from 'zod'
import { agentKey } from './agent-key.js'

const epoch = z.int().nonnegative()

/** `held_by`: only what people are told. The host is compared with ours, so it is lower-cased. */
const heldBy = z.object({
  host: z.string().optional(),
  channel: z.string().optional(),
  version: z.string().optional(),
  acquired_at: z.unknown().optional()
})

const granted = z.object({ ok: z.literal(true), epoch: epoch.optional() })
const refused = z.object({ error: z.string().optional(), held_by: heldBy.nullish() })
const batch = z.object({ results: z.array(z.unknown()) })
const batchRow = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), agent_id: z.string(), epoch: epoch.optional() }),
  z.object({
    ok: z.literal(false),
    agent_id: z.string(),
    error: z.string().optional(),
    held_by: heldBy.nullish()
  })
])
const holderState = z.object({
  state: z.enum(['free', 'yours', 'other', 'unknown']),
  held_by: heldBy.nullish()
})

/** Errors by which a relay says "somebody else"; any other 409 without a holder may mean anything. */
const HELD_ERRORS = new Set(['held_by_other', 'not_holder'])

export type Refused = { readonly kind: 'elsewhere'; readonly holder: Holder } | { readonly kind: 'nobody' }

export type BatchRow = { readonly key: string } & (
  | { readonly kind: 'held'; readonly epoch: number }
  | Refused
)

/** The epoch of a 2xx answer, 0 if it says none; undefined if it grants nothing. */
export function grantedEpoch(body: unknown): number | undefined {
  const parsed = granted.safeParse(body)
  return parsed.success ? (parsed.data.epoch ?? 0) : undefined
}

/** What a 409 says; undefined if it says nothing that can be believed. */
export function refusedBy(body: unknown): Refused | undefined {
  const parsed = refused.safeParse(body)
  return parsed.success ? refusal(parsed.data) : undefined
}

/** The rows that can be believed. An agent with two rows has none: nobody can say which counts. */
export function batchRows(body: unknown): BatchRow[] | undefined {
  const parsed = batch.safeParse(body)
  if (!parsed.success) return undefined
  const rows = new Map<string, BatchRow | undefined>()
  for (const each of parsed.data.results) {
    const row = batchRowOf(each)
    if (row !== undefined) rows.set(row.key, rows.has(row.key) ? undefined : row)
  }
  return [...rows.values()].filter((row) => row !== undefined)
}

export type HolderState =
  | { readonly kind: 'free' }
  | { readonly kind: 'yours' }
  | { readonly kind: 'other'; readonly holder: Holder }
  | { readonly kind: 'relay-cannot-tell' }

export function holderStateOf(body: unknown): HolderState | undefined {
  const parsed = holderState.safeParse(body)
  if (!parsed.success) return undefined
  const { state, held_by } = parsed.data
  if (state === 'unknown') return { kind: 'relay-cannot-tell' }
  return state === 'other' ? { kind: 'other', holder: holderOf(held_by ?? {}) } : { kind: state }
}

function batchRowOf(value: unknown): BatchRow | undefined {
  const parsed = batchRow.safeParse(value)
  if (!parsed.success) return undefined
  const key = agentKey(parsed.data.agent_id)
  if (key === undefined) return undefined
  if (parsed.data.ok) return { key, kind: 'held', epoch: parsed.data.epoch ?? 0 }
  const said = refusal(parsed.data)
  return said && { key, ...said }
}

function refusal({ error, held_by }: z.output<typeof refused>): Refused | undefined {
  if (held_by === null) return { kind: 'nobody' }
  if (held_by !== undefined) return { kind: 'elsewhere', holder: holderOf(held_by) }
  return error !== undefined && HELD_ERRORS.has(error)
    ? { kind: 'elsewhere', holder: unnamedHolder('relay') }
    : undefined
}

function holderOf(said: z.output<typeof heldBy>): Holder {
  return {
    ...unnamedHolder('relay'),
    hostname: plain(said.host, 253).toLowerCase(),
    channel: plain(said.channel, 64),
    version: plain(said.version, 64),
    acquiredAtMs: isTime(said.acquired_at) ? said.acquired_at : 0
  }
}

function plain(text: string | undefined, maxLength: number): string {
  const cleaned = (text ?? '').slice(0, maxLength * 4).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
  return cleaned
    .trim()
    .slice(0, maxLength)
    .replace(/[\uD800-\uDBFF]$/, '')
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
