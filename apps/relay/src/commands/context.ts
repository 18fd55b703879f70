/** What every command of the command line works with. */
import type { CrashHandler } from '../crash.js'

export interface CommandContext {
  readonly crashes: CrashHandler
  /** Sets the exit code of the process, once the command is done. */
  readonly exit: (code: number) => void
}
