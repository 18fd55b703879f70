/**
 * Another computer has an agent, by the word of the relay: everything here that has its name is fenced, so that from then on no
 * turn is started and nothing is appended (R4), and what runs is stopped.
 */
import type { HostAdmission } from '@agentmux/host-admission'
import type { Clock, Holder } from '@agentmux/lease-model'
import { type AdviceOptions, lostRefusal } from '@agentmux/refusals'
import { agentKey } from '@agentmux/wan-client'
import type { RelayLog } from './relay-log.js'

export interface GiveUpPorts {
  readonly clock: Pick<Clock, 'wallMs'>
  readonly admission: Pick<HostAdmission, 'held'>
  readonly log: Pick<RelayLog, 'heldElsewhere'>
  readonly advice?: AdviceOptions
}

export function giveUp(name: string, holder: Holder, ports: GiveUpPorts): void {
  const { admission, clock, advice = {}, log } = ports
  const key = agentKey(name)
  for (const lease of admission.held) {
    const { agent, held } = lease
    if (!held || agent.name === undefined || agentKey(agent.name) !== key) continue
    log.heldElsewhere(name, holder)
    lease.fence(lostRefusal(agent, 'other-owner', clock.wallMs(), { ...advice, holder }))
  }
}
