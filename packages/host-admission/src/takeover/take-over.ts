/**
 * Takes an agent over from whoever drives it on this computer: finds the holder, asks it to let go, waits until it has,
 * and keeps the agent for us, so that whoever restarts the old holder does not win it back. Only where a person has
 * confirmed it (R5). Whatever else it comes to, it leaves nothing behind.
 */
import { LeaseFault, leaseKey } from '@agentmux/lease-store'
import { LinkedAbort } from '../linked-abort.js'
import type { TakeOverPorts, TakeOverRequest, TakeOverResult } from './take-over-answers.js'
import { TakeOverAttempt } from './take-over-attempt.js'

/** From beginning to end. */
export const TAKE_OVER_TIMEOUT_MS = 25_000

/**
 * After `free` and `released` the agent is kept for us for 30 s: claim it, others are turned away.
 *
 * @throws the signal's reason when aborted; TypeError or RangeError for what cannot be a UID.
 */
export async function takeOver(request: TakeOverRequest, ports: TakeOverPorts): Promise<TakeOverResult> {
  leaseKey(request.agent.uid)
  const { clock } = ports
  const bound = new LinkedAbort(request.signal)
  const ranOut = new Error('it was not free in time')
  const timeoutMs = request.timeoutMs ?? TAKE_OVER_TIMEOUT_MS
  const cancelTimer = clock.after(timeoutMs, () => bound.abort(ranOut))
  const attempt = new TakeOverAttempt(request, ports, { signal: bound.signal, timeoutMs })
  let result: TakeOverResult | undefined
  try {
    result = await attempt.run()
    request.signal?.throwIfAborted()
    return result
  } catch (error) {
    result = undefined
    if (error === ranOut) return attempt.ranOut()
    if (error instanceof LeaseFault) return attempt.unreadable(error)
    throw error
  } finally {
    cancelTimer()
    bound.unlink()
    if (result?.kind !== 'free' && result?.kind !== 'released') attempt.leaveNothing()
  }
}
