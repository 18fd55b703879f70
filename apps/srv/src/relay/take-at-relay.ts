/**
 * The relay's step of a take-over (R5). First it is claimed, which takes nothing from anybody; it is moved only from the
 * channel of this computer that has just let go of it and that the relay has not heard of yet.
 */
import { HOLD_MS } from '@agentmux/host-admission'
import type { EnsureAnswer, RelayLeases, TakeOverAnswer } from '@agentmux/wan-client'
import type { DrivenAgents } from './driven-agents.js'

export interface TakeAtRelayPorts {
  readonly leases: RelayLeases
  readonly driven: Pick<DrivenAgents, 'expect'>
  /** Nothing comes of it. */
  readonly letGo: () => void
  readonly onTaken: (epoch: number) => void
}

/** `letGoBy`: the channel that let go. @throws the signal's reason. */
export async function takeAtRelay(
  name: string,
  { letGoBy = '', signal }: { readonly letGoBy?: string | undefined; readonly signal: AbortSignal },
  { leases, driven, letGo, onTaken }: TakeAtRelayPorts
): Promise<TakeOverAnswer> {
  // What it was refused before does not count any more.
  leases.forgetElsewhere(name)
  driven.expect(name, HOLD_MS)
  let answer: EnsureAnswer | undefined
  try {
    answer = await leases.ensure(name, { signal })
    if (answer.kind === 'held-elsewhere') {
      const { holder } = answer
      const hasLetGo = letGoBy !== '' && holder.channel === letGoBy && leases.holderOnThisComputer(holder)
      if (!hasLetGo) return answer
      answer = await leases.takeOver(name, { signal })
      if (answer.kind === 'held') onTaken(answer.epoch)
    }
    return answer.kind === 'unsubscribed' ? { kind: 'unknown', why: 'changed-meanwhile' } : answer
  } finally {
    if (answer === undefined || answer.kind === 'held-elsewhere') letGo()
  }
}
