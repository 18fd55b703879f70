/** An error as node:fs throws it, of the realm of the one that gets it. */
import type { Thread } from '../kernel/thread.js'

export function systemError(thread: Thread, code: string, call: string, path = ''): Error {
  const { Error: Fault } = thread.sandbox
  // Most are expected and caught at once; to walk the stack for each costs more than the call itself. The text names call and path.
  const limit = Fault.stackTraceLimit
  Fault.stackTraceLimit = 0
  const error = new Fault(`${code}: ${call}${path === '' ? '' : ` '${path}'`}`)
  Fault.stackTraceLimit = limit
  return Object.assign(error, { code, syscall: call, path, errno: -1 })
}
