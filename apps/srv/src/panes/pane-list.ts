/** The panes of a daemon: live ones, and the latest of those that have ended, for reading. Tells every change. */
import type { Pane } from './pane.js'
import type { PaneEvent, PaneView } from './pane-answers.js'

export class PaneList {
  readonly #maxEnded: number
  readonly #panes = new Map<string, Pane>()
  readonly #listeners = new Set<(event: PaneEvent) => void>()

  constructor(maxEnded: number) {
    this.#maxEnded = maxEnded
  }

  /** In the order of opening. */
  get all(): Pane[] {
    return [...this.#panes.values()]
  }

  /** Those whose agent may still be held for them. */
  get holding(): Pane[] {
    return this.all.filter(({ state }) => state === 'running' || state === 'closing')
  }

  get liveCount(): number {
    let count = 0
    for (const pane of this.#panes.values()) if (pane.isLive) count += 1
    return count
  }

  get(blockId: string): Pane | undefined {
    return this.#panes.get(blockId)
  }

  /** One that is run again becomes the newest. */
  add(pane: Pane): void {
    this.#panes.delete(pane.blockId)
    this.#panes.set(pane.blockId, pane)
    this.#emit('opened', pane.view)
  }

  /** To be called at every change of one: the ended ones that are too many go. */
  changed(pane: Pane): void {
    if (this.#panes.get(pane.blockId) !== pane) return
    this.#emit('changed', pane.view)
    const ended = this.all.filter((one) => !one.isLive)
    for (const old of ended.slice(0, Math.max(0, ended.length - this.#maxEnded))) {
      this.#panes.delete(old.blockId)
      this.#emit('removed', old.view)
    }
  }

  subscribe(listener: (event: PaneEvent) => void): () => void {
    // Twice the same function is two subscriptions.
    const own = (event: PaneEvent) => listener(event)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  #emit(kind: PaneEvent['kind'], pane: PaneView): void {
    for (const listener of this.#listeners) {
      try {
        listener({ kind, pane })
      } catch {
        // Whoever watches must not stop what is watched.
      }
    }
  }
}
