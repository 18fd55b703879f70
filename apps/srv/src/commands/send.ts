/** `send` on the command line. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseText } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export function addSend(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('send')
    .summary('one turn to the agent in a pane')
    .description(
      'Writes TEXT and a newline to the input of the agent in a pane, if the pane still has its lease. It stands in the ' +
        'record before the agent reads it. Use - for what stands on stdin.'
    )
    .argument('<block>', 'the pane’s block id', parseText)
    .argument('<text>', 'the turn; after -- if it begins with a dash')
    .showHelpAfterError(`Example: ${PROGRAM} send 5f0c… 'go on'\nHelp:    ${PROGRAM} send --help`)
    .addHelpText(
      'after',
      [
        '\nExit codes: 0 it was taken; 64 usage, or no such pane; 69 no daemon, the agent has ended, or could not find out;',
        '75 the agent has not read what was sent before; 76 the pane has lost its agent.',
        `\nExample:\n  ${PROGRAM} send 5f0c2d6e 'go on'\n  git diff | ${PROGRAM} send 5f0c2d6e -`
      ].join('\n')
    )
  addCommonFlags(command).action(async (block: string, text: string, raw: CommonFlags) => {
    checkChannel(command, raw)
    const { send } = await import('../client/send.js')
    exit(await send({ ...commonFlags(raw), block, text }))
  })
}
