/**
 * The thread that ends a claim's processes when its lease was not confirmed in time (R13). It reads shared memory,
 * the clock and /proc, and touches no disk, so neither a stuck disk nor a blocked main thread delays it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { createSystemClock } from '@agentmux/lease-model'
import { Deadline, stallOf, WallSteps } from './deadline.js'
import { DescriptorReserve } from './descriptor-reserve.js'
import { type EndingSignal, signalDriver, sweepClaims } from './sweep.js'
import {
  type Driver,
  FENCED,
  type FromWatchdog,
  type ToWatchdog,
  type WatchdogSettings
} from './watchdog-messages.js'

interface Watched {
  readonly id: number
  readonly claimId: string
  readonly cell: BigInt64Array
  readonly deadline: Deadline
  driver: Driver | undefined
  /** The signal that it is at, once the deadline has passed. */
  fenced: EndingSignal | undefined
  /** Sweeps with SIGKILL, and how many of them in a row found nothing more. */
  killSweeps: number
  emptySweeps: number
}

/** What is born while the first is under way is found by the next. */
const EMPTY_SWEEPS = 2
const MAX_KILL_SWEEPS = 40

const settings = workerData as WatchdogSettings
const clock = createSystemClock()
const watched = new Map<number, Watched>()
const reserve = new DescriptorReserve()
let timer: NodeJS.Timeout | undefined
let plannedMs = 0
let wallSteps = new WallSteps(clock.wallMs(), clock.bootMs())

function tell(message: FromWatchdog): void {
  parentPort?.postMessage(message)
}

function renewedMsOf(entry: Watched): number {
  return Number(Atomics.load(entry.cell, 0))
}

function swept(entry: Watched): boolean {
  return entry.emptySweeps >= EMPTY_SWEEPS || entry.killSweeps >= MAX_KILL_SWEEPS
}

/** From the time that the tick began with: were we suspended during the tick, the next one is late and notices it. */
function plan(nowMs: number): void {
  clearTimeout(timer)
  timer = undefined
  if (watched.size === 0) return
  let nextMs = nowMs + settings.tickMs
  for (const entry of watched.values()) {
    if (entry.fenced !== 'SIGKILL') nextMs = Math.min(nextMs, entry.deadline.dueMs(renewedMsOf(entry)))
  }
  plannedMs = Math.max(nextMs, nowMs + 1)
  timer = setTimeout(tick, plannedMs - nowMs)
}

function tick(): void {
  const nowMs = clock.bootMs()
  if (wallSteps.stepped(clock.wallMs(), nowMs)) tell({ kind: 'wall-step' })
  const stalledMs = stallOf(plannedMs, nowMs, settings.tickMs)
  if (stalledMs > 0) allowLooks([...watched.values()], nowMs, stalledMs)
  const fenced = [...watched.values()].filter((entry) => fence(entry, nowMs))
  const killing = [...watched.values()].filter((entry) => killDue(entry, nowMs))
  end(killing, 'SIGKILL')
  end(
    fenced.filter((entry) => !killing.includes(entry)),
    'SIGTERM'
  )
  for (const entry of fenced) tell({ kind: 'fenced', id: entry.id })
  plan(nowMs)
}

function allowLooks(entries: readonly Watched[], nowMs: number, stalledMs: number): void {
  for (const entry of entries) entry.deadline.allowLook(renewedMsOf(entry), nowMs, stalledMs)
  tell({ kind: 'look' })
}

/** Whether it was fenced just now. A renewal that arrives in this very moment wins. */
function fence(entry: Watched, nowMs: number): boolean {
  if (entry.fenced !== undefined) return false
  const renewed = Atomics.load(entry.cell, 0)
  if (entry.deadline.action(Number(renewed), nowMs) !== 'terminate') return false
  if (Atomics.compareExchange(entry.cell, 0, renewed, FENCED) !== renewed) return false
  entry.deadline.fence(Number(renewed), nowMs)
  entry.fenced = 'SIGTERM'
  return true
}

function killDue(entry: Watched, nowMs: number): boolean {
  if (entry.fenced === 'SIGKILL') return !swept(entry)
  return entry.fenced === 'SIGTERM' && entry.deadline.action(0, nowMs) === 'kill'
}

/** All the drivers first: they need no look at anything that could hang. */
function end(entries: readonly Watched[], signal: EndingSignal): void {
  if (entries.length === 0) return
  for (const entry of entries) {
    entry.fenced = signal
    quietly(() => signalDriver(entry.driver, signal))
  }
  quietly(() => {
    const { found, unsettled } = sweepClaims(entries, signal)
    if (signal === 'SIGTERM') return
    for (const entry of entries) {
      entry.killSweeps++
      entry.emptySweeps = unsettled || found.has(entry.claimId) ? 0 : entry.emptySweeps + 1
    }
  })
}

/** An error must not end this thread; what it kept from being done is tried again at the next tick. */
function quietly(section: () => void): void {
  try {
    reserve.run(section)
  } catch {
    // SIGKILL is swept again; after a SIGTERM that reached nobody SIGKILL follows.
  }
}

function arm(message: Extract<ToWatchdog, { kind: 'arm' }>): void {
  const { id, claimId, cell } = message
  const deadline = new Deadline(settings)
  const entry: Watched = {
    id,
    claimId,
    cell,
    deadline,
    driver: undefined,
    fenced: undefined,
    killSweeps: 0,
    emptySweeps: 0
  }
  watched.set(id, entry)
  const nowMs = clock.bootMs()
  if (watched.size === 1) wallSteps = new WallSteps(clock.wallMs(), nowMs)
  // The message was long under way: suspended in between, say.
  const stalledMs = stallOf(renewedMsOf(entry), nowMs, settings.tickMs)
  if (stalledMs > 0) allowLooks([entry], nowMs, stalledMs)
}

function setDriver({ id, driver }: Extract<ToWatchdog, { kind: 'driver' }>): void {
  const entry = watched.get(id)
  if (entry === undefined) return
  entry.driver = driver
  // Started in the very moment of the fence: it must not outlive it.
  if (entry.fenced !== undefined && driver !== undefined) {
    entry.emptySweeps = 0
    end([entry], entry.fenced)
  }
}

parentPort?.on('message', (message: ToWatchdog) => {
  if (message.kind === 'arm') arm(message)
  else if (message.kind === 'driver') setDriver(message)
  else watched.delete(message.id)
  if (timer === undefined || watched.size === 0) plan(clock.bootMs())
})

tell({ kind: 'ready' })
