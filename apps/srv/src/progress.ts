/** A line that says what is being waited for: rewritten in place on a terminal, said once elsewhere. */
import { PROGRAM } from './output.js'

export interface Progress {
  show(message: string): void
  /** Clears the line. Safe to call again. */
  end(): void
}

const CLEAR_LINE = '\r\x1b[K'

export function createProgress(stream: NodeJS.WriteStream): Progress {
  let shown = false
  return {
    show(message) {
      if (!stream.isTTY) {
        if (!shown) stream.write(`${PROGRAM}: ${message}\n`)
        shown = true
        return
      }
      // One line only: what is longer than the terminal is wide could not be rewritten in place.
      const line = `${PROGRAM}: ${message}`.slice(0, Math.max(20, (stream.columns || 80) - 1))
      stream.write(`${CLEAR_LINE}${line}`)
      shown = true
    },
    end() {
      if (shown && stream.isTTY) stream.write(CLEAR_LINE)
      shown = false
    }
  }
}
