/** `agents` on the command line. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export function addAgents(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('agents')
    .summary('the panes of the running daemon')
    .description(
      'Lists the panes of the daemon: which agent, in which state, since when; of one that lost its agent, to whom.'
    )
    .showHelpAfterError(`Example: ${PROGRAM} agents --json`)
    .addHelpText(
      'after',
      `\nExit codes: 0; 64 usage; 69 no daemon.\n\nExample:\n  ${PROGRAM} agents\n  ${PROGRAM} agents --json`
    )
  addCommonFlags(command).action(async (raw: CommonFlags) => {
    checkChannel(command, raw)
    const { agents } = await import('../client/agents.js')
    exit(await agents(commonFlags(raw)))
  })
}
