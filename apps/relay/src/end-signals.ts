/** The signals that end the relay, and those that do not: it goes on when the terminal it was started from is closed. */

const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT']

export interface EndSignals {
  /** Aborted by the first. */
  readonly asked: AbortSignal
  stop(): void
}

/** `onHangUp`: for what is to be read anew. */
export function listenForEndSignals(onHangUp: () => void): EndSignals {
  const asked = new AbortController()
  const onEnding = (signal: NodeJS.Signals) => asked.abort(signal)
  const onPipe = () => {}
  for (const signal of ENDING) process.on(signal, onEnding)
  process.on('SIGHUP', onHangUp)
  process.on('SIGPIPE', onPipe)
  return {
    asked: asked.signal,
    stop() {
      for (const signal of ENDING) process.off(signal, onEnding)
      process.off('SIGHUP', onHangUp)
      process.off('SIGPIPE', onPipe)
    }
  }
}
