/** The names under which other instances find the live panes: an entry of the reactive registry for each. */
import type { AgentRegistration, OwnServer, ReactiveRegistry } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { PaneRegistration } from './pane-answers.js'

export interface PaneNamesPorts {
  readonly registry: ReactiveRegistry
  readonly server: () => OwnServer
  readonly clock: Clock
}

export interface NamedPane {
  readonly blockId: string
  readonly uid: string
}

interface Name {
  readonly registration: AgentRegistration
  readonly uid: string
  readonly tabId: string | undefined
  readonly registeredAtMs: number
}

/** A pane that registers more takes its oldest back. */
const MAX_PER_PANE = 8

export class PaneNames {
  readonly #ports: PaneNamesPorts
  /** By block and folded name, the oldest first. */
  readonly #names = new Map<string, Map<string, Name>>()

  constructor(ports: PaneNamesPorts) {
    this.#ports = ports
  }

  /** Registers a name for a pane; again, its entry is kept. @throws TypeError for an empty name. */
  add({ blockId, uid }: NamedPane, agentName: string, tabId?: string): void {
    const key = folded(agentName)
    if (key === '') throw new TypeError('an agent is registered by its name')
    const ofPane = this.#names.get(blockId) ?? new Map<string, Name>()
    if (ofPane.has(key)) return
    const oldest = ofPane.keys().next()
    if (ofPane.size === MAX_PER_PANE && oldest.done !== true) this.#remove(blockId, oldest.value)
    const { registry, server, clock } = this.#ports
    const registration = registry.register(server(), { agentName: agentName.trim(), blockId })
    ofPane.set(key, { registration, uid, tabId, registeredAtMs: clock.wallMs() })
    this.#names.set(blockId, ofPane)
  }

  /** Of one pane, or of all. */
  remove(agentName: string, blockId?: string): void {
    const blocks = blockId === undefined ? [...this.#names.keys()] : [blockId]
    for (const block of blocks) this.#remove(block, folded(agentName))
  }

  removeAllOf(blockId: string): void {
    for (const key of [...(this.#names.get(blockId)?.keys() ?? [])]) this.#remove(blockId, key)
  }

  list(): PaneRegistration[] {
    const lastSeenMs = this.#ports.clock.wallMs()
    return [...this.#names.values()].flatMap((ofPane) =>
      [...ofPane.values()].map(({ registration, uid, tabId, registeredAtMs }) => ({
        agentName: registration.agentName,
        blockId: registration.blockId,
        uid,
        ...(tabId === undefined ? {} : { tabId }),
        registeredAtMs,
        lastSeenMs,
        nonce: registration.nonce
      }))
    )
  }

  #remove(blockId: string, key: string): void {
    const ofPane = this.#names.get(blockId)
    ofPane?.get(key)?.registration.remove()
    ofPane?.delete(key)
    if (ofPane?.size === 0) this.#names.delete(blockId)
  }
}

function folded(name: string): string {
  return name.trim().toLowerCase()
}
