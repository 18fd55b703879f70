/** `open` on the command line. */
import { type Command, InvalidArgumentError } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseName, parseText, parseUid } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

interface RawOpenFlags extends CommonFlags {
  readonly uid: string
  readonly agent?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export function addOpen(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('open')
    .summary('a pane for an agent in the running daemon')
    .description(
      'Starts CMD in a pane of the daemon, which holds the agent’s lease while it runs, and prints the pane’s block id. ' +
        'If the agent is held, says by whom and starts nothing.'
    )
    .requiredOption('--uid <uid>', 'the agent’s UID: its identity', parseUid)
    .option('--agent <name>', 'its name, for messages and for others on this computer', parseName)
    .option('--cwd <dir>', 'the folder that CMD runs in (default: this one)', parseText)
    .option(
      '--env <name=value>',
      'added to the daemon’s environment for CMD; may be given again',
      parseVariable
    )
    .argument('<command...>', 'after --: the command and its arguments')
    .usage('--uid <uid> [options] -- <command...>')
    .passThroughOptions()
    .showHelpAfterError(`Example: ${PROGRAM} open --uid 7c0e2f -- claude\nHelp:    ${PROGRAM} open --help`)
    .addHelpText(
      'after',
      [
        '\nExit codes: 0 it runs; 64 usage; 69 no daemon, or could not find out; 75 held elsewhere, or too many panes;',
        '126, 127 the command cannot be run.',
        `\nExample:\n  ${PROGRAM} open --uid 7c0e2f --agent Agent3 --cwd ~/work -- claude`
      ].join('\n')
    )
  addCommonFlags(command).action(async (words: string[], raw: RawOpenFlags) => {
    if (words[0] === undefined || words[0] === '') return command.error('error: no command after --')
    checkChannel(command, raw)
    const { open } = await import('../client/open.js')
    const { resolve } = await import('node:path')
    const agent = raw.agent === undefined ? { uid: raw.uid } : { uid: raw.uid, name: raw.agent }
    const cwd = resolve(raw.cwd ?? '.')
    exit(await open({ ...commonFlags(raw), agent, cwd, environment: raw.env ?? {}, command: words }))
  })
}

function parseVariable(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError('It must be NAME=VALUE.')
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) }
}
