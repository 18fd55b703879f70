/** What every command of the command line works with. */
import type { WatchdogThread } from '@agentmux/host-admission'
import type { CrashHandler } from '../crash.js'

/** What the program was started with. */
export interface Started {
  readonly crashes: CrashHandler
  /** Of a run: started before everything else. */
  readonly watchdogThread: WatchdogThread | undefined
}

export interface CommandContext extends Started {
  /** Sets the exit code of the process, once the command is done. */
  readonly exit: (code: number) => void
}
