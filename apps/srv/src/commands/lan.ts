/** `lan` on the command line. */
import { type Command, InvalidArgumentError } from 'commander'
import type { CommonFlags } from '../compose.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export function addLan(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('lan')
    .summary('other computers: whether the daemon sees them, and turning that on or off')
    .description(
      'Shows whether the daemon of this channel sees, and is seen by, AgentMux on other computers of the network, which ' +
        'ones it sees, and what stands in the way. With on or off it is turned on or off, until the daemon ends.'
    )
    .argument('[turn]', 'on or off', parseTurn)
    .showHelpAfterError(`Example: ${PROGRAM} lan on\nHelp:    ${PROGRAM} lan --help`)
    .addHelpText(
      'after',
      [
        '\nWithout $AGENTMUX_LAN_SECRET, set where the daemon is started and the same on every computer, a stranger on the',
        'network can keep your agents from running. `serve --lan` turns it on from the start.',
        '\nExit codes: 0 done; 64 usage; 69 no daemon, or it could not be turned on.',
        `\nExample:\n  ${PROGRAM} lan\n  ${PROGRAM} lan on\n  ${PROGRAM} lan off --json`
      ].join('\n')
    )
  addCommonFlags(command).action(async (turn: 'on' | 'off' | undefined, raw: CommonFlags) => {
    checkChannel(command, raw)
    const { lan } = await import('../client/lan.js')
    exit(await lan({ ...commonFlags(raw), turn }))
  })
}

function parseTurn(text: string): 'on' | 'off' {
  if (text === 'on' || text === 'off') return text
  throw new InvalidArgumentError('It must be on or off.')
}
