/** `follow` on the command line. */
import { type Command, InvalidArgumentError } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseText } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

interface RawFollowFlags extends CommonFlags {
  readonly from?: number
  readonly once?: boolean
}

export function addFollow(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('follow')
    .summary('watch the agent in a pane')
    .description(
      'Shows the record of the agent in a pane, what it says and what it was sent, as it grows. Read-only, also of a pane ' +
        'that has ended or lost its agent.'
    )
    .argument('<block>', 'the pane’s block id', parseText)
    .option('--from <position>', 'begin there instead of at the beginning', parsePosition)
    .option('--once', 'only what is there now')
    .showHelpAfterError(`Example: ${PROGRAM} follow 5f0c2d6e\nHelp:    ${PROGRAM} follow --help`)
    .addHelpText(
      'after',
      [
        '\nOn a terminal without control characters; with --json one item of the record per line, with its position.',
        'Exit codes: 0 the end; 64 usage, or no such pane; 69 no daemon, or it broke off; 130 Ctrl-C.',
        `\nExample:\n  ${PROGRAM} follow 5f0c2d6e\n  ${PROGRAM} follow 5f0c2d6e --once --json`
      ].join('\n')
    )
  addCommonFlags(command).action(async (block: string, raw: RawFollowFlags) => {
    checkChannel(command, raw)
    const { follow } = await import('../client/follow.js')
    exit(await follow({ ...commonFlags(raw), block, from: raw.from, once: raw.once ?? false }))
  })
}

function parsePosition(text: string): number {
  const position = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(position)) throw new InvalidArgumentError('It must be a position of the record.')
  return position
}
