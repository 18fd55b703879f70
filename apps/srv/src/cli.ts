#!/usr/bin/env node
/** The program `agentmux-srv`. */
import { main } from './command-line.js'
import { CrashHandler } from './crash.js'

const crashes = new CrashHandler()
try {
  process.exit(await main(process.argv.slice(2), crashes))
} catch (error) {
  crashes.crash(error)
}
