/**
 * The command line: which commands there are; each is in commands/ and loads its code when it is run. A wrong flag ends
 * with 64, the flag named and an example.
 */
import { EXIT_CODES, plainText } from '@agentmux/refusals'
import { Command, CommanderError } from 'commander'
import { addAgents } from './commands/agents.js'
import { addClose } from './commands/close.js'
import type { CommandContext, Started } from './commands/context.js'
import { addDoctor } from './commands/doctor.js'
import { addFollow } from './commands/follow.js'
import { addLan } from './commands/lan.js'
import { addOpen } from './commands/open.js'
import { addRun, RUN_EXAMPLE } from './commands/run.js'
import { addSend } from './commands/send.js'
import { addServe } from './commands/serve.js'
import { addStatus } from './commands/status.js'
import { addTakeOver } from './commands/take-over.js'
import { addWho } from './commands/who.js'
import { PROGRAM, print, writeError, writeOut } from './output.js'
import { errorJson } from './report.js'
import { VERSION } from './version.js'

const MAX_ERROR_LENGTH = 1_000

/** Parses and runs. Resolves with the exit code. */
export async function main(argv: readonly string[], started: Started): Promise<number> {
  let exitCode = 0
  const exit = (code: number) => {
    exitCode = code
  }
  try {
    await createProgram({ ...started, exit }).parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version were asked for; everything else is a usage error that commander has printed.
    if (error.exitCode === 0) return 0
    if (asksForJson(argv)) print(errorJson(EXIT_CODES.usage, error.message))
    return EXIT_CODES.usage
  }
}

/** Where the flags could not be understood, this one still is. What comes after -- is the command's. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? undefined : end).includes('--json')
}

function createProgram(context: CommandContext): Command {
  const program = new Command(PROGRAM)
    .description('One live instance per agent: holds an agent’s lease while its command runs.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut,
      writeErr: writeError,
      // It quotes what was typed, and whoever typed it may have pasted it.
      outputError: (message, write) => write(`${plainText(message, MAX_ERROR_LENGTH)}\n`)
    })
    .enablePositionalOptions()
    .showHelpAfterError(`Example: ${RUN_EXAMPLE}\nHelp:    ${PROGRAM} --help`)
    .addHelpText('after', `\nExample:\n  ${RUN_EXAMPLE}\n  ${PROGRAM} status`)
  addRun(program, context)
  addServe(program, context)
  addOpen(program, context)
  addSend(program, context)
  addFollow(program, context)
  addClose(program, context)
  addAgents(program, context)
  addLan(program, context)
  addStatus(program, context)
  addWho(program, context)
  addTakeOver(program, context)
  addDoctor(program, context)
  return program
}
