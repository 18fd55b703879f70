/** The command line: its commands and flags. A wrong one ends with 64, the flag named and an example. */
import type { WatchdogThread } from '@agentmux/host-admission'
import { EXIT_CODES, plainText } from '@agentmux/refusals'
import { Command, CommanderError, Option } from 'commander'
import type { CommonFlags } from './compose.js'
import type { CrashHandler } from './crash.js'
import { isChannel, parseChannel, parseExitCode, parseSeconds, parseText, parseUid } from './flag-values.js'
import { PROGRAM, print, writeError, writeOut } from './output.js'
import { errorJson } from './report.js'
import { type RunFlags, run } from './run.js'
import { status } from './status.js'
import { VERSION } from './version.js'

const RUN_EXAMPLE = `${PROGRAM} run --uid 7c0e2f --agent Agent3 -- claude`
const DEFAULT_GRACE_MS = 10_000
const MAX_ERROR_LENGTH = 1_000

/** What the program was started with. */
export interface Started {
  readonly crashes: CrashHandler
  readonly watchdogThread: WatchdogThread | undefined
}

/** What every command works with. */
interface Context extends Started {
  readonly exit: (code: number) => void
}

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

function createProgram(context: Context): Command {
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
  addStatus(program, context)
  return program
}

interface RawRunFlags extends CommonFlags {
  readonly uid: string
  readonly agent?: string
  readonly n?: boolean
  readonly wait?: number | true
  readonly E?: number
  readonly grace?: number
  readonly takeOver?: boolean
}

function addRun(program: Command, { exit, ...started }: Context): void {
  const command = program
    .command('run')
    .summary('hold an agent’s lease while a command runs')
    .description(
      'Runs CMD while holding the agent’s lease, so that no second process on this computer drives the same agent. ' +
        'If the agent is held, says by whom and starts nothing.'
    )
    .requiredOption('--uid <uid>', 'the agent’s UID: its identity', parseUid)
    .option('--agent <name>', 'its name, for messages', parseText)
    .option('-n', 'never wait, not even to watch a lease that only watching can judge')
    .option(
      '--wait [seconds]',
      'wait for the agent to come free, for ever or at most this long',
      parseSeconds
    )
    .option('-E <code>', 'exit code when the agent is held elsewhere (default: 75)', parseExitCode)
    .option(
      '--grace <seconds>',
      'between SIGTERM and SIGKILL for what CMD leaves running (default: 10)',
      parseSeconds
    )
    .addOption(new Option('--take-over').hideHelp())
    .argument('<command...>', 'after --: the command and its arguments')
    .usage('--uid <uid> [options] -- <command...>')
    .passThroughOptions()
    .showHelpAfterError(`Example: ${RUN_EXAMPLE}\nHelp:    ${PROGRAM} run --help`)
    .addHelpText(
      'after',
      [
        '\nExit codes: the command’s own (128+n for a signal); 64 usage; 69 could not find out; 70 internal error;',
        '75 held elsewhere; 76 lease lost while running; 124 --wait ran out; 126, 127 the command cannot be run.',
        `\nExample:\n  ${RUN_EXAMPLE}\n  ${PROGRAM} run --uid 7c0e2f --wait=60 -- codex`
      ].join('\n')
    )
  addCommonFlags(command).action(async (words: string[], raw: RawRunFlags) => {
    const [name, ...args] = words
    if (name === undefined || name === '') return command.error('error: no command after --')
    if (raw.n && raw.wait !== undefined)
      return command.error("error: option '-n' cannot be used with '--wait'")
    if (raw.takeOver) return command.error(noTakeOver(raw.uid))
    if (raw.channel === undefined && !isChannel(process.env.AGENTMUX_CHANNEL ?? ''))
      return command.error("error: $AGENTMUX_CHANNEL is invalid: use option '--channel <name>'")
    exit(await run(runFlags(raw), { name, args }, started))
  })
}

/** A take-over asks the holder's daemon to let go, and there is none yet. */
function noTakeOver(uid: string): string {
  return (
    "error: option '--take-over' is not available in this version. End the agent where it runs " +
    `(\`${PROGRAM} status\` shows where), then start it here; or wait for it: ${PROGRAM} run --uid ${uid} --wait -- CMD`
  )
}

function runFlags(raw: RawRunFlags): RunFlags {
  return {
    ...commonFlags(raw),
    agent: raw.agent === undefined ? { uid: raw.uid } : { uid: raw.uid, name: raw.agent },
    neverWait: raw.n ?? false,
    waitMs: raw.wait === true ? Number.POSITIVE_INFINITY : raw.wait,
    conflictExitCode: raw.E ?? EXIT_CODES.heldElsewhere,
    graceMs: raw.grace ?? DEFAULT_GRACE_MS
  }
}

function addStatus(program: Command, { exit }: Context): void {
  const command = program
    .command('status')
    .summary('every lease on this host')
    .description(
      'Shows who holds which agent on this host. It only looks: it needs no lease and is never blocked.'
    )
    .showHelpAfterError(`Example: ${PROGRAM} status --json`)
    .addHelpText('after', `\nExample:\n  ${PROGRAM} status\n  ${PROGRAM} status --json`)
  addCommonFlags(command).action((flags: CommonFlags) => exit(status(commonFlags(flags))))
}

function addCommonFlags(command: Command): Command {
  return command
    .option(
      '--shared-dir <dir>',
      'the shared folder (default: $AGENTMUX_SHARED_DIR, ~/.agentmux/shared)',
      parseText
    )
    .option(
      '--channel <name>',
      'the channel others see us under (default: $AGENTMUX_CHANNEL, stable)',
      parseChannel
    )
    .option('--json', 'answers as JSON')
}

/** The common flags alone, whatever else a command has. */
function commonFlags({ sharedDir, channel, json }: CommonFlags): CommonFlags {
  return { sharedDir, channel, json }
}
