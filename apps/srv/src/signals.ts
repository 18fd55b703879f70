/** What the signals sent to `run` mean: before its command runs, while it runs, and while its remains are being ended. */
import type { Driver } from './driver.js'
import { leadsSession } from './terminal.js'

/** Those that would end us, and the command would live on without a holder. The stops and SIGWINCH are the terminal's. */
const HANDLED: readonly NodeJS.Signals[] = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM'
]
/** Sent by the terminal to our whole group: the command has had them already, and nothing is sent twice. */
const FROM_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGHUP', 'SIGQUIT'])
/** Asking to end once more, when the command has ended and its remains have not, means now. */
const ASKS_TO_END: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])

export interface RunSignals {
  /** Aborted, with the signal's name as its reason, by a signal that comes before the command is started. */
  readonly interrupted: AbortSignal
  /** Aborted by a signal that comes after the command has ended. */
  readonly hurried: AbortSignal
  /** From now on signals go to the command. To be called in the very moment of its start. */
  forwardTo(driver: Driver, options: { sharesGroup: boolean }): void
  /** From now on a signal hurries the end. */
  driverEnded(): void
  stop(): void
}

export function listenForSignals(): RunSignals {
  const interruption = new AbortController()
  const hurry = new AbortController()
  let deliver = (signal: NodeJS.Signals) => interruption.abort(signal)
  const handlers = HANDLED.map((signal) => [signal, () => deliver(signal)] as const)
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return {
    interrupted: interruption.signal,
    hurried: hurry.signal,
    forwardTo(driver, { sharesGroup }) {
      deliver = (signal) => {
        if (!sharesGroup || !reachesGroup(signal)) driver.signal(signal)
      }
    },
    driverEnded() {
      deliver = (signal) => {
        if (ASKS_TO_END.has(signal)) hurry.abort(signal)
      }
    },
    stop() {
      for (const [signal, handler] of handlers) process.off(signal, handler)
    }
  }
}

/** When a terminal closes, its session's leader alone is told; a shell there passes it on to its jobs. */
function reachesGroup(signal: NodeJS.Signals): boolean {
  return FROM_TERMINAL.has(signal) && !(signal === 'SIGHUP' && leadsSession())
}
