/**
 * The names under which other instances find the live panes: an entry of the reactive registry for each. Keeps true that
 * no pane loses its main name by what it registers: older builds know by that alone that its agent is driven (R1).
 */
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
  /** What the pane was opened with. */
  readonly main: boolean
}

/** A pane that registers more takes its oldest back, its main name aside. */
const MAX_PER_PANE = 8

export class PaneNames {
  readonly #ports: PaneNamesPorts
  /** By block and folded name, the oldest first. */
  readonly #names = new Map<string, Map<string, Name>>()

  constructor(ports: PaneNamesPorts) {
    this.#ports = ports
  }

  /** The name that a pane is known by from its start. @throws TypeError for an empty name. */
  addMain(pane: NamedPane, agentName: string): void {
    this.#add(pane, agentName, { tabId: undefined, main: true })
  }

  /** Registers a further name for a pane; again, its entry is kept. @throws TypeError for an empty name. */
  add(pane: NamedPane, agentName: string, tabId?: string): void {
    this.#add(pane, agentName, { tabId, main: false })
  }

  #add({ blockId, uid }: NamedPane, agentName: string, { tabId, main }: Pick<Name, 'tabId' | 'main'>): void {
    const key = folded(agentName)
    if (key === '') throw new TypeError('an agent is registered by its name')
    const ofPane = this.#names.get(blockId) ?? new Map<string, Name>()
    if (ofPane.has(key)) return
    const oldest = [...ofPane].find(([, name]) => !name.main)
    if (ofPane.size === MAX_PER_PANE && oldest !== undefined) this.#remove(blockId, oldest[0])
    const { registry, server, clock } = this.#ports
    const registration = registry.register(server(), { agentName: agentName.trim(), blockId })
    ofPane.set(key, { registration, uid, tabId, registeredAtMs: clock.wallMs(), main })
    this.#names.set(blockId, ofPane)
  }

  /** Of one pane, or of all. */
  remove(agentName: string, blockId?: string): void {
    const blocks = blockId === undefined ? [...this.#names.keys()] : [blockId]
    for (const block of blocks) this.#remove(block, folded(agentName))
  }

  isMain(agentName: string, blockId: string): boolean {
    return this.#names.get(blockId)?.get(folded(agentName))?.main === true
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
