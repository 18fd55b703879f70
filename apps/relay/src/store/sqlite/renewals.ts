/**
 * When each held lease was last renewed, in memory alone: after a restart every one counts as renewed at the start, so that
 * a renewal costs no write. Ordered by time: finding the lapsed ones costs only what has lapsed.
 */
import { type AgentKey, keyText } from '../../model/agent-key.js'
import type { ServingClock } from './serving-clock.js'

interface Renewal {
  readonly key: AgentKey
  readonly atMs: number
}

export class Renewals {
  readonly #clock: Pick<ServingClock, 'nowMs' | 'isAlive'>
  readonly #renewals = new Map<string, Renewal>()

  constructor(clock: Pick<ServingClock, 'nowMs' | 'isAlive'>) {
    this.#clock = clock
  }

  get size(): number {
    return this.#renewals.size
  }

  /** Returns what puts it back as it was. */
  renewed(key: AgentKey): () => void {
    return this.#set(key, this.#clock.nowMs())
  }

  /** Returns what puts it back as it was. */
  forget(key: AgentKey): () => void {
    return this.#set(key, undefined)
  }

  isLive(key: AgentKey): boolean {
    const nowMs = this.#clock.nowMs()
    const renewal = this.#renewals.get(keyText(key))
    return renewal !== undefined && this.#clock.isAlive(renewal.atMs, nowMs)
  }

  /** Those that nobody has renewed in time, the oldest first, at most `limit`. */
  lapsed(limit: number): AgentKey[] {
    const nowMs = this.#clock.nowMs()
    const found: AgentKey[] = []
    for (const { key, atMs } of this.#renewals.values()) {
      if (found.length >= limit || this.#clock.isAlive(atMs, nowMs)) break
      found.push(key)
    }
    return found
  }

  #set({ account, agent }: AgentKey, atMs: number | undefined): () => void {
    const text = keyText({ account, agent })
    const before = this.#renewals.get(text)
    this.#renewals.delete(text)
    if (atMs !== undefined) this.#renewals.set(text, { key: before?.key ?? { account, agent }, atMs })
    return () => {
      this.#renewals.delete(text)
      if (before !== undefined) this.#renewals.set(text, before)
    }
  }
}
