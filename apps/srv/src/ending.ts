/** How `run` puts an agent down: after its command has ended, after a loss, after an error of our own. */
import { findClaimProcesses, type GivenUp, type HeldAgentLease } from '@agentmux/host-admission'
import { LeaseFault } from '@agentmux/lease-store'
import { plainText, type Refusal, staysHeldMessage } from '@agentmux/refusals'
import type { Driver } from './driver.js'
import { say } from './output.js'

const NAMED = 5
const COMMAND_LENGTH = 60

export interface GiveUpOptions {
  /** Between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number
  /** Aborted: do not wait for the grace. */
  readonly hurried: AbortSignal
}

export type GaveUp =
  | { readonly kind: 'given-up' }
  /** It turned out to have been lost. */
  | { readonly kind: 'lost'; readonly refusal: Refusal }
  /** It could not be given back: it runs out by itself. `why` has been said. */
  | { readonly kind: 'kept'; readonly why: string }

/** After the command has ended: gives the agent up, once nothing that it started is left. */
export async function giveUp(lease: HeldAgentLease, options: GiveUpOptions): Promise<GaveUp> {
  const lost = await lossNow(lease)
  if (lost !== undefined) return { kind: 'lost', refusal: lost }
  return giveBackOrSay(lease, () => giveBack(lease, options))
}

/**
 * Because another instance asked for the agent: ends the command and everything it started in order, then gives the
 * agent up.
 */
export async function letGo(lease: HeldAgentLease, driver: Driver, options: GiveUpOptions): Promise<GaveUp> {
  // Its pid means nothing from the moment of its exit.
  void driver.ended.then(() => lease.driverExited())
  return giveBackOrSay(lease, () => endAndRelease(lease, options))
}

async function giveBackOrSay(lease: HeldAgentLease, giving: () => Promise<GivenUp>): Promise<GaveUp> {
  const given = await giving().catch(keptBecause)
  if (given.kind === 'remaining') {
    const why = staysHeldMessage(given.processes)
    say(why)
    return { kind: 'kept', why }
  }
  // It stands in the file whether it was ours to the end.
  const lost = given.kind === 'not-held' ? ((await lossNow(lease)) ?? lease.loss) : lease.loss
  if (lost !== undefined) return { kind: 'lost', refusal: lost }
  return given.kind === 'kept' ? given : { kind: 'given-up' }
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
  await lease.release().catch(keptBecause)
}

/** After an error of our own: the command must not go on without a holder, and the agent must come free. */
export async function endCrashed(lease: HeldAgentLease): Promise<void> {
  const given = await lease.release().catch(keptBecause)
  if (given.kind === 'remaining') say(`these did not end: ${names(given.processes)}`)
}

/** The lease runs out by itself. */
function keptBecause(fault: unknown): Extract<GaveUp, { kind: 'kept' }> {
  if (!(fault instanceof LeaseFault)) throw fault
  const why = `the agent stays held until its lease runs out, as it could not be given back: ${fault.message}`
  say(why)
  return { kind: 'kept', why }
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

async function giveBack(lease: HeldAgentLease, options: GiveUpOptions): Promise<GivenUp> {
  const left = await findClaimProcesses(lease.claimId)
  if (left.length === 0) return lease.release({ graceMs: 0 })
  say(`ending what the command left running before the agent is free: ${names(left)}`)
  return endAndRelease(lease, options)
}

async function endAndRelease(lease: HeldAgentLease, { graceMs, hurried }: GiveUpOptions): Promise<GivenUp> {
  await lease.endProcesses(graceMs, hurried).catch((reason) => {
    if (!hurried.aborted) throw reason
  })
  return lease.release({ graceMs: 0 })
}

function names(processes: readonly { pid: number; command: string }[]): string {
  const shown = processes
    .slice(0, NAMED)
    .map(({ pid, command }) => `pid ${pid} (${plainText(command, COMMAND_LENGTH)})`)
  const more = processes.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}
