/** Whether a recorded process still runs. A pid alone may have been given to another process since. */
import { readFileSync } from 'node:fs'

/** Names one start of one process, as far as the system tells; on Linux a reused pid gives another string. */
export function processStart(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'zombie' : `${fields[19]}`
  } catch {
    return ''
  }
}

export function isAlive({ pid, start }) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  return start === processStart(pid)
}
