/** The program once it is loaded: from the command line to the exit code. */
import type { WatchdogThread } from '@agentmux/host-admission'
import { main } from './command-line.js'
import { CrashHandler } from './crash.js'

export async function start(
  args: readonly string[],
  watchdogThread: WatchdogThread | undefined
): Promise<never> {
  const crashes = new CrashHandler()
  try {
    process.exit(await main(args, { crashes, watchdogThread }))
  } catch (error) {
    crashes.crash(error)
  }
  return new Promise(() => {})
}
