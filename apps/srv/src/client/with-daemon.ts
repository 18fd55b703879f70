/** What every command that asks the daemon has around it: the daemon is found, and a signal breaks the question off. */
import { EXIT_CODES } from '@agentmux/refusals'
import type { CommonFlags } from '../compose.js'
import { signalStatus } from '../exit-status.js'
import { fail } from '../report.js'
import { listenForSignals } from '../signals.js'
import type { DaemonClient } from './daemon-client.js'
import { findDaemon } from './find-daemon.js'

/** Resolves with the exit code. */
export async function withDaemon(
  flags: CommonFlags,
  ask: (client: DaemonClient, signal: AbortSignal) => Promise<number>
): Promise<number> {
  const found = findDaemon(flags)
  if (found.kind === 'none') return fail(flags, EXIT_CODES.couldNotFindOut, found.message)
  const signals = listenForSignals()
  try {
    return await ask(found.client, signals.interrupted)
  } catch (reason) {
    if (signals.interrupted.aborted) return signalStatus(signals.interrupted.reason)
    throw reason
  } finally {
    signals.stop()
  }
}
