/**
 * The watchdog's way of ending processes: synchronous, and it touches no disk. What it can reach without asking a
 * process's memory comes first, and a process that hangs in the kernel last, as reading its environment may hang too.
 */
import { ourselvesAndAncestors } from './ancestors.js'
import { claimMarks } from './claim-mark.js'
import { readStat, startTicksOf } from './process-stat.js'
import { listPids, userOf } from './process-table.js'
import { whyNotSignal } from './signal-permission.js'
import type { Driver } from './watchdog-messages.js'

export type EndingSignal = 'SIGTERM' | 'SIGKILL'

export interface SweptClaim {
  readonly claimId: string
  readonly driver: Driver | undefined
}

export interface Swept {
  /** The claims that something was found of. */
  readonly found: ReadonlySet<string>
  /** Whether a process was in the middle of an exec, so that it could not be told what it carries. */
  readonly unsettled: boolean
}

/** The child itself, and its group: whoever is in that group was put there by the child. */
export function signalDriver(driver: Driver | undefined, signal: EndingSignal): void {
  if (driver === undefined || driver.pid <= 1) return
  // A zombie counts: its group may live, and until it is reaped no other group can have its number.
  if (startTicksOf(driver.pid) !== driver.startTicks) return
  signalQuietly(driver.ownGroup ? -driver.pid : driver.pid, signal)
}

/** Signals everything else that carries one of the claims. @throws if /proc cannot be read. */
export function sweepClaims(claims: readonly SweptClaim[], signal: EndingSignal): Swept {
  const drivers = new Map(claims.map((claim) => [claim.claimId, claim.driver]))
  const found = new Set<string>()
  const untouchable = ourselvesAndAncestors()
  const hanging: number[] = []
  let unsettled = false
  const examine = (pid: number) => {
    const marks = marksNow(pid)
    if (marks === 'unsettled') unsettled = true
    const claimId = marks === 'unsettled' ? undefined : marks.find((mark) => drivers.has(mark))
    if (claimId === undefined || whyNotSignal({ pid, uid: userOf(pid) }, untouchable) !== undefined) return
    found.add(claimId)
    if (signal === 'SIGTERM' && hasHeard(pid, drivers.get(claimId))) return
    // Asked last, so that nothing can come between that and the signal but another process's exit and a pid's reuse.
    const again = marksNow(pid)
    if (again !== 'unsettled' && again.includes(claimId)) signalQuietly(pid, signal)
  }
  for (const pid of listPids()) {
    if (readStat(pid)?.uninterruptible === true) hanging.push(pid)
    else examine(pid)
  }
  // SIGTERM means nothing to them now.
  if (signal === 'SIGKILL') for (const pid of hanging) examine(pid)
  return { found, unsettled }
}

/** How often an environment of no length is read again here, where nothing can be waited for. */
const EMPTY_LOOKS = 4

/** An environment that is empty each time is no instant of an exec: that lasts a few microseconds. */
function marksNow(pid: number): readonly string[] | 'unsettled' {
  for (let looks = 1; looks <= EMPTY_LOOKS; looks++) {
    const marks = claimMarks(pid)
    if (marks !== 'empty') return marks
  }
  return []
}

/** Whether it got the signal as the driver or with the driver's group: twice may mean something else to it. */
function hasHeard(pid: number, driver: Driver | undefined): boolean {
  if (driver === undefined) return false
  return pid === driver.pid || (driver.ownGroup && readStat(pid)?.groupId === driver.pid)
}

function signalQuietly(pid: number, signal: EndingSignal): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has exited.
  }
}
