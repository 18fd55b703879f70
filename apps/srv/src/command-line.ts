/** The command line: its commands, flags and what they accept. A wrong flag ends with 64, the flag named and an example. */
import { leaseKey } from '@agentmux/lease-store'
import { EXIT_CODES } from '@agentmux/refusals'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import type { CommonFlags } from './compose.js'
import { PROGRAM } from './output.js'
import { type RunFlags, run } from './run.js'
import { status } from './status.js'
import { VERSION } from './version.js'

const RUN_EXAMPLE = `${PROGRAM} run --uid 7c0e2f --agent Agent3 -- claude`
const DEFAULT_GRACE_MS = 10_000
/** A day: longer graces and waits are typing errors, or mean for ever. */
const MAX_SECONDS = 86_400

/** Parses and runs. Resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0
  const program = createProgram((code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version were asked for; everything else is a usage error that commander has printed.
    return error.exitCode === 0 ? 0 : EXIT_CODES.usage
  }
}

function createProgram(exit: (code: number) => void): Command {
  const program = new Command(PROGRAM)
    .description('One live instance per agent: holds an agent’s lease while its command runs.')
    .version(VERSION)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError(`Example: ${RUN_EXAMPLE}\nHelp:    ${PROGRAM} --help`)
    .addHelpText('after', `\nExample:\n  ${RUN_EXAMPLE}\n  ${PROGRAM} status`)
  addRun(program, exit)
  addStatus(program, exit)
  return program
}

interface RawRunFlags extends CommonFlags {
  readonly uid: string
  readonly agent?: string
  readonly n?: boolean
  readonly wait?: number | true
  readonly E?: number
  readonly grace?: number
}

function addRun(program: Command, exit: (code: number) => void): void {
  const command = program
    .command('run')
    .summary('hold an agent’s lease while a command runs')
    .description(
      'Runs CMD while holding the agent’s lease, so that no second process on this computer drives the same agent. ' +
        'If the agent is held, says by whom and starts nothing.'
    )
    .requiredOption('--uid <uid>', 'the agent’s UID: its identity', parseUid)
    .option('--agent <name>', 'its name, for messages')
    .option('-n', 'never wait, not even to watch a lease that only watching can judge')
    .option(
      '--wait [seconds]',
      'wait for the agent to come free, for ever or at most this long',
      parseSeconds
    )
    .option('-E <code>', 'exit code when the agent is held elsewhere', parseExitCode)
    .option(
      '--grace <seconds>',
      'between SIGTERM and SIGKILL for what CMD leaves running (default: 10)',
      parseSeconds
    )
    .argument('<command...>', 'after --: the command and its arguments')
    .passThroughOptions()
    .showHelpAfterError(`Example: ${RUN_EXAMPLE}\nHelp:    ${PROGRAM} run --help`)
    .addHelpText(
      'after',
      [
        '\nExit codes: the command’s own (128+n for a signal); 64 usage; 69 could not find out; 75 held elsewhere;',
        '76 lease lost while running; 124 --wait ran out; 126, 127 the command cannot be run.',
        `\nExample:\n  ${RUN_EXAMPLE}\n  ${PROGRAM} run --uid 7c0e2f --wait=60 -- codex`
      ].join('\n')
    )
  addCommonFlags(command).action(async (words: string[], raw: RawRunFlags) => {
    const [file, ...args] = words
    if (file === undefined || file === '') return command.error('error: no command after --')
    if (raw.n && raw.wait !== undefined)
      return command.error("error: option '-n' cannot be used with '--wait'")
    exit(await run(runFlags(raw), [file, ...args]))
  })
}

function runFlags(raw: RawRunFlags): RunFlags {
  return {
    ...raw,
    agent: raw.agent ? { uid: raw.uid, name: raw.agent } : { uid: raw.uid },
    neverWait: raw.n ?? false,
    waitMs: raw.wait === true ? Number.POSITIVE_INFINITY : raw.wait,
    conflictExitCode: raw.E ?? EXIT_CODES.heldElsewhere,
    graceMs: raw.grace ?? DEFAULT_GRACE_MS
  }
}

function addStatus(program: Command, exit: (code: number) => void): void {
  const command = program
    .command('status')
    .summary('every lease on this host')
    .description(
      'Shows who holds which agent on this host. It only looks: it needs no lease and is never blocked.'
    )
    .showHelpAfterError(`Example: ${PROGRAM} status --json`)
    .addHelpText('after', `\nExample:\n  ${PROGRAM} status\n  ${PROGRAM} status --json`)
  addCommonFlags(command).action((flags: CommonFlags) => exit(status(flags)))
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
      parseText
    )
    .option('--json', 'answers as JSON')
}

function parseUid(value: string): string {
  try {
    return leaseKey(value)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function parseText(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return value
}

/** Seconds, with a fraction if wanted, as milliseconds. */
function parseSeconds(value: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
  if (!(seconds <= MAX_SECONDS)) {
    throw new InvalidArgumentError(
      `It must be a number of seconds from 0 to ${MAX_SECONDS}; a command goes after --.`
    )
  }
  return Math.round(seconds * 1_000)
}

function parseExitCode(value: string): number {
  const code = /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN
  if (!(code <= 255)) throw new InvalidArgumentError('It must be a number from 0 to 255.')
  return code
}
