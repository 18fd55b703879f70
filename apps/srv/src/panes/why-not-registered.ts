/** A name is registered only for a pane that drives its agent now: an entry tells other instances that it does (R1). */
import { LeaseFault } from '@agentmux/lease-store'
import type { Pane } from './pane.js'
import type { RegisterResult } from './pane-answers.js'
import { refusalOfFault } from './refusal-of-fault.js'

/** Undefined if nothing speaks against it: by the lease file, which is asked. */
export async function whyNotRegistered(
  pane: Pane | undefined
): Promise<Exclude<RegisterResult, { kind: 'registered' }> | undefined> {
  if (pane === undefined || pane.state === 'ended' || pane.state === 'closing')
    return { kind: 'no-such-pane' }
  const { lease } = pane
  try {
    const check = await lease.verify()
    if (check.kind === 'held') return undefined
    return { kind: 'refused', refusal: pane.view.refusal ?? check.refusal }
  } catch (fault) {
    if (!(fault instanceof LeaseFault)) throw fault
    return { kind: 'refused', refusal: refusalOfFault(lease.agent, fault) }
  }
}
