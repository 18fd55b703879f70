/**
 * `run`: holds the agent's lease while a command runs. Gets the lease first, or says who has it and starts nothing; the
 * rest is in drive.ts.
 */
import { existsSync } from 'node:fs'
import { AdmissionFault, HostAdmission, SharedRecord } from '@agentmux/host-admission'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import { LeaseFault, randomUuid } from '@agentmux/lease-store'
import { EXIT_CODES, leaseIoRefusal } from '@agentmux/refusals'
import { adviceFor } from './advice.js'
import type { Started } from './commands/context.js'
import { type CommonFlags, compose } from './compose.js'
import { drive } from './drive.js'
import { signalStatus } from './exit-status.js'
import { findCommand } from './find-command.js'
import { OlderBuilds } from './older-builds.js'
import { say } from './output.js'
import { createProgress } from './progress.js'
import { fail, refuse } from './report.js'
import { listenForSignals } from './signals.js'
import { type WaitResult, waitForAgent } from './wait-for-agent.js'
import { warnOfFolder } from './warn-of-folder.js'

export interface RunFlags extends CommonFlags {
  readonly agent: AgentRef
  readonly neverWait: boolean
  /** Take the agent over first. `yes`: without asking. */
  readonly takeOver: { readonly yes: boolean } | undefined
  /** Milliseconds; Infinity for ever; undefined without --wait. */
  readonly waitMs: number | undefined
  /** The exit code for "held elsewhere". */
  readonly conflictExitCode: number
  /** What the command left running gets this long between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number
  /** Whether to say what could not be found out, and did not count. */
  readonly verbose: boolean
}

export interface RunCommand {
  readonly name: string
  readonly args: readonly string[]
}

/** Resolves with the exit code of the process. */
export async function run(
  flags: RunFlags,
  command: RunCommand,
  { crashes, watchdogThread }: Started
): Promise<number> {
  const found = findCommand(command.name, process.env.PATH)
  if (found.kind !== 'found') return fail(flags, found.exitCode, found.message)
  const { clock, instance, registryRoot, sharedRoot, channel } = compose(flags, process.env)
  let lastFault: string | undefined
  const record = recordOf(flags.agent, sharedRoot, clock)
  const admission = new HostAdmission({
    registryRoot,
    instance,
    clock,
    advice: adviceFor(flags),
    ...(watchdogThread === undefined ? {} : { watchdogThread }),
    ...(record === undefined ? {} : { record }),
    onFault: (_, fault) => {
      lastFault = fault instanceof Error ? fault.message : String(fault)
    }
  })
  const signals = listenForSignals()
  try {
    // Its thread starts while the lease is being claimed.
    admission.warmUp()
    const result = await getAgent(admission, {
      flags,
      clock,
      sharedRoot,
      channel,
      signal: signals.interrupted
    })
    if (result.kind === 'ended') return result.exitCode
    warnOfFolder(sharedRoot)
    if (result.kind === 'refused') return refuse(flags, result.refusal)
    return await drive(result.lease, {
      flags,
      command: { ...command, path: found.path },
      signals,
      crashes,
      advice: adviceFor(flags),
      others: { admission, sharedRoot, channel, clock },
      lastFault: () => lastFault
    })
  } catch (reason) {
    if (signals.interrupted.aborted) return signalStatus(signals.interrupted.reason)
    if (reason instanceof AdmissionFault) return fail(flags, EXIT_CODES.couldNotFindOut, reason.message)
    if (!(reason instanceof LeaseFault)) throw reason
    const fault = { path: reason.path, code: reason.errno ?? '', text: reason.message }
    return refuse(flags, leaseIoRefusal(flags.agent, fault))
  } finally {
    await admission.close()
    signals.stop()
  }
}

/**
 * A run writes no record; but where a daemon has kept one, its epochs count (R10), and from the claim on it turns away what
 * an older holder still sends (R4).
 */
function recordOf({ uid }: AgentRef, sharedRoot: string, clock: Clock): SharedRecord | undefined {
  const record = new SharedRecord(sharedRoot, { clock })
  return existsSync(record.pathOf(uid)) ? record : undefined
}

interface GetAgentParts {
  readonly flags: RunFlags
  readonly clock: Clock
  readonly sharedRoot: string
  readonly channel: string
  readonly signal: AbortSignal
}

/** By taking it over first, if that was asked for. */
async function getAgent(
  admission: HostAdmission,
  { flags, clock, sharedRoot, channel, signal }: GetAgentParts
): Promise<WaitResult | { readonly kind: 'ended'; readonly exitCode: number }> {
  const { agent, takeOver, neverWait, waitMs } = flags
  let settle = () => {}
  if (takeOver !== undefined) {
    const { takeOverFirst } = await import('./take-over/take-over-first.js')
    const first = await takeOverFirst({
      flags,
      agent,
      yes: takeOver.yes,
      admission,
      sharedRoot,
      clock,
      signal
    })
    if (first.kind === 'end') return { kind: 'ended', exitCode: first.exitCode }
    settle = first.settle
  }
  try {
    const progress = createProgress()
    return await waitForAgent(admission, {
      agent,
      olderBuilds: new OlderBuilds({
        admission,
        sharedRoot,
        channel,
        clock,
        advice: adviceFor(flags),
        onDoubt: flags.verbose
          ? ({ by, why }) => say(`not known (${by}), and so it does not count: ${why}`)
          : undefined
      }),
      blockId: randomUuid(),
      clock,
      signal,
      progress,
      advice: adviceFor(flags),
      neverWait,
      waitMs
    })
  } finally {
    settle()
  }
}
