/**
 * The time from a granted lease to the exit code. The command is started only under the lease, everything it started
 * is gone before the lease is given up, and a lost lease ends it.
 */
import type { HeldAgentLease } from '@agentmux/host-admission'
import { type AdviceOptions, EXIT_CODES, type Refusal } from '@agentmux/refusals'
import { childEnvironment } from './child-environment.js'
import { type CrashHandler, INTERNAL_ERROR } from './crash.js'
import { Driver } from './driver.js'
import { endCrashed, endLost, type GaveUp, giveUp, letGo } from './ending.js'
import { leaveIdleMemoryAlone } from './idle-memory.js'
import { stopWhenStopped } from './job-control.js'
import { say } from './output.js'
import { reportHandOver, reportLoss } from './report.js'
import { type HandOverAnswer, HandOverRequests, type Successor } from './run-listener/hand-over-requests.js'
import { listenInBackground, type Others } from './run-listener/listen-in-background.js'
import type { RunSignals } from './signals.js'
import { onTerminal, restoreTerminal } from './terminal.js'

/** What driving an agent needs besides its lease. */
export interface DriveParts {
  readonly flags: { readonly json?: boolean | undefined; readonly graceMs: number }
  readonly command: { readonly path: string; readonly name: string; readonly args: readonly string[] }
  readonly signals: RunSignals
  readonly crashes: CrashHandler
  /** How others find this run and ask it to let the agent go. */
  readonly others: Others
  /** What can be done where the agent was. */
  readonly advice: AdviceOptions
  /** What went wrong at the latest renewal that failed. */
  readonly lastFault: () => string | undefined
}

type Outcome =
  | { readonly kind: 'ended'; readonly status: number }
  | { readonly kind: 'lost'; readonly refusal: Refusal }
  /** Another instance asks for the agent. */
  | { readonly kind: 'asked'; readonly successor: Successor }
  | { readonly kind: 'crashed' }

interface Drive extends DriveParts {
  readonly requests: HandOverRequests
  readonly sharesGroup: boolean
}

/** What is asked to let an agent go gets this long to end in order. */
const LET_GO_MS = 10_000

/** @throws LeaseFault if the lease file cannot be used; the signal that came first. Nothing was started then. */
export async function drive(lease: HeldAgentLease, parts: DriveParts): Promise<number> {
  const sharesGroup = onTerminal()
  const started = await lease.start(() => startDriver(lease, parts, sharesGroup), { ownGroup: !sharesGroup })
  if (started.kind === 'lost') return reportLoss(parts.flags, started.refusal)
  const driver = started.child
  const forget = endWithUs(driver)
  leaveIdleMemoryAlone()
  const { holds } = parts.others.admission
  const requests = new HandOverRequests({ holds, uid: lease.agent.uid })
  const listener = listenInBackground(lease, requests, parts.others)
  try {
    return await driveToEnd(lease, driver, { ...parts, requests, sharesGroup })
  } finally {
    forget()
    requests.answer({ kind: 'not-held' })
    await listener.close()
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

async function driveToEnd(lease: HeldAgentLease, driver: Driver, drive: Drive): Promise<number> {
  const { flags, signals, requests } = drive
  const { hurried } = signals
  const outcome = await outcomeOf(lease, driver, drive)
  if (outcome.kind === 'crashed') {
    await endCrashed(lease)
    return INTERNAL_ERROR
  }
  if (outcome.kind === 'lost') return endWithLoss(lease, driver, drive, outcome.refusal)
  signals.driverEnded()
  if (outcome.kind === 'ended') lease.driverExited()
  const gaveUp =
    outcome.kind === 'ended'
      ? await giveUp(lease, { graceMs: flags.graceMs, hurried })
      : await letGo(lease, driver, { graceMs: LET_GO_MS, hurried })
  if (gaveUp.kind === 'lost') return endWithLoss(lease, driver, drive, gaveUp.refusal)
  requests.answer(answerOf(gaveUp))
  if (outcome.kind === 'ended') return outcome.status
  if (onTerminal()) restoreTerminal()
  if (gaveUp.kind === 'kept') return EXIT_CODES.leaseLost
  const { admission, clock } = drive.others
  const { hostname } = admission.claimant
  return reportHandOver(flags, lease.agent, {
    ...outcome.successor,
    hostname,
    nowMs: clock.wallMs(),
    advice: drive.advice
  })
}

function answerOf(gaveUp: Exclude<GaveUp, { kind: 'lost' }>): HandOverAnswer {
  return gaveUp.kind === 'kept' ? { kind: 'kept', message: gaveUp.why } : { kind: 'let-go' }
}

/** Whatever comes first: the command ends, the lease is lost or wanted elsewhere, or something of ours fails. */
async function outcomeOf(
  lease: HeldAgentLease,
  driver: Driver,
  { crashes, requests, sharesGroup }: Drive
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
      requests.asked.then((successor): Outcome => ({ kind: 'asked', successor })),
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
