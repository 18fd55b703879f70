/**
 * Looks for the processes of claims. Any number of callers share one pass over /proc, so ten thousand releases at once
 * cost a few passes; a caller is only ever served by a pass that began after it asked.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { procFault } from './proc-fault.js'
import { carrierOf, describeProcess, listPids, type ProcessEntry } from './process-table.js'
import { isOurUser } from './signal-permission.js'

export interface Sighted {
  readonly carriers: readonly ProcessEntry[]
  /** Processes of ours that stayed in the middle of an exec: whether they carry the claim cannot be told. */
  readonly unsettled: readonly ProcessEntry[]
}

interface Pass {
  readonly wanted: Set<string>
  readonly result: Promise<{
    readonly carriers: ReadonlyMap<string, readonly ProcessEntry[]>
    readonly unsettled: readonly ProcessEntry[]
  }>
}

/** Other work gets a turn after this much reading. */
const TURN_MS = 2
/** How often the list of processes is read again for those born meanwhile; a machine may fork without end. */
const MAX_LISTINGS = 8
/** An exec is over in well under a millisecond, unless its files come from a disk that hangs. */
const EXEC_PATIENCE_MS = 1_000
/** An environment that is empty each of these times, a millisecond apart, is no instant of an exec. */
const EMPTY_LOOKS = 4

export class ClaimLook {
  #current: Pass['result'] | undefined
  #next: Pass | undefined

  /** Everything that carries the claim now, ourselves included. @throws LeaseFault `io` if /proc cannot be read. */
  async find(claimId: string): Promise<Sighted> {
    if (claimId === '') return { carriers: [], unsettled: [] }
    this.#next ??= this.#plan()
    this.#next.wanted.add(claimId)
    const { carriers, unsettled } = await this.#next.result
    return { carriers: carriers.get(claimId) ?? [], unsettled }
  }

  #plan(): Pass {
    const wanted = new Set<string>()
    const result = this.#after(this.#current, wanted)
    return { wanted, result }
  }

  async #after(earlier: Pass['result'] | undefined, wanted: ReadonlySet<string>) {
    // Whoever asks in this turn, or while the earlier pass is under way, shares this one.
    await earlier?.catch(() => {})
    await Promise.resolve()
    this.#current = this.#next?.result
    this.#next = undefined
    try {
      return await lookOnce(wanted)
    } catch (error) {
      throw procFault(error)
    }
  }
}

async function lookOnce(wanted: ReadonlySet<string>) {
  const carriers = new Map<string, ProcessEntry[]>()
  const examined = new Set<number>()
  const emptyLooks = new Map<number, number>()
  const startedMs = performance.now()
  let turnMs = startedMs
  let unsettled: number[] = []
  for (let listing = 1; ; listing++) {
    const born = listing > MAX_LISTINGS ? [] : listPids().filter((pid) => !examined.has(pid))
    if (born.length === 0 && unsettled.length === 0) break
    if (born.length === 0) {
      if (performance.now() - startedMs > EXEC_PATIENCE_MS) break
      await pause(1)
    }
    const due = [...unsettled, ...born]
    unsettled = []
    for (const pid of due) {
      examined.add(pid)
      if (performance.now() - turnMs > TURN_MS) {
        await nextTurn()
        turnMs = performance.now()
      }
      const found = carrierOf(pid, wanted)
      if (found === 'unsettled') unsettled.push(pid)
      else if (found === 'empty') {
        const looks = (emptyLooks.get(pid) ?? 0) + 1
        emptyLooks.set(pid, looks)
        if (looks < EMPTY_LOOKS) unsettled.push(pid)
      } else for (const claimId of found?.claimIds ?? []) addTo(carriers, claimId, found?.entry)
    }
  }
  return { carriers, unsettled: unsettled.flatMap(ofOurs) }
}

function addTo(carriers: Map<string, ProcessEntry[]>, claimId: string, entry: ProcessEntry | undefined) {
  if (entry === undefined) return
  const entries = carriers.get(claimId)
  if (entries === undefined) carriers.set(claimId, [entry])
  else if (!entries.includes(entry)) entries.push(entry)
}

function ofOurs(pid: number): ProcessEntry[] {
  const entry = describeProcess(pid)
  return entry !== undefined && isOurUser(entry.uid) ? [entry] : []
}
