/** What the message routes answer, and what their bodies may say. */
import type { Holder } from '@agentmux/lease-model'
import { z } from 'zod'
import type { Unknown } from './unknown-why.js'

export interface RelayMessage {
  readonly id: string
  /** Who sent it, as the relay says; empty if it does not. Never proof of anything. */
  readonly sourceAgent: string
  readonly message: string
  /** Empty if none. */
  readonly priority: string
  /** Unix milliseconds or a date, as the relay wrote it; empty if it did not. For people. */
  readonly createdAt: string
}

/** Somebody else holds the agent: nothing was read or claimed. */
export interface NotHolder {
  readonly kind: 'not-holder'
  readonly holder: Holder
  /** Whether the leases took note of it; false for an answer that something newer contradicts. */
  readonly noted: boolean
}

export type PendingAnswer =
  | { readonly kind: 'pending'; readonly messages: readonly RelayMessage[] }
  | NotHolder
  | Unknown

export type AckAnswer =
  /** The ids that this call won: these are ours to deliver, and only these. */
  { readonly kind: 'acknowledged'; readonly ids: readonly string[] } | NotHolder | Unknown

export type GiveBackAnswer = { readonly kind: 'given-back' } | Unknown

export type InjectAnswer = { readonly kind: 'injected'; readonly id: string } | Unknown

const MAX_ID_LENGTH = 256
const text = z.string().nullish()

const message = z.object({
  id: z.string().min(1).max(MAX_ID_LENGTH),
  source_agent: text,
  message: z.string(),
  priority: text,
  created_at: z.union([z.string(), z.number()]).nullish()
})
const pending = z.object({ injections: z.array(z.unknown()) })
const acknowledged = z.object({ acknowledged: z.array(z.string()) })
const injected = z.object({ success: z.literal(true), injection_id: z.string().max(MAX_ID_LENGTH) })

/** One that cannot be read is left out: it must not keep the others from being delivered. Ids are given once. */
export function pendingMessages(body: unknown): RelayMessage[] | undefined {
  const parsed = pending.safeParse(body)
  if (!parsed.success) return undefined
  const messages = new Map<string, RelayMessage>()
  for (const each of parsed.data.injections) {
    const read = message.safeParse(each)
    if (!read.success || messages.has(read.data.id)) continue
    const { id, source_agent, priority, created_at } = read.data
    messages.set(id, {
      id,
      message: read.data.message,
      sourceAgent: source_agent ?? '',
      priority: priority ?? '',
      createdAt: String(created_at ?? '')
    })
  }
  return [...messages.values()]
}

/** Only those that were asked for. */
export function acknowledgedIds(body: unknown, asked: readonly string[]): string[] | undefined {
  const parsed = acknowledged.safeParse(body)
  if (!parsed.success) return undefined
  const won = new Set(parsed.data.acknowledged)
  return asked.filter((id) => won.has(id))
}

export function injectedId(body: unknown): string | undefined {
  const parsed = injected.safeParse(body)
  return parsed.success ? parsed.data.injection_id : undefined
}
