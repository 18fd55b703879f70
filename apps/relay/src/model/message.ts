/** A message that waits for an agent, and the id that puts it in its place in the queue. */
import { randomUUID } from 'node:crypto'

export type Priority = string | number

export interface Message {
  /** Sorts as the queue does. */
  readonly id: string
  readonly text: string
  /** Empty if unknown. */
  readonly sourceAgent: string
  readonly priority: Priority | undefined
  /** Unix milliseconds by the relay's wall clock. */
  readonly createdAtMs: number
}

export type NewMessage = Omit<Message, 'id'>

const RANKS: Readonly<Record<string, number>> = { urgent: 2, high: 1, normal: 0, low: -1 }
const MAX_RANK = 4

/** Urgent before normal, then the older first. The wall clock orders, and a step of it disturbs nothing but the order. */
export function newMessageId({ priority, createdAtMs }: NewMessage): string {
  return `${MAX_RANK - rankOf(priority)}.${String(createdAtMs).padStart(15, '0')}.${randomUUID()}`
}

/** Whether this can be the id of a message at all. */
export function isMessageId(text: string): boolean {
  return /^\d\.\d{15}\.[0-9a-f-]{36}$/.test(text)
}

function rankOf(priority: Priority | undefined): number {
  const rank = typeof priority === 'number' ? priority : (RANKS[priority ?? 'normal'] ?? 0)
  return Math.max(-MAX_RANK, Math.min(MAX_RANK, Math.trunc(rank)))
}
