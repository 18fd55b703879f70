/**
 * Runs many questions within one time-out for all of them. With more of them than slots each gets a smaller share of the
 * time, so that peers that accept and never answer cannot keep the others from being asked at all.
 */
import type { Clock } from '@agentmux/lease-model'

/** Ends early when its signal is aborted; never rejects. `limitMs`: how long it has. */
export type Job = (signal: AbortSignal, limitMs: number) => Promise<void>

export interface RoundOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly slots: number
  readonly signals: readonly AbortSignal[]
}

/** Jobs without a result when it resolves did not end in time. @throws a signal's reason when aborted. */
export async function oneRound(jobs: readonly Job[], options: RoundOptions): Promise<void> {
  const { clock, timeoutMs, slots, signals } = options
  for (const signal of signals) signal.throwIfAborted()
  if (jobs.length === 0) return
  const limitMs = timeoutMs / Math.ceil(jobs.length / slots)
  const running = new Set<AbortController>()
  let next = 0
  let over = false

  const work = async () => {
    for (let job = jobs[next++]; job !== undefined && !over; job = jobs[next++]) {
      const controller = new AbortController()
      running.add(controller)
      const cancel = clock.after(limitMs, () => controller.abort())
      await job(controller.signal, limitMs)
      cancel()
      running.delete(controller)
    }
  }
  const end = () => {
    over = true
    for (const controller of running) controller.abort()
  }
  await new Promise<void>((resolve, reject) => {
    const finish = (settle: () => void) => {
      cancel()
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
      end()
      settle()
    }
    const onAbort = (event: Event) => finish(() => reject((event.target as AbortSignal).reason))
    // The answers that are already here count; whatever is not is given up.
    const cancel = clock.after(timeoutMs, () => finish(() => setImmediate(resolve)))
    for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true })
    Promise.all(Array.from({ length: Math.min(slots, jobs.length) }, work)).then(
      () => finish(resolve),
      (fault) => finish(() => reject(fault))
    )
  })
}

/** Gives a part of a job its own shorter limit. */
export async function withLimit<T>(
  run: (signal: AbortSignal) => Promise<T>,
  { clock, signal, limitMs }: { clock: Clock; signal: AbortSignal; limitMs: number }
): Promise<T> {
  const controller = new AbortController()
  const onAbort = () => controller.abort()
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = clock.after(limitMs, onAbort)
  try {
    return await run(controller.signal)
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
}
