/** A disk or a lock that said no, as what a person reads: neither held nor lost, so nothing was started or sent. */
import { RecordFault } from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import { LeaseFault } from '@agentmux/lease-store'
import { type IoRefusal, leaseIoRefusal, lockStuckRefusal } from '@agentmux/refusals'

/** @throws anything else as it is. */
export function refusalOfFault(agent: AgentRef, fault: unknown): IoRefusal {
  if (!(fault instanceof LeaseFault || fault instanceof RecordFault)) throw fault
  if (fault.code === 'lock-timeout') return lockStuckRefusal(agent, fault.path)
  return leaseIoRefusal(agent, { path: fault.path, code: fault.errno ?? '', text: fault.message })
}
