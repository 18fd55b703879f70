/** What the signals sent to `run` mean, before and while its child runs. */
import type { ChildProcess } from 'node:child_process'

/** Those that ask a process to end or to act. SIGTSTP, SIGCONT and SIGWINCH are the terminal's and need no help. */
const FORWARDED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
/** Sent by the terminal to our whole group: the child has had them already, and nothing is sent twice. */
const FROM_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGHUP', 'SIGQUIT'])

export interface RunSignals {
  /** Aborted, with the signal's name as its reason, by a signal that comes before there is a child. */
  readonly interrupted: AbortSignal
  /** From now on signals go to the child. */
  forwardTo(child: ChildProcess, options: { sharesGroup: boolean }): void
  stop(): void
}

export function listenForSignals(): RunSignals {
  const interruption = new AbortController()
  let deliver = (signal: NodeJS.Signals) => interruption.abort(signal)
  const handlers = FORWARDED.map((signal) => [signal, () => deliver(signal)] as const)
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return {
    interrupted: interruption.signal,
    forwardTo(child, { sharesGroup }) {
      deliver = (signal) => {
        if (!sharesGroup || !FROM_TERMINAL.has(signal)) child.kill(signal)
      }
    },
    stop() {
      for (const [signal, handler] of handlers) process.off(signal, handler)
    }
  }
}
