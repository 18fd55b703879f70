/**
 * The panes of a daemon as the relay link of apps/srv sees them: what becomes of each, and a turn for one of them. A turn goes
 * through the real PaneTurns: it is verified, stands in the record, and only then reaches the input of what drives the agent.
 */
import type { HeldAgentLease, RecordFence } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { PaneSeen } from './srv-parts.js'
import type { System } from './system.js'

export interface TurnChild {
  readonly takesInput: boolean
  readonly isBehind: boolean
  write(text: string): void
}
interface Turns {
  send(text: string): Promise<{ readonly kind: string }>
}
export interface TurnParts {
  readonly PaneTurns: new (ports: {
    lease: HeldAgentLease
    fence: RecordFence
    child: TurnChild
    clock: Clock
    isOpen: () => boolean
  }) => Turns
}

export interface DrivenPane {
  readonly blockId: string
  readonly lease: HeldAgentLease
  readonly fence: RecordFence
  /** Whether the child has not ended, as far as is known. */
  readonly runs: () => boolean
}

interface Open {
  seen: PaneSeen
  turns: Turns | undefined
}
type Listener = (event: { readonly kind: 'changed'; readonly pane: PaneSeen }) => void

/** How often what drives an agent has not read yet what it was given before. */
const BEHIND = 0.12

export class TurnPanes {
  readonly #system: System
  readonly #clock: Clock
  readonly #parts: TurnParts
  readonly #open = new Map<string, Open>()
  readonly #listeners = new Set<Listener>()
  /** When a turn of this text was asked for. */
  readonly #askedUs = new Map<string, number>()

  constructor(system: System, { clock, parts }: { clock: Clock; parts: TurnParts }) {
    this.#system = system
    this.#clock = clock
    this.#parts = parts
  }

  changed(pane: PaneSeen): void {
    const { blockId, state } = pane
    const open = this.#open.get(blockId)
    if (state === 'ended') this.#open.delete(blockId)
    else if (open === undefined) this.#open.set(blockId, { seen: pane, turns: undefined })
    else open.seen = pane
    for (const listener of this.#listeners) listener({ kind: 'changed', pane })
  }

  drives(pane: DrivenPane): void {
    const { blockId, lease, fence } = pane
    const open = this.#open.get(blockId)
    if (open === undefined) return
    const child = this.#child(pane)
    const isOpen = () => this.#open.get(blockId) === open && open.seen.state === 'running'
    open.turns = new this.#parts.PaneTurns({ lease, fence, child, isOpen, clock: this.#clock })
  }

  list(): PaneSeen[] {
    return [...this.#open.values()].map(({ seen }) => seen)
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async send(blockId: string, text: string): Promise<{ readonly kind: string }> {
    const turns = this.#open.get(blockId)?.turns
    if (turns === undefined) return { kind: 'no-such-pane' }
    this.#askedUs.set(text, this.#system.nowUs())
    return turns.send(text)
  }

  #child({ lease, runs }: DrivenPane): TurnChild {
    const system = this.#system
    return {
      get takesInput() {
        return runs()
      },
      get isBehind() {
        return !system.healed() && system.random() < BEHIND
      },
      write: (line) => {
        const text = line.trimEnd()
        const fromUs = this.#askedUs.get(text) ?? system.nowUs()
        const { claimId, agent } = lease
        system.tell({ kind: 'message-delivered', uid: agent.uid, claimId, text, fromUs })
      }
    }
  }
}
