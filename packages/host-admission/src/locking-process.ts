/** Who is inside a lock that is not given back: the one thing that no time limit gets past (R3), so it is named. */
import type { LeaseFault } from '@agentmux/lease-store'
import type { LockingProcess } from '@agentmux/refusals'
import { readStat } from './process-stat.js'
import { describeProcess } from './process-table.js'
import type { RecordFault } from './record/record-fault.js'

/** As the store says it, having read /proc/locks at the moment of the time-out. */
const NAMED = /, by pid (\d+) \(/

/** Undefined if the store could not tell, or it is gone by now. */
export function lockingProcess(fault: LeaseFault | RecordFault): LockingProcess | undefined {
  const pid = Number(NAMED.exec(fault.message)?.[1])
  if (!(pid > 0)) return undefined
  try {
    const entry = describeProcess(pid)
    return entry && { pid, command: entry.command, stopped: readStat(pid)?.stopped ?? false }
  } catch {
    return undefined
  }
}
