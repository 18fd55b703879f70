/** `run` on the command line. Its code is loaded once the flags are known to be right. */
import { EXIT_CODES } from '@agentmux/refusals'
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseExitCode, parseName, parseSeconds, parseUid } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import type { RunFlags } from '../run.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export const RUN_EXAMPLE = `${PROGRAM} run --uid 7c0e2f --agent Agent3 -- claude`
const DEFAULT_GRACE_MS = 10_000

interface RawRunFlags extends CommonFlags {
  readonly uid: string
  readonly agent?: string
  readonly n?: boolean
  readonly wait?: number | true
  readonly E?: number
  readonly grace?: number
  readonly takeOver?: boolean
  readonly yes?: boolean
  readonly verbose?: boolean
}

export function addRun(program: Command, { exit, ...started }: CommandContext): void {
  const command = program
    .command('run')
    .summary('hold an agent’s lease while a command runs')
    .description(
      'Runs CMD while holding the agent’s lease, so that no second process on this computer drives the same agent. If ' +
        'the daemon of this channel sees other computers (`lan on`), it is asked about them first, 2 s at most. ' +
        'If the agent is held, says by whom and starts nothing.'
    )
    .requiredOption('--uid <uid>', 'the agent’s UID: its identity', parseUid)
    .option('--agent <name>', 'its name, for messages', parseName)
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
    .option('--take-over', 'take the agent over from whoever drives it on this computer; asks first')
    .option('--yes', 'with --take-over: do not ask; for scripts, and never inside a pane')
    .option('--verbose', 'also say what could not be found out about others, and so did not count')
    .argument('<command...>', 'after --: the command and its arguments')
    .usage('--uid <uid> [options] -- <command...>')
    .passThroughOptions()
    .showHelpAfterError(`Example: ${RUN_EXAMPLE}\nHelp:    ${PROGRAM} run --help`)
    .addHelpText(
      'after',
      [
        '\nExit codes: the command’s own (128+n for a signal); 64 usage; 69 could not find out; 70 internal error;',
        '75 held elsewhere; 76 lease lost while running; 124 --wait ran out; 126, 127 the command cannot be run.',
        `\nExample:\n  ${RUN_EXAMPLE}\n  ${PROGRAM} run --uid 7c0e2f --wait=60 -- codex\n  ${PROGRAM} run --uid 7c0e2f --take-over -- claude`
      ].join('\n')
    )
  addCommonFlags(command).action(async (words: string[], raw: RawRunFlags) => {
    const [name, ...args] = words
    if (name === undefined || name === '') return command.error('error: no command after --')
    if (raw.n && raw.wait !== undefined)
      return command.error("error: option '-n' cannot be used with '--wait'")
    if (raw.yes && !raw.takeOver)
      return command.error("error: option '--yes' cannot be used without '--take-over'")
    checkChannel(command, raw)
    const { run } = await import('../run.js')
    exit(await run(runFlags(raw), { name, args }, started))
  })
}

function runFlags(raw: RawRunFlags): RunFlags {
  return {
    ...commonFlags(raw),
    agent: raw.agent === undefined ? { uid: raw.uid } : { uid: raw.uid, name: raw.agent },
    neverWait: raw.n ?? false,
    takeOver: raw.takeOver ? { yes: raw.yes ?? false } : undefined,
    waitMs: raw.wait === true ? Number.POSITIVE_INFINITY : raw.wait,
    conflictExitCode: raw.E ?? EXIT_CODES.heldElsewhere,
    graceMs: raw.grace ?? DEFAULT_GRACE_MS,
    verbose: raw.verbose ?? false
  }
}
