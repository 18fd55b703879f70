/** Whoever wants to hear that a queue got something. A listener that throws is a mistake of ours and ends the process. */
import type { AgentKey } from '../model/agent-key.js'

export class Arrivals {
  readonly #listeners = new Set<(key: AgentKey) => void>()

  add(listener: (key: AgentKey) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell({ account, agent }: AgentKey): void {
    for (const listener of this.#listeners) listener({ account, agent })
  }
}
