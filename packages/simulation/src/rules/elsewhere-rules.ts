/** The rules between computers, as one: whatever happens there is told here, and goes to whoever watches over it. */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import { Computers, type ComputersOptions } from './computers.js'
import { LanRules, type Looked } from './lan-rules.js'
import { OverlapRules } from './overlap-rules.js'
import { type RelayAnswer, RelayRules } from './relay-rules.js'

export class ElsewhereRules {
  readonly #computers: Computers
  readonly #lan: LanRules
  readonly #relay: RelayRules
  readonly #overlap: OverlapRules

  constructor(options: ComputersOptions) {
    this.#computers = new Computers(options)
    this.#lan = new LanRules(this.#computers)
    this.#relay = new RelayRules(this.#computers)
    this.#overlap = new OverlapRules(this.#computers)
  }

  set relayDisturbedUs(us: number) {
    this.#computers.relayDisturbedUs = us
  }

  set disturbedUs(us: number) {
    this.#computers.disturbedUs = us
  }

  relayStopped(): void {
    this.#relay.stopped()
  }

  /** Somebody closed, took or was killed. */
  moved(uid: string): void {
    this.#lan.moved(uid)
  }

  looked(process: Process, uid: string, looked: Looked): void {
    this.#lan.looked(process, uid, looked)
  }

  yielded(
    process: Process,
    uid: string,
    { to, by, claim }: { to: string; by: 'lan' | 'relay'; claim: string }
  ): void {
    this.#computers.world.history.note(process.label, `yields ${uid} to ${to}, told by the ${by}`)
    if (by === 'lan') this.#lan.yielded(process, uid, { to, claim })
    else this.#relay.yielded(process, uid)
  }

  heldAtRelay(process: Process, uid: string): void {
    this.#relay.held(process, uid)
  }

  letGoAtRelay(process: Process, uid: string): void {
    this.#relay.letGo(process, uid)
  }

  quietSinceUs(hosts: readonly Host[]): number {
    return this.#computers.quietSinceUs(hosts, { network: false })
  }

  /** Who holds an agent at the relay, as far as it was told. */
  holderAtRelay(account: string, agent: string): string | undefined {
    return this.#relay.holderOf(account, agent)
  }

  relay(told: RelayAnswer): void {
    this.#relay.answered(told)
  }

  togetherForUs(uid: string, one: Host, other: Host): number {
    return this.#overlap.togetherForUs(uid, one, other)
  }
}
