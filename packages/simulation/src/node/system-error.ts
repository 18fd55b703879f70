/** An error as node:fs throws it, of the realm of the one that gets it. */
import type { Thread } from '../kernel/thread.js'

export function systemError(thread: Thread, code: string, call: string, path = ''): Error {
  const error = new thread.sandbox.Error(`${code}: ${call}${path === '' ? '' : ` '${path}'`}`)
  return Object.assign(error, { code, syscall: call, path, errno: -1 })
}
