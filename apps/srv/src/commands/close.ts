/** `close` on the command line. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseSeconds, parseText } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

interface RawCloseFlags extends CommonFlags {
  readonly grace?: number
}

export function addClose(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('close')
    .summary('end the agent in a pane')
    .description('Ends the input of the agent in a pane, then, after the grace, whatever of it still runs.')
    .argument('<block>', 'the pane’s block id', parseText)
    .option('--grace <seconds>', 'how long it may take to end by itself', parseSeconds)
    .showHelpAfterError(`Example: ${PROGRAM} close 5f0c2d6e\nHelp:    ${PROGRAM} close --help`)
    .addHelpText(
      'after',
      [
        '\nExit codes: 0 it has ended and the agent is free; 64 usage, or no such pane; 69 no daemon; 75 processes of it',
        'would not end.',
        `\nExample:\n  ${PROGRAM} close 5f0c2d6e --grace 5`
      ].join('\n')
    )
  addCommonFlags(command).action(async (block: string, raw: RawCloseFlags) => {
    checkChannel(command, raw)
    const { close } = await import('../client/close.js')
    exit(await close({ ...commonFlags(raw), block, graceMs: raw.grace }))
  })
}
