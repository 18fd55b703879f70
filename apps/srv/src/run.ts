/**
 * `run`: holds the agent's lease while a command runs. The command is started only under the lease, everything it
 * started is gone before the lease is given up, and a lost lease ends it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { findClaimProcesses, type HeldAgentLease, HostAdmission } from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import { EXIT_CODES, type Refusal } from '@agentmux/refusals'
import { type CommonFlags, compose } from './compose.js'
import { exitStatus, signalStatus } from './exit-status.js'
import { findCommand } from './find-command.js'
import { print, say } from './output.js'
import { createProgress } from './progress.js'
import { listenForSignals, type RunSignals } from './signals.js'
import { onTerminal, restoreTerminal } from './terminal.js'
import { waitForAgent } from './wait-for-agent.js'

export interface RunFlags extends CommonFlags {
  readonly agent: AgentRef
  readonly neverWait: boolean
  /** Milliseconds; Infinity for ever; undefined without --wait. */
  readonly waitMs: number | undefined
  /** The exit code for "held elsewhere". */
  readonly conflictExitCode: number
  /** What the command left running gets this long between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number
}

/** Resolves with the exit code of the process. */
export async function run(flags: RunFlags, command: readonly [string, ...string[]]): Promise<number> {
  const found = findCommand(command[0], process.env.PATH)
  if (found.kind !== 'found') {
    say(found.message)
    return found.exitCode
  }
  const { clock, instance, registryRoot } = compose(flags, process.env)
  const admission = new HostAdmission({ registryRoot, instance, clock })
  // Its thread starts while the lease is being claimed.
  admission.warmUp()
  const signals = listenForSignals()
  try {
    const result = await waitForAgent(admission, {
      agent: flags.agent,
      blockId: randomUUID(),
      clock,
      signal: signals.interrupted,
      progress: createProgress(process.stderr),
      neverWait: flags.neverWait,
      waitMs: flags.waitMs
    })
    if (result.kind === 'refused') return refuse(result.refusal, flags)
    return await drive(result.lease, signals, flags, command)
  } catch (reason) {
    if (signals.interrupted.aborted) return signalStatus(signals.interrupted.reason)
    throw reason
  } finally {
    await admission.close()
    signals.stop()
  }
}

/** Says who holds the agent; as data on stdout, where nothing of the command has been printed, with --json. */
function refuse(refusal: Refusal, flags: RunFlags): number {
  if (flags.json) print(JSON.stringify({ refusal }))
  else say(refusal.message)
  return refusal.kind === 'held' || refusal.kind === 'processes-remain'
    ? flags.conflictExitCode
    : refusal.exitCode
}

async function drive(
  lease: HeldAgentLease,
  signals: RunSignals,
  flags: RunFlags,
  command: readonly [string, ...string[]]
): Promise<number> {
  const sharesGroup = onTerminal()
  const started = await lease.start(() => startChild(lease, command, sharesGroup), { ownGroup: !sharesGroup })
  if (started.kind === 'lost') return reportLoss(lease, started.refusal, flags)
  const { child } = started
  const guard = endWithUs(child, sharesGroup)
  signals.forwardTo(child, { sharesGroup })
  const status = await Promise.race([exitOf(child, command[0]), lossOf(lease)])
  if (typeof status !== 'number') {
    await lease.fenced()
    guard.dismiss()
    lease.driverExited()
    if (sharesGroup) restoreTerminal()
    return reportLoss(lease, status, flags)
  }
  guard.dismiss()
  lease.driverExited()
  return giveUp(lease, status, flags)
}

function startChild(
  lease: HeldAgentLease,
  command: readonly [string, ...string[]],
  sharesGroup: boolean
): ChildProcess {
  const [file, ...args] = command
  const environment: NodeJS.ProcessEnv = { ...process.env, ...lease.environment }
  // The keys of whoever started us are not the child's.
  delete environment.AGENTMUX_AUTH_KEY
  delete environment.AGENTMUX_LOCAL_URL
  return spawn(file, args, { stdio: 'inherit', env: environment, detached: !sharesGroup })
}

function exitOf(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(exitStatus(code, signal)))
    child.once('error', (error: NodeJS.ErrnoException) => {
      say(`${name} could not be started: ${error.message}`)
      resolve(error.code === 'ENOENT' ? 127 : 126)
    })
  })
}

function lossOf(lease: HeldAgentLease): Promise<Refusal> {
  return new Promise((resolve) => {
    const { lostSignal } = lease
    const onLoss = () => resolve(lostSignal.reason)
    if (lostSignal.aborted) onLoss()
    else lostSignal.addEventListener('abort', onLoss, { once: true })
  })
}

/** If we end by an error of our own, the child must not go on without a holder. */
function endWithUs(child: ChildProcess, sharesGroup: boolean): { dismiss(): void } {
  const onExit = () => {
    if (child.pid === undefined) return
    try {
      process.kill(sharesGroup ? child.pid : -child.pid, 'SIGKILL')
    } catch {
      // It was faster.
    }
  }
  process.once('exit', onExit)
  return { dismiss: () => process.off('exit', onExit) }
}

async function giveUp(lease: HeldAgentLease, status: number, flags: RunFlags): Promise<number> {
  // A loss in the very moment of the exit: the command's own code would hide that others drive the agent now.
  if (lease.loss !== undefined) return reportLoss(lease, lease.loss, flags)
  const left = await findClaimProcesses(lease.claimId)
  if (left.length > 0) {
    const names = left.slice(0, 5).map(({ pid, command }) => `pid ${pid} (${command.slice(0, 60)})`)
    say(`ending what the command left running before the agent is free: ${names.join(', ')}`)
  }
  const given = await lease.release({ graceMs: flags.graceMs })
  if (given.kind === 'remaining') {
    const names = given.processes.map(({ pid, command }) => `pid ${pid} (${command.slice(0, 60)})`)
    say(`the agent stays held until its lease runs out, because these did not end: ${names.join(', ')}`)
  }
  return lease.loss === undefined ? status : reportLoss(lease, lease.loss, flags)
}

/** The command's output may share stdout by now, so even with --json the loss goes to stderr. */
async function reportLoss(lease: HeldAgentLease, refusal: Refusal, flags: RunFlags): Promise<number> {
  if (flags.json) process.stderr.write(`${JSON.stringify({ refusal })}\n`)
  else say(refusal.message)
  await lease.release()
  return EXIT_CODES.leaseLost
}
