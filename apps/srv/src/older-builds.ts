/**
 * Instances on this computer that drive agents without a lease, as older builds do: asked before a claim, because no lease
 * file tells of them. Reads and asks, and writes nothing (R6, R9).
 */
import {
  EarlyCheck,
  type HostAdmission,
  InstanceClient,
  OtherInstances,
  ReactiveRegistry
} from '@agentmux/host-admission'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import type { AdviceOptions, Refusal } from '@agentmux/refusals'

export interface OlderBuildsParts {
  readonly admission: HostAdmission
  readonly sharedRoot: string
  readonly clock: Clock
  readonly advice: AdviceOptions
}

export class OlderBuilds {
  readonly #early: EarlyCheck

  constructor({ admission: { store, holds, claimant }, sharedRoot, clock, advice }: OlderBuildsParts) {
    const registry = new ReactiveRegistry(sharedRoot, { clock, host: store.host })
    const others = new OtherInstances({
      registry,
      client: new InstanceClient({ clock }),
      hostname: claimant.hostname
    })
    this.#early = new EarlyCheck({ store, holds, others, clock, advice })
  }

  /**
   * Why the agent must not be driven here; undefined if none of them says that it runs it. What a lease or a reservation
   * says is left to the claim, and nobody is asked then.
   *
   * @throws the signal's reason when aborted.
   */
  async refusalFor(agent: AgentRef, signal: AbortSignal): Promise<Refusal | undefined> {
    const answer = await this.#early.checkBeforeSpawn(agent, { signal })
    return answer.kind === 'refused' && answer.by === 'probe' ? answer.refusal : undefined
  }
}
