#!/usr/bin/env node
/** The program `agentmux-relay`: from the command line to the exit code. */
import { main } from './command-line.js'
import { CrashHandler } from './crash.js'

// The database, its log and its lock are for their owner alone, whoever makes them.
process.umask(0o077)
const crashes = new CrashHandler()
try {
  process.exit(await main(process.argv.slice(2), crashes))
} catch (error) {
  crashes.crash(error)
}
