/** The child that drives the agent under one lease, and what the lease file has still to be told of it. */
import { startTicksOf } from './process-stat.js'
import { describeProcess, type ProcessEntry } from './process-table.js'

/** As a renewal writes it: a hint for people and for systems on which no environment can be read. 0: none. */
export interface RecordedDriver {
  readonly pid: number
  readonly startTicks: number
}

export class DriverRecord {
  #child: ProcessEntry | undefined
  #unrecorded: RecordedDriver | undefined

  get child(): ProcessEntry | undefined {
    return this.#child
  }

  /** To be written by the next renewal; undefined if the file has it. */
  get unrecorded(): RecordedDriver | undefined {
    return this.#unrecorded
  }

  /** Call it before the child can have been reaped: then its start is its own, not that of a later owner of the pid. */
  started(pid: number): ProcessEntry {
    this.#child = describeChild(pid)
    this.#unrecorded = { pid, startTicks: this.#child.startTicks }
    return this.#child
  }

  exited(): void {
    this.#child = undefined
    this.#unrecorded = { pid: 0, startTicks: 0 }
  }

  /** A renewal has written it. */
  recorded(driver: RecordedDriver | undefined): void {
    if (this.#unrecorded === driver) this.#unrecorded = undefined
  }
}

/** Never throws: the child runs, whatever can be read of it. */
function describeChild(pid: number): ProcessEntry {
  const unknown = { pid, uid: process.geteuid?.() ?? -1, startTicks: 0, command: '' }
  try {
    return describeProcess(pid) ?? { ...unknown, startTicks: startTicksOf(pid) ?? 0 }
  } catch {
    return unknown
  }
}
