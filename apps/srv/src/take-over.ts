/**
 * `take-over`: frees an agent where it runs on this computer and keeps it for this channel for 30 s. It needs no daemon.
 * Broken off, it leaves nothing behind.
 */
import { HandoverHolds } from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import { LeaseStore } from '@agentmux/lease-store'
import { EXIT_CODES } from '@agentmux/refusals'
import { adviceFor } from './advice.js'
import { type CommonFlags, compose } from './compose.js'
import { signalStatus } from './exit-status.js'
import { say } from './output.js'
import { createProgress } from './progress.js'
import { fail } from './report.js'
import { listenForSignals } from './signals.js'
import { confirmAndTakeOver } from './take-over/confirm-and-take-over.js'
import { freeAtRelay } from './take-over/free-at-relay.js'
import { isTakenOver, reportNotTakenOver, reportTakenOver } from './take-over/report-take-over.js'

export interface TakeOverFlags extends CommonFlags {
  readonly agent: AgentRef
  readonly yes: boolean
}

/** Resolves with the exit code. */
export async function takeOverAgent(flags: TakeOverFlags): Promise<number> {
  const { clock, instance, registryRoot, sharedRoot, channel } = compose(flags, process.env)
  const { agent, yes } = flags
  const store = LeaseStore.open(registryRoot, { instance, clock })
  let isKept = true
  const holds = new HandoverHolds({
    store,
    onFault: (_, fault) => {
      isKept = false
      say(`the agent cannot be kept: ${fault instanceof Error ? fault.message : String(fault)}`)
    }
  })
  const signals = listenForSignals()
  try {
    const result = await confirmAndTakeOver({
      agent,
      yes,
      reserveFor: 'channel',
      sharedRoot,
      store,
      holds,
      clock,
      progress: createProgress(),
      advice: adviceFor(flags),
      signal: signals.interrupted
    })
    if (!isTakenOver(result)) {
      return reportNotTakenOver({ ...flags, conflictExitCode: EXIT_CODES.heldElsewhere }, result)
    }
    const atRelay = await freeAtRelay(agent, {
      sharedRoot,
      channel,
      fromChannel: result.kind === 'released' ? result.fromChannel : undefined,
      signal: signals.interrupted
    }).catch((reason: unknown) => {
      holds.withdrawReservation(agent.uid)
      throw reason
    })
    if (atRelay.kind === 'refused') {
      holds.withdrawReservation(agent.uid)
      return fail(flags, EXIT_CODES.heldElsewhere, atRelay.message)
    }
    if (atRelay.kind === 'not-known') say(atRelay.message)
    // Free it may be, but whoever comes first has it: that is not what was asked for.
    if (!isKept) return EXIT_CODES.couldNotFindOut
    return reportTakenOver(flags, result, { agent, nowMs: clock.wallMs(), advice: adviceFor(flags) })
  } catch (reason) {
    if (signals.interrupted.aborted) return signalStatus(signals.interrupted.reason)
    throw reason
  } finally {
    signals.stop()
  }
}
