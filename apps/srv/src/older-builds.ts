/**
 * Whoever drives an agent without a lease file here: older builds on this computer, and, by what the daemon of this channel
 * sees, other computers. Asked before a claim. Reads and asks, and writes nothing (R6, R9).
 */
import {
  type Doubt,
  EarlyCheck,
  type HostAdmission,
  InstanceClient,
  OtherInstances,
  ReactiveRegistry
} from '@agentmux/host-admission'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import type { AdviceOptions, Refusal } from '@agentmux/refusals'
import { LanOfDaemon } from './lan-of-daemon.js'
import { RelayOfDaemon } from './relay-of-daemon.js'

/** What the lease file here does not tell. */
const BY_OTHERS: ReadonlySet<string> = new Set(['probe', 'lan', 'relay'])

export interface OlderBuildsParts {
  readonly admission: HostAdmission
  readonly sharedRoot: string
  readonly channel: string
  readonly clock: Clock
  readonly advice: AdviceOptions
  /** What could not be found out, and did not count (R8). */
  readonly onDoubt?: ((doubt: Doubt) => void) | undefined
}

export class OlderBuilds {
  readonly #early: EarlyCheck

  constructor(parts: OlderBuildsParts) {
    const { admission, sharedRoot, channel, clock, advice, onDoubt } = parts
    const { store, holds, claimant } = admission
    const registry = new ReactiveRegistry(sharedRoot, { clock, host: store.host })
    const others = new OtherInstances({
      registry,
      client: new InstanceClient({ clock }),
      hostname: claimant.hostname
    })
    this.#early = new EarlyCheck({
      store,
      holds,
      others,
      clock,
      advice,
      tiers: [new RelayOfDaemon({ sharedRoot, channel }), new LanOfDaemon({ sharedRoot, channel })],
      ...(onDoubt === undefined ? {} : { onDoubt })
    })
  }

  /**
   * Why the agent must not be driven here; undefined if none of them says that it runs it. What a lease or a reservation
   * says is left to the claim, and nobody is asked then.
   *
   * @throws the signal's reason when aborted.
   */
  async refusalFor(agent: AgentRef, signal: AbortSignal): Promise<Refusal | undefined> {
    const answer = await this.#early.checkBeforeSpawn(agent, { signal })
    return answer.kind === 'refused' && BY_OTHERS.has(answer.by) ? answer.refusal : undefined
  }
}
