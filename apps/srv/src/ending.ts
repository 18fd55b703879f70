/** How `run` puts an agent down: after its command has ended, after a loss, after an error of our own. */
import { findClaimProcesses, type GivenUp, type HeldAgentLease } from '@agentmux/host-admission'
import { LeaseFault } from '@agentmux/lease-store'
import { plainText, type Refusal } from '@agentmux/refusals'
import type { Driver } from './driver.js'
import { say } from './output.js'

const NAMED = 5
const COMMAND_LENGTH = 60

/**
 * Gives the agent up, once nothing that the command started is left. `hurried`: do not wait for the grace. Resolves with
 * the loss, if it turns out to have been lost.
 */
export async function giveUp(
  lease: HeldAgentLease,
  options: { graceMs: number; hurried: AbortSignal }
): Promise<Refusal | undefined> {
  const lost = await lossNow(lease)
  if (lost !== undefined) return lost
  const given = await giveBack(lease, options).catch(keepFault)
  if (given?.kind === 'remaining') {
    say(`the agent stays held until its lease runs out, because these did not end: ${names(given.processes)}`)
  }
  // It stands in the file whether it was ours to the end.
  return given?.kind === 'not-held' ? ((await lossNow(lease)) ?? lease.loss) : lease.loss
}

/**
 * After a loss: the command and everything it started is gone, or named, when this resolves. The lease file is removed
 * only if it still is this claim's.
 */
export async function endLost(lease: HeldAgentLease, driver: Driver): Promise<void> {
  const fenced = await lease.fenced()
  if (fenced.kind === 'remaining') say(`these did not end: ${names(fenced.processes)}`)
  else await driver.ended
  lease.driverExited()
  await lease.release().catch(keepFault)
}

/** After an error of our own: the command must not go on without a holder, and the agent must come free. */
export async function endCrashed(lease: HeldAgentLease): Promise<void> {
  const given = await lease.release().catch(keepFault)
  if (given?.kind === 'remaining') say(`these did not end: ${names(given.processes)}`)
}

/** The lease runs out by itself. */
function keepFault(fault: unknown): void {
  if (!(fault instanceof LeaseFault)) throw fault
  say(`the agent stays held until its lease runs out, as it could not be given back: ${fault.message}`)
}

async function lossNow(lease: HeldAgentLease): Promise<Refusal | undefined> {
  try {
    const check = await lease.verify()
    return check.kind === 'lost' ? check.refusal : undefined
  } catch (fault) {
    if (fault instanceof LeaseFault) return undefined
    throw fault
  }
}

async function giveBack(
  lease: HeldAgentLease,
  { graceMs, hurried }: { graceMs: number; hurried: AbortSignal }
): Promise<GivenUp> {
  const left = await findClaimProcesses(lease.claimId)
  if (left.length > 0) {
    say(`ending what the command left running before the agent is free: ${names(left)}`)
    await lease.endProcesses(graceMs, hurried).catch((reason) => {
      if (!hurried.aborted) throw reason
    })
  }
  return lease.release({ graceMs: 0 })
}

function names(processes: readonly { pid: number; command: string }[]): string {
  const shown = processes
    .slice(0, NAMED)
    .map(({ pid, command }) => `pid ${pid} (${plainText(command, COMMAND_LENGTH)})`)
  const more = processes.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}
