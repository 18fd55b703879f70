/**
 * The processes of a claim: everything whose environment carries its id (R12). Finds them and ends them, and touches
 * no other process. A process that wipes its own environment is not found; nothing that runs as an agent does.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '@agentmux/lease-model'
import type { RemainingProcess } from '@agentmux/refusals'
import {
  carriesClaim,
  describeProcess,
  listPids,
  ourselvesAndAncestors,
  type ProcessEntry,
  stillRuns
} from './process-table.js'
import { whyNotSignal } from './signal-permission.js'

export interface EndOptions {
  readonly clock: Clock
  /** Between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number
  /** False if others could have written the lease: then whatever is found is left alone, and reported. */
  readonly trusted: boolean
  readonly signal?: AbortSignal | undefined
}

export type EndedProcesses =
  | { readonly kind: 'ended'; readonly count: number }
  | { readonly kind: 'remaining'; readonly processes: readonly RemainingProcess[] }

/** How many environments are read before other work gets a turn. */
const BATCH = 100
/** How often the exit of signalled processes is looked for. */
const POLL_MS = 10
/** A killed process is gone in milliseconds, unless the kernel keeps it (a hung disk). */
const KILL_PATIENCE_MS = 3_000

/** Everything that carries the claim id now, ourselves included. */
export async function findClaimProcesses(claimId: string): Promise<ProcessEntry[]> {
  const found: ProcessEntry[] = []
  if (claimId === '') return found
  let looked = 0
  for (const pid of listPids()) {
    if (++looked % BATCH === 0) await nextTurn()
    if (!carriesClaim(pid, claimId)) continue
    const entry = describeProcess(pid)
    if (entry !== undefined) found.push(entry)
  }
  return found
}

/**
 * SIGTERM, the grace, SIGKILL, until two looks in a row find nothing: a process may be born while the first is
 * under way. Resolves only when all have exited, or some may not or would not.
 *
 * @throws the signal's reason.
 */
export async function endClaimProcesses(claimId: string, options: EndOptions): Promise<EndedProcesses> {
  const { clock } = options
  const untouchable = ourselvesAndAncestors()
  const startedMs = clock.bootMs()
  const killAtMs = startedMs + options.graceMs
  const giveUpAtMs = killAtMs + KILL_PATIENCE_MS
  const terminated = new Set<string>()
  let emptyLooks = 0
  for (;;) {
    options.signal?.throwIfAborted()
    const found = await findClaimProcesses(claimId)
    if (found.length === 0) {
      if (++emptyLooks === 2) return { kind: 'ended', count: terminated.size }
      await clock.sleep(1, options.signal)
      continue
    }
    emptyLooks = 0
    const kept = found.flatMap((entry) => remaining(entry, options.trusted, untouchable))
    if (kept.length > 0) return { kind: 'remaining', processes: kept }
    const nowMs = clock.bootMs()
    if (nowMs >= giveUpAtMs) {
      return {
        kind: 'remaining',
        processes: found.map((entry) => ({ ...named(entry), because: 'survived' }))
      }
    }
    for (const entry of found) {
      const name = `${entry.pid} ${entry.startTicks}`
      if (nowMs >= killAtMs) signalProcess(entry, 'SIGKILL')
      else if (!terminated.has(name)) signalProcess(entry, 'SIGTERM')
      terminated.add(name)
    }
    await untilGone(found, nowMs < killAtMs ? killAtMs : nowMs + 100, options)
  }
}

/** Signals this very process; that it is gone already is fine. */
export function signalProcess(entry: ProcessEntry, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (!stillRuns(entry)) return
  try {
    process.kill(entry.pid, signal)
  } catch {
    // Gone in between, or not ours after all: the next look tells.
  }
}

function remaining(
  entry: ProcessEntry,
  trusted: boolean,
  untouchable: ReadonlySet<number>
): RemainingProcess[] {
  const because = whyNotSignal(entry, untouchable) ?? (trusted ? undefined : 'untrusted-lease')
  return because === undefined ? [] : [{ ...named(entry), because }]
}

function named(entry: ProcessEntry): { pid: number; command: string } {
  return { pid: entry.pid, command: entry.command }
}

async function untilGone(entries: readonly ProcessEntry[], untilMs: number, { clock, signal }: EndOptions) {
  while (clock.bootMs() < untilMs && entries.some(stillRuns)) await clock.sleep(POLL_MS, signal)
}
