#!/usr/bin/env node
/** The program `agentmux-srv`. */
import { LeaseFault } from '@agentmux/lease-store'
import { EXIT_CODES } from '@agentmux/refusals'
import { main } from './command-line.js'
import { ignoreClosedOutput, say } from './output.js'

/** EX_SOFTWARE of sysexits.h: our own mistake. */
const INTERNAL_ERROR = 70

ignoreClosedOutput()
process.on('uncaughtException', (error) => {
  say(`internal error: ${error.stack ?? error.message}`)
  process.exit(INTERNAL_ERROR)
})

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  if (error instanceof LeaseFault) {
    say(error.message)
    process.exit(EXIT_CODES.couldNotFindOut)
  }
  throw error
}
