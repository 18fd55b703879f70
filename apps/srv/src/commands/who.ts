/** `who` on the command line. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseName, parseUid } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export function addWho(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('who')
    .summary('who drives an agent, and how sure that is')
    .description(
      'Says who drives an agent: on this computer by its lease file or by asking the other instances, and on the network ' +
        'by asking the daemon of this channel, if its LAN is on. At the relay, which knows agents by name, it asks through the same daemon. It only looks.'
    )
    .argument('<uid>', 'the agent’s UID', parseUid)
    .option('--agent <name>', 'its name, for the relay (default: that of the daemon’s pane)', parseName)
    .showHelpAfterError(`Example: ${PROGRAM} who 7c0e2f\nHelp:    ${PROGRAM} who --help`)
    .addHelpText(
      'after',
      `\nExit codes: 0 held or free; 64 usage; 69 could not find out whether it runs on this computer.\n\nExample:\n  ${PROGRAM} who 7c0e2f\n  ${PROGRAM} who 7c0e2f --json`
    )
  addCommonFlags(command).action(async (uid: string, raw: CommonFlags & { readonly agent?: string }) => {
    checkChannel(command, raw)
    const { who } = await import('../who.js')
    exit(await who({ ...commonFlags(raw), uid, name: raw.agent }))
  })
}
