/**
 * The thread that ends a claim's processes when its lease was not confirmed in time (R13). It reads shared memory,
 * the clock and /proc, and touches no disk, so neither a stuck disk nor a blocked main thread delays it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { createSystemClock } from '@agentmux/lease-model'
import { carriesClaim, describeProcess, listPids, ourselvesAndAncestors } from './process-table.js'
import { whyNotSignal } from './signal-permission.js'
import { FENCED, type FromWatchdog, type ToWatchdog, type WatchdogSettings } from './watchdog-messages.js'

interface Watched {
  readonly id: number
  readonly claimId: string
  readonly cell: BigInt64Array
  driverPid: number
  ownGroup: boolean
  /** When SIGKILL is due; undefined until SIGTERM was sent. */
  killAtMs: number | undefined
  killed: boolean
  /** The renewal after which a suspension has already been allowed for, once. */
  allowedFor: bigint
  /** Until then a passed deadline is not acted on: after a suspension the main thread looks first. */
  lookUntilMs: number
}

const settings = workerData as WatchdogSettings
const clock = createSystemClock()
const watched = new Map<number, Watched>()
/** Later than planned by this much: we, and so the main thread, were suspended. */
const suspendedAfterMs = settings.tickMs * 4
/** A wall clock off by more than this from the boot clock was stepped. */
const STEP_MS = 1_000

let timer: NodeJS.Timeout | undefined
let plannedMs = 0
let wallAheadMs = clock.wallMs() - clock.bootMs()

function tell(message: FromWatchdog): void {
  parentPort?.postMessage(message)
}

function plan(): void {
  clearTimeout(timer)
  timer = undefined
  if (watched.size === 0) return
  const nowMs = clock.bootMs()
  let nextMs = nowMs + settings.tickMs
  for (const entry of watched.values()) nextMs = Math.min(nextMs, dueMs(entry, nowMs))
  plannedMs = Math.max(nextMs, nowMs + 1)
  timer = setTimeout(tick, plannedMs - nowMs)
}

function dueMs(entry: Watched, nowMs: number): number {
  if (entry.killed) return Number.POSITIVE_INFINITY
  if (entry.killAtMs !== undefined) return entry.killAtMs
  const renewedMs = Number(Atomics.load(entry.cell, 0))
  const deadlineMs = renewedMs + settings.terminateAfterMs
  return Math.max(deadlineMs, entry.lookUntilMs > nowMs ? entry.lookUntilMs : deadlineMs)
}

function tick(): void {
  const nowMs = clock.bootMs()
  noticeWallStep(nowMs)
  if (nowMs - plannedMs > suspendedAfterMs) allowForSuspension(nowMs)
  for (const entry of watched.values()) check(entry, nowMs)
  plan()
}

function noticeWallStep(nowMs: number): void {
  const aheadMs = clock.wallMs() - nowMs
  if (Math.abs(aheadMs - wallAheadMs) > STEP_MS) tell({ kind: 'wall-step' })
  wallAheadMs = aheadMs
}

/** Once per renewal: a process that is starved again and again does not put its deadline off for ever. */
function allowForSuspension(nowMs: number): void {
  for (const entry of watched.values()) {
    const renewed = Atomics.load(entry.cell, 0)
    if (entry.allowedFor === renewed) continue
    entry.allowedFor = renewed
    entry.lookUntilMs = nowMs + (settings.killAfterMs - settings.terminateAfterMs)
  }
  tell({ kind: 'look' })
}

function check(entry: Watched, nowMs: number): void {
  if (entry.killAtMs !== undefined) {
    if (nowMs >= entry.killAtMs) {
      entry.killed = true
      signalAll(entry, 'SIGKILL')
    }
    return
  }
  const renewed = Atomics.load(entry.cell, 0)
  if (nowMs < Number(renewed) + settings.terminateAfterMs || nowMs < entry.lookUntilMs) return
  // A renewal that arrives in this very moment wins.
  if (Atomics.compareExchange(entry.cell, 0, renewed, FENCED) !== renewed) return
  entry.killAtMs = Math.max(Number(renewed) + settings.killAfterMs, nowMs)
  signalAll(entry, 'SIGTERM')
  tell({ kind: 'fenced', id: entry.id })
  check(entry, nowMs)
}

/** The child first, without reading anything; then whatever carries the claim. */
function signalAll(entry: Watched, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (entry.driverPid > 0) {
    signalQuietly(entry.driverPid, signal)
    if (entry.ownGroup) signalQuietly(-entry.driverPid, signal)
  }
  const untouchable = ourselvesAndAncestors()
  for (const pid of listPids()) {
    if (pid === entry.driverPid || untouchable.has(pid) || !carriesClaim(pid, entry.claimId)) continue
    const found = describeProcess(pid)
    if (found !== undefined && whyNotSignal(found, untouchable) === undefined) signalQuietly(pid, signal)
  }
}

function signalQuietly(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has exited.
  }
}

parentPort?.on('message', (message: ToWatchdog) => {
  switch (message.kind) {
    case 'arm':
      watched.set(message.id, {
        id: message.id,
        claimId: message.claimId,
        cell: message.cell,
        driverPid: 0,
        ownGroup: false,
        killAtMs: undefined,
        killed: false,
        allowedFor: FENCED,
        lookUntilMs: 0
      })
      if (timer === undefined) wallAheadMs = clock.wallMs() - clock.bootMs()
      break
    case 'driver': {
      const entry = watched.get(message.id)
      if (entry === undefined) return
      entry.driverPid = message.pid
      entry.ownGroup = message.ownGroup
      // Started in the very moment of the fence: it must not outlive it.
      if (entry.killAtMs !== undefined && message.pid > 0)
        signalAll(entry, entry.killed ? 'SIGKILL' : 'SIGTERM')
      return
    }
    case 'disarm':
      watched.delete(message.id)
      break
  }
  if (timer === undefined || watched.size === 0) plan()
})

tell({ kind: 'ready' })
