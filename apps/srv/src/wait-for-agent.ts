/**
 * Gets the agent's lease for `run`: at once, or by waiting for its release, or by watching where only watching can tell
 * (R14). Every wait ends with the signal.
 */
import type { AcquireResult, HeldAgentLease, HostAdmission } from '@agentmux/host-admission'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import {
  type AdviceOptions,
  type Refusal,
  waitingMessage,
  waitRanOutRefusal,
  watchingMessage
} from '@agentmux/refusals'
import { leaveIdleMemoryAlone } from './idle-memory.js'
import type { OlderBuilds } from './older-builds.js'
import type { Progress } from './progress.js'

export interface WaitOptions {
  readonly agent: AgentRef
  readonly olderBuilds: OlderBuilds
  readonly blockId: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly advice: AdviceOptions
  /** -n: answer at once, whatever the answer is. */
  readonly neverWait: boolean
  /** --wait: for how long, milliseconds; Infinity for ever; undefined: a held agent is refused at once. */
  readonly waitMs: number | undefined
}

export type WaitResult =
  | { readonly kind: 'granted'; readonly lease: HeldAgentLease }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

type NotGranted =
  | Exclude<AcquireResult, { kind: 'granted' }>
  /** By an instance that has no lease for it. */
  | { readonly kind: 'driven'; readonly refusal: Refusal }

/** What stands in the way is no lease file that could wake us: ask again after this long. */
const ASK_AGAIN_MS = 1_000

export async function waitForAgent(admission: HostAdmission, options: WaitOptions): Promise<WaitResult> {
  const { clock, waitMs } = options
  const startedMs = clock.bootMs()
  try {
    for (;;) {
      const result = await ask(admission, options)
      if (result.kind === 'granted') return result
      const leftMs = (waitMs ?? 0) - (clock.bootMs() - startedMs)
      if (!mayWait(result, options)) return { kind: 'refused', refusal: result.refusal }
      if (waitMs !== undefined && leftMs <= 0) return ranOut(result, clock.bootMs() - startedMs, options)
      await waitOnce(admission, result, { ...options, startedMs, leftMs })
    }
  } finally {
    options.progress.end()
  }
}

async function ask(
  admission: HostAdmission,
  { agent, blockId, olderBuilds, signal }: WaitOptions
): Promise<AcquireResult | NotGranted> {
  const refusal = await olderBuilds.refusalFor(agent, signal)
  return refusal === undefined ? admission.acquire(agent, { blockId, signal }) : { kind: 'driven', refusal }
}

/** Without --wait only an open question is waited for, never a holder. */
function mayWait(result: NotGranted, { neverWait, waitMs }: WaitOptions): boolean {
  if (neverWait) return false
  if (result.kind === 'unknown') return result.retryAfterMs !== undefined
  return waitMs !== undefined
}

function ranOut(result: NotGranted, waitedMs: number, { agent, clock, advice }: WaitOptions): WaitResult {
  const holder = 'holder' in result.refusal ? result.refusal.holder : undefined
  const known = holder === undefined ? {} : { holder }
  return {
    kind: 'refused',
    refusal: waitRanOutRefusal(agent, waitedMs, clock.wallMs(), { ...advice, ...known })
  }
}

/** One wait: until the lease may be free, the question is answered, or the time is up. */
async function waitOnce(
  admission: HostAdmission,
  result: NotGranted,
  options: WaitOptions & { readonly startedMs: number; readonly leftMs: number }
): Promise<void> {
  const { agent, clock, signal, progress, waitMs, startedMs, leftMs } = options
  leaveIdleMemoryAlone()
  if (result.kind === 'driven' || (result.kind === 'refused' && result.refusal.kind !== 'held')) {
    progress.show(result.refusal.message)
    await clock.sleep(Math.min(ASK_AGAIN_MS, leftMs), signal)
    return
  }
  // Ends this wait alone: the time is up, or watching has shown that the holder lives.
  const enough = new AbortController()
  const cancelTimer =
    Number.isFinite(leftMs) && waitMs !== undefined ? clock.after(leftMs, () => enough.abort()) : undefined
  try {
    await admission.store.waitForRelease(agent.uid, {
      signal: AbortSignal.any([signal, enough.signal]),
      onStillHeld(look) {
        if (look.kind === 'unknown') progress.show(watchingMessage(agent, look.retryAfterMs))
        if (look.kind !== 'held') return
        if (waitMs === undefined) enough.abort()
        const limit = Number.isFinite(waitMs) && waitMs !== undefined ? { limitMs: waitMs } : {}
        const waitedMs = clock.bootMs() - startedMs
        progress.show(waitingMessage(agent, look.holder, clock.wallMs(), { waitedMs, ...limit }))
      }
    })
  } catch (reason) {
    if (!enough.signal.aborted || signal.aborted) throw reason
  } finally {
    cancelTimer?.()
  }
}
