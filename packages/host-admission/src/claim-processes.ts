/**
 * The processes of a claim: everything whose environment carries its id (R12). Finds them and ends them, and touches
 * no other process. A process that wipes its own environment is not found.
 */
import type { Clock } from '@agentmux/lease-model'
import type { RemainingProcess } from '@agentmux/refusals'
import { ourselvesAndAncestors } from './ancestors.js'
import { ClaimLook } from './claim-look.js'
import { hidesEnvironment } from './claim-mark.js'
import { procFault } from './proc-fault.js'
import { readStat } from './process-stat.js'
import { canFindByEnvironment, describeProcess, type ProcessEntry, stillRuns } from './process-table.js'
import { whyNotSignal } from './signal-permission.js'

export interface EndOptions {
  readonly clock: Clock
  /** Between SIGTERM and SIGKILL, milliseconds. A stopped process gets SIGKILL at once: it hears nothing else. */
  readonly graceMs: number
  /** False if others could have written the lease: then whatever is found is left alone, and reported. */
  readonly trusted: boolean
  readonly signal?: AbortSignal | undefined
  /** What is left alone does not keep the rest from being ended. Otherwise it is all or nothing. */
  readonly partly?: boolean
  /** A child of ours that drives the agent: part of the claim even if it has wiped its environment. */
  readonly driver?: ProcessEntry | undefined
  /** What the lease says drove the agent. A hint: if it cannot be told whether it carries the claim, it is left alone. */
  readonly recorded?: { readonly pid: number; readonly startTicks: number }
  /** SIGTERM has been sent by somebody else. */
  readonly terminated?: boolean
  /** Shares its passes over /proc with others. */
  readonly look?: ClaimLook
}

export type EndedProcesses =
  | { readonly kind: 'ended'; readonly count: number }
  | { readonly kind: 'remaining'; readonly processes: readonly RemainingProcess[] }

/** How often the exit of signalled processes is looked for. */
const POLL_MS = 10
/** Between two rounds of SIGKILL, for what was born meanwhile. */
const KILL_ROUND_MS = 100
/** A killed process is gone in milliseconds, unless the kernel keeps it (a hung disk). Rounds, not time: we may sleep. */
const KILL_ROUNDS = 30

/** Everything that carries the claim id now, ourselves included. @throws LeaseFault `io` if /proc cannot be read. */
export async function findClaimProcesses(claimId: string): Promise<readonly ProcessEntry[]> {
  return (await new ClaimLook().find(claimId)).carriers
}

/**
 * SIGTERM, the grace, SIGKILL, until two looks in a row find nothing: a process may be born while the first is
 * under way. Resolves only when all have exited, or some may not or would not.
 *
 * @throws the signal's reason; LeaseFault `io` if /proc cannot be read: then nothing is known to have ended.
 */
export async function endClaimProcesses(claimId: string, options: EndOptions): Promise<EndedProcesses> {
  try {
    return await endAll(claimId, options)
  } catch (error) {
    throw procFault(error)
  }
}

async function endAll(claimId: string, options: EndOptions): Promise<EndedProcesses> {
  const { clock, signal } = options
  const look = options.look ?? new ClaimLook()
  const killAtMs = clock.bootMs() + options.graceMs
  const signalled = new Set<string>()
  let killRounds = 0
  for (let emptyLooks = 0; ; ) {
    signal?.throwIfAborted()
    const found = await findAll(claimId, look, options)
    if (found.length === 0) {
      if (++emptyLooks === 2) return { kind: 'ended', count: signalled.size }
      await clock.sleep(1, signal)
      continue
    }
    emptyLooks = 0
    const untouchable = ourselvesAndAncestors()
    const kept = found.flatMap((each) => leftAlone(each, options.trusted, untouchable))
    const endable = found.filter(({ entry }) => !kept.some(({ pid }) => pid === entry.pid))
    if (kept.length > 0 && (endable.length === 0 || options.partly !== true)) {
      return { kind: 'remaining', processes: kept }
    }
    if (killRounds === KILL_ROUNDS) {
      return { kind: 'remaining', processes: [...kept, ...endable.map((each) => named(each, 'survived'))] }
    }
    const killing = clock.bootMs() >= killAtMs
    if (killing) killRounds++
    for (const { entry } of endable) signalOnce(entry, killing, options.terminated === true, signalled)
    const untilMs = killing ? clock.bootMs() + KILL_ROUND_MS : killAtMs
    await untilGone(endable, untilMs, options)
  }
}

interface Found {
  readonly entry: ProcessEntry
  /** Whether it is known to be part of the claim. */
  readonly sure: boolean
}

async function findAll(
  claimId: string,
  look: ClaimLook,
  { driver, recorded }: EndOptions
): Promise<readonly Found[]> {
  const { carriers, unsettled } = await look.find(claimId)
  const found = new Map<number, Found>()
  for (const entry of [...unsettled, ...unreadable(recorded)]) found.set(entry.pid, { entry, sure: false })
  for (const entry of carriers) found.set(entry.pid, { entry, sure: true })
  if (driver !== undefined && stillRuns(driver)) found.set(driver.pid, { entry: driver, sure: true })
  return [...found.values()]
}

/**
 * It drove the agent and does not say what it carries: to us, or to anybody. One that says so is judged by that alone (R12).
 * If it runs as another user, `sudo` say, it is not ours to end, and named.
 */
function unreadable(recorded: EndOptions['recorded']): ProcessEntry[] {
  if (recorded === undefined || recorded.pid <= 1) return []
  const entry = describeProcess(recorded.pid)
  if (entry === undefined || entry.startTicks !== recorded.startTicks) return []
  const asks = canFindByEnvironment ? hidesEnvironment(entry.pid) : true
  return asks ? [entry] : []
}

/** SIGTERM once, SIGKILL as often as it takes. */
function signalOnce(
  entry: ProcessEntry,
  killing: boolean,
  terminated: boolean,
  signalled: Set<string>
): void {
  const name = `${entry.pid} ${entry.startTicks}`
  const stat = readStat(entry.pid)
  // Gone, or another process by now.
  if (stat === undefined || stat.startTicks !== entry.startTicks) return
  // Letting a stopped process go on, for SIGTERM to reach it, would let it drive.
  const kill = killing || stat.stopped
  const heard = terminated || signalled.has(name)
  signalled.add(name)
  if (!kill && heard) return
  try {
    process.kill(entry.pid, kill ? 'SIGKILL' : 'SIGTERM')
  } catch {
    // Gone in between, or not ours after all: the next look tells.
  }
}

function leftAlone(
  { entry, sure }: Found,
  trusted: boolean,
  untouchable: ReadonlySet<number>
): RemainingProcess[] {
  const because =
    whyNotSignal(entry, untouchable) ?? (trusted ? (sure ? undefined : 'unverified') : 'untrusted-lease')
  return because === undefined ? [] : [named({ entry }, because)]
}

function named({ entry }: { entry: ProcessEntry }, because: RemainingProcess['because']): RemainingProcess {
  return { pid: entry.pid, command: entry.command, because }
}

async function untilGone(found: readonly Found[], untilMs: number, { clock, signal }: EndOptions) {
  while (clock.bootMs() < untilMs && found.some(({ entry }) => stillRuns(entry))) {
    await clock.sleep(POLL_MS, signal)
  }
}
