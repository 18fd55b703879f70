/** That /proc cannot be read must never pass for "nothing runs" (R8). */
import { LeaseFault } from '@agentmux/lease-store'
import { errnoOf } from './process-stat.js'

/** What the system says about /proc as a LeaseFault; anything else, an abort say, unchanged. */
export function procFault(error: unknown): unknown {
  if (error instanceof LeaseFault || !(error instanceof Error) || !('syscall' in error)) return error
  const errno = errnoOf(error)
  const message = `cannot look for the processes of a claim in /proc: ${errno}`
  return new LeaseFault(message, { code: 'io', path: '/proc', errno, cause: error })
}
