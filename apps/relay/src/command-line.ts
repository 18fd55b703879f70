/**
 * The command line: which commands there are; each is in commands/ and loads its code when it is run. A wrong flag ends
 * with 64, the flag named and an example.
 */
import { plainText } from '@agentmux/refusals'
import { Command, CommanderError } from 'commander'
import type { CommandContext } from './commands/context.js'
import { addDoctor } from './commands/doctor.js'
import { addLeases } from './commands/leases.js'
import { addServe } from './commands/serve.js'
import { addToken } from './commands/token.js'
import type { CrashHandler } from './crash.js'
import { EXIT } from './exit-codes.js'
import { PROGRAM, print, writeError, writeOut } from './output.js'
import { errorJson } from './report.js'
import { VERSION } from './version.js'

const MAX_ERROR_LENGTH = 1_000

/** Parses and runs. Resolves with the exit code. */
export async function main(argv: readonly string[], crashes: CrashHandler): Promise<number> {
  let exitCode: number = EXIT.ok
  const exit = (code: number) => {
    exitCode = code
  }
  try {
    await createProgram({ crashes, exit }).parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version were asked for; everything else is a usage error that commander has printed.
    if (error.exitCode === 0) return EXIT.ok
    if (argv.includes('--json')) print(errorJson(EXIT.usage, error.message))
    return EXIT.usage
  }
}

function createProgram(context: CommandContext): Command {
  const program = new Command(PROGRAM)
    .description(
      'The relay: at most one live instance per agent, and messages for it, between computers that share nothing but the internet.'
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut,
      writeErr: writeError,
      // It quotes what was typed, and whoever typed it may have pasted it.
      outputError: (message, write) => write(`${plainText(message, MAX_ERROR_LENGTH)}\n`)
    })
    .showHelpAfterError(`Example: ${PROGRAM} serve\nHelp:    ${PROGRAM} --help`)
    .addHelpText('after', `\nExample:\n  ${PROGRAM} token add --account acme\n  ${PROGRAM} serve`)
  addServe(program, context)
  addToken(program, context)
  addLeases(program, context)
  addDoctor(program, context)
  return program
}
