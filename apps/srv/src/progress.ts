/** A line that says what is being waited for: rewritten in place on a terminal, said once elsewhere. */
import { isatty } from 'node:tty'
import { PROGRAM, say, writeError } from './output.js'

export interface Progress {
  show(message: string): void
  /** Clears the line. Safe to call again. */
  end(): void
}

const CLEAR_LINE = '\r\x1b[K'
/** What is wider than the terminal is cut by the terminal: a line that wraps could not be rewritten in place. */
const NO_WRAP = '\x1b[?7l'
const WRAP = '\x1b[?7h'

export function createProgress(terminalName: string | undefined = process.env.TERM): Progress {
  return isatty(2) && terminalName !== 'dumb' ? rewritten() : saidOnce()
}

function rewritten(): Progress {
  let shown = false
  return {
    show(message) {
      writeError(`${CLEAR_LINE}${NO_WRAP}${PROGRAM}: ${message}${WRAP}`)
      shown = true
    },
    end() {
      if (shown) writeError(CLEAR_LINE)
      shown = false
    }
  }
}

function saidOnce(): Progress {
  let shown = false
  return {
    show(message) {
      if (!shown) say(message)
      shown = true
    },
    end() {}
  }
}
