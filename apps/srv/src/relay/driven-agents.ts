/**
 * What is driven here, by the name that the relay keeps. An agent counts until nothing of its last pane runs (R12), and, while
 * a person takes it over, before its pane is there. Several panes may have one name: the relay knows one agent then.
 */
import type { Clock } from '@agentmux/lease-model'
import { agentKey } from '@agentmux/wan-client'
import type { PaneEvent, PaneView } from '../panes/pane-answers.js'

export class DrivenAgents {
  readonly #clock: Clock
  /** By name, then by block: the newest last. */
  readonly #panes = new Map<string, Map<string, PaneView>>()
  /** Until when, by the boot clock. */
  readonly #expected = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** True if with it the last of its name has gone. */
  note({ kind, pane }: PaneEvent): boolean {
    const key = pane.agent === undefined ? undefined : agentKey(pane.agent)
    if (key === undefined) return false
    const named = this.#panes.get(key) ?? new Map<string, PaneView>()
    const knew = named.size > 0
    if (kind !== 'changed') named.delete(pane.blockId)
    if (kind === 'removed' || pane.endedAtMs !== undefined) named.delete(pane.blockId)
    else named.set(pane.blockId, pane)
    if (named.size > 0) this.#panes.set(key, named)
    else this.#panes.delete(key)
    return knew && named.size === 0
  }

  /** Somebody is about to drive it here. */
  expect(name: string, forMs: number): void {
    const key = agentKey(name)
    if (key !== undefined) this.#expected.set(key, this.#clock.bootMs() + forMs)
  }

  expectNoLonger(name: string): void {
    this.#expected.delete(agentKey(name) ?? '')
  }

  /** Whether it is driven, or about to be. */
  has(key: string): boolean {
    return this.#panes.has(key) || this.#isExpected(key)
  }

  /** Everything that `has`. */
  keys(): string[] {
    const coming = [...this.#expected.keys()].filter((key) => this.#isExpected(key))
    return [...new Set([...this.#panes.keys(), ...coming])]
  }

  /** The newest pane of the name that takes turns. */
  running(key: string): PaneView | undefined {
    const panes = [...(this.#panes.get(key)?.values() ?? [])]
    return panes.filter(({ state }) => state === 'running').at(-1)
  }

  /** The names that have a pane which takes turns. */
  runningKeys(): string[] {
    return [...this.#panes.keys()].filter((key) => this.running(key) !== undefined)
  }

  #isExpected(key: string): boolean {
    const untilMs = this.#expected.get(key)
    if (untilMs === undefined) return false
    if (untilMs > this.#clock.bootMs()) return true
    this.#expected.delete(key)
    return false
  }
}
