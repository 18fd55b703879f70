/** What is known of one agent at the relay. Marks order requests and events: a later one has the higher mark. */
import type { Holder } from '@agentmux/lease-model'
import type { HolderAnswer } from './holder-answer.js'

export interface AgentEntry {
  /** The last definite answer said that we hold it. Silence does not change it: the tier fails open. */
  held: boolean
  /** Of our lease; 0 if the relay did not say. */
  epoch: number
  /** When the last request that confirmed the lease began; by the boot clock. */
  confirmedAtMs: number
  /** Until then a request without an answer may have left us the lease: it is released like one that is held. */
  maybeHeldUntilMs: number
  elsewhere: { readonly holder: Holder; readonly atMs: number } | undefined
  asked: { readonly answer: HolderAnswer; readonly atMs: number } | undefined
  /** The last change, or begin of an operation. An answer to a batch that began before is ignored. */
  touchedMark: number
  touchedAtMs: number
  /** When a take-over last cleared the refusal. */
  clearedMark: number
  /** The begin of the last request that confirmed the lease. */
  confirmedMark: number
  /** The begin of the last request that was told "held elsewhere". */
  elsewhereMark: number
}

export function newEntry(): AgentEntry {
  return {
    held: false,
    epoch: 0,
    confirmedAtMs: 0,
    maybeHeldUntilMs: 0,
    elsewhere: undefined,
    asked: undefined,
    touchedMark: 0,
    touchedAtMs: 0,
    clearedMark: 0,
    confirmedMark: 0,
    elsewhereMark: 0
  }
}
