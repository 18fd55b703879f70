/**
 * The time from a granted lease to the exit code. The command is started only under the lease, everything it started
 * is gone before the lease is given up, and a lost lease ends it.
 */
import type { HeldAgentLease } from '@agentmux/host-admission'
import type { Refusal } from '@agentmux/refusals'
import { childEnvironment } from './child-environment.js'
import { type CrashHandler, INTERNAL_ERROR } from './crash.js'
import { Driver } from './driver.js'
import { endCrashed, endLost, giveUp } from './ending.js'
import { stopWhenStopped } from './job-control.js'
import { say } from './output.js'
import { reportLoss } from './report.js'
import type { RunSignals } from './signals.js'
import { onTerminal, restoreTerminal } from './terminal.js'

/** What driving an agent needs besides its lease. */
export interface DriveParts {
  readonly flags: { readonly json?: boolean | undefined; readonly graceMs: number }
  readonly command: { readonly path: string; readonly name: string; readonly args: readonly string[] }
  readonly signals: RunSignals
  readonly crashes: CrashHandler
  /** What went wrong at the latest renewal that failed. */
  readonly lastFault: () => string | undefined
}

type Outcome =
  | { readonly kind: 'ended'; readonly status: number }
  | { readonly kind: 'lost'; readonly refusal: Refusal }
  | { readonly kind: 'crashed' }

/** @throws LeaseFault if the lease file cannot be used; the signal that came first. Nothing was started then. */
export async function drive(lease: HeldAgentLease, parts: DriveParts): Promise<number> {
  const { flags, signals } = parts
  const sharesGroup = onTerminal()
  const started = await lease.start(() => startDriver(lease, parts, sharesGroup), { ownGroup: !sharesGroup })
  if (started.kind === 'lost') return reportLoss(flags, started.refusal)
  const driver = started.child
  const forget = endWithUs(driver)
  try {
    const outcome = await outcomeOf(lease, driver, parts.crashes, sharesGroup)
    if (outcome.kind === 'crashed') {
      await endCrashed(lease)
      return INTERNAL_ERROR
    }
    if (outcome.kind === 'lost') return await endWithLoss(lease, driver, parts, outcome.refusal)
    signals.driverEnded()
    lease.driverExited()
    const lost = await giveUp(lease, { graceMs: flags.graceMs, hurried: signals.hurried })
    return lost === undefined ? outcome.status : await endWithLoss(lease, driver, parts, lost)
  } finally {
    forget()
  }
}

/** Called under the lock. From the look whether we are to end, to the forwarding of signals, nothing waits. */
function startDriver(lease: HeldAgentLease, { command, signals }: DriveParts, sharesGroup: boolean): Driver {
  signals.interrupted.throwIfAborted()
  const environment = childEnvironment(process.env, lease.environment)
  const driver = new Driver({ ...command, environment, ownGroup: !sharesGroup })
  signals.forwardTo(driver, { sharesGroup })
  return driver
}

/** Whatever comes first: the command ends, the lease is lost, or something of ours fails. */
async function outcomeOf(
  lease: HeldAgentLease,
  driver: Driver,
  crashes: CrashHandler,
  sharesGroup: boolean
): Promise<Outcome> {
  const stopJobControl = sharesGroup && driver.pid !== undefined ? stopWhenStopped(driver.pid) : undefined
  let takeBack: (() => void) | undefined
  const crashed = new Promise<Outcome>((resolve) => {
    takeBack = crashes.cleanUpFirst(() => resolve({ kind: 'crashed' }))
  })
  try {
    return await Promise.race([
      driver.ended.then((status): Outcome => ({ kind: 'ended', status })),
      lossOf(lease).then((refusal): Outcome => ({ kind: 'lost', refusal })),
      crashed
    ])
  } finally {
    takeBack?.()
    stopJobControl?.()
  }
}

function lossOf(lease: HeldAgentLease): Promise<Refusal> {
  return new Promise((resolve) => {
    const { lostSignal } = lease
    const onLoss = () => resolve(lostSignal.reason)
    if (lostSignal.aborted) onLoss()
    else lostSignal.addEventListener('abort', onLoss, { once: true })
  })
}

async function endWithLoss(
  lease: HeldAgentLease,
  driver: Driver,
  { flags, signals, lastFault }: DriveParts,
  refusal: Refusal
): Promise<number> {
  await endLost(lease, driver)
  signals.driverEnded()
  if (onTerminal()) restoreTerminal()
  const fault = lastFault()
  if (fault !== undefined) say(`the last attempt to confirm the lease failed: ${fault}`)
  return reportLoss(flags, refusal)
}

/** If we exit without having ended the command, by a second error say, it must not go on without a holder. */
function endWithUs(driver: Driver): () => void {
  const onExit = () => driver.kill()
  process.once('exit', onExit)
  return () => process.off('exit', onExit)
}
