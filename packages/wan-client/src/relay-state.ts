/**
 * Everything the client remembers, in one object: per agent what the relay last said, per route since when it is missing,
 * and how long the relay wants to be left alone. Keeps true that an older answer never overrules a newer one.
 */
import type { Clock, Holder } from '@agentmux/lease-model'
import { type AgentEntry, newEntry } from './agent-entry.js'
import { ELSEWHERE_GOOD_FOR_MS, MAX_BATCH, RELAY_TTL_MS } from './relay-timings.js'
import type { Route } from './route.js'
import type { UnknownWhy } from './unknown-why.js'

/** Agents that nothing is known of any more are dropped when there are more entries than this. */
const ENTRIES_BEFORE_CLEARING = 4_096
/** No request is under way for longer, so no mark is needed for longer. */
const FORGET_AFTER_MS = 120_000

export class RelayState {
  readonly clock: Clock
  readonly entries = new Map<string, AgentEntry>()
  /** Routes that answered 404 or 405, and until when they are left alone. */
  readonly missingUntilMs = new Map<Route, number>()
  pausedUntilMs = 0
  /** Shrinks when the relay finds a batch too large (413). */
  batchSize = MAX_BATCH
  /** Why the relay's last word about leases was none; undefined after an answer. */
  lastTrouble: UnknownWhy | undefined
  /** Called when a lease is confirmed that was not held before. */
  readonly newlyHeld = new Set<(key: string) => void>()
  #mark = 0
  #clearAt = ENTRIES_BEFORE_CLEARING

  constructor(clock: Clock) {
    this.clock = clock
  }

  nextMark(): number {
    this.#mark += 1
    return this.#mark
  }

  /** The entry of an agent, made if there is none. */
  entry(key: string): AgentEntry {
    const known = this.entries.get(key)
    if (known !== undefined) return known
    this.#clear()
    const made = newEntry()
    this.entries.set(key, made)
    return made
  }

  /** An operation on the agent begins: what a batch under way hears of it is out of date. Returns its mark. */
  begin(key: string): number {
    return this.#touch(this.entry(key))
  }

  /** The relay confirmed the lease to a request that began at `mark`, `atMs`. False if something newer contradicts. */
  confirm(key: string, { mark, atMs, epoch }: { mark: number; atMs: number; epoch: number }): boolean {
    const entry = this.entry(key)
    if (entry.elsewhereMark > mark) return false
    const before = entry.held
    entry.held = true
    entry.epoch = epoch
    entry.confirmedAtMs = atMs
    entry.confirmedMark = mark
    entry.maybeHeldUntilMs = 0
    entry.elsewhere = undefined
    entry.asked = undefined
    this.#touch(entry)
    if (!before) for (const tell of this.newlyHeld) tell(key)
    return true
  }

  /** Somebody else holds it, said the relay to a request that began at `mark`. False if something newer contradicts. */
  noteElsewhere(key: string, mark: number, holder: Holder): boolean {
    const entry = this.entry(key)
    if (mark < entry.clearedMark || mark < entry.confirmedMark) return false
    entry.held = false
    entry.epoch = 0
    entry.maybeHeldUntilMs = 0
    entry.elsewhere = { holder, atMs: this.clock.bootMs() }
    entry.asked = undefined
    entry.elsewhereMark = mark
    this.#touch(entry)
    return true
  }

  /** Nobody holds it, or we let it go. */
  noteNotHeld(key: string): void {
    const entry = this.entry(key)
    entry.held = false
    entry.epoch = 0
    entry.maybeHeldUntilMs = 0
    entry.asked = undefined
    this.#touch(entry)
  }

  /** A claim was not answered: the relay may have granted it. */
  noteMaybeHeld(key: string): void {
    const entry = this.entry(key)
    entry.maybeHeldUntilMs = this.clock.bootMs() + RELAY_TTL_MS
    this.#touch(entry)
  }

  /** We want to be rid of it, and the relay may still have it: for one TTL from now, and not longer for trying again. */
  noteLettingGo(key: string): void {
    const entry = this.entry(key)
    if (entry.held) entry.maybeHeldUntilMs = this.clock.bootMs() + RELAY_TTL_MS
    entry.held = false
    entry.epoch = 0
    entry.asked = undefined
    this.#touch(entry)
  }

  /** The refusal no longer counts, nor does one that is still under way. */
  clearElsewhere(key: string): void {
    const entry = this.entry(key)
    entry.elsewhere = undefined
    entry.asked = undefined
    entry.clearedMark = this.#touch(entry)
  }

  elsewhere(key: string): Holder | undefined {
    const elsewhere = this.entries.get(key)?.elsewhere
    if (elsewhere === undefined || this.clock.bootMs() - elsewhere.atMs >= ELSEWHERE_GOOD_FOR_MS)
      return undefined
    return elsewhere.holder
  }

  /** Whether the relay has, or may have, a lease of ours for the agent. */
  mayHold(key: string): boolean {
    const entry = this.entries.get(key)
    return entry !== undefined && (entry.held || entry.maybeHeldUntilMs > this.clock.bootMs())
  }

  heldKeys(): string[] {
    return [...this.entries.keys()].filter((key) => this.entries.get(key)?.held)
  }

  mayHoldKeys(): string[] {
    return [...this.entries.keys()].filter((key) => this.mayHold(key))
  }

  #touch(entry: AgentEntry): number {
    entry.touchedMark = this.nextMark()
    entry.touchedAtMs = this.clock.bootMs()
    return entry.touchedMark
  }

  #clear(): void {
    if (this.entries.size < this.#clearAt) return
    const beforeMs = this.clock.bootMs() - FORGET_AFTER_MS
    for (const [key, entry] of this.entries) {
      if (!this.mayHold(key) && entry.touchedAtMs < beforeMs) this.entries.delete(key)
    }
    this.#clearAt = Math.max(ENTRIES_BEFORE_CLEARING, this.entries.size * 2)
  }
}
