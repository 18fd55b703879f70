/**
 * The signals that end a daemon, and those that do not: it goes on when the terminal it was started from is closed. Asked
 * to end once more, it is hurried.
 */

const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT']
/** A closed terminal, and a reader that went away. */
const SURVIVED: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGPIPE']

export interface EndSignals {
  /** Aborted by the first. */
  readonly asked: AbortSignal
  /** Aborted by the second. */
  readonly hurried: AbortSignal
  stop(): void
}

export function listenForEndSignals(): EndSignals {
  const asked = new AbortController()
  const hurried = new AbortController()
  const onEnding = (signal: NodeJS.Signals) => (asked.signal.aborted ? hurried : asked).abort(signal)
  const onSurvived = () => {}
  for (const signal of ENDING) process.on(signal, onEnding)
  for (const signal of SURVIVED) process.on(signal, onSurvived)
  return {
    asked: asked.signal,
    hurried: hurried.signal,
    stop() {
      for (const signal of ENDING) process.off(signal, onEnding)
      for (const signal of SURVIVED) process.off(signal, onSurvived)
    }
  }
}
