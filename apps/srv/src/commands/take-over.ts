/** `take-over` on the command line. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseName, parseUid } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

interface RawTakeOverFlags extends CommonFlags {
  readonly agent?: string
  readonly yes?: boolean
}

export function addTakeOver(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('take-over')
    .summary('free an agent where it runs, and keep it for this channel')
    .description(
      'Stops the agent where it runs on this computer, in order, and keeps it for this channel for 30 s. Asks the ' +
        'person at the terminal first; inside a pane it is refused unless a person is at the pane’s own terminal.'
    )
    .argument('<uid>', 'the agent’s UID', parseUid)
    .option('--agent <name>', 'its name, for messages and for the relay, which knows agents by it', parseName)
    .option('--yes', 'do not ask; for scripts, and never inside a pane')
    .showHelpAfterError(`Example: ${PROGRAM} take-over 7c0e2f\nHelp:    ${PROGRAM} take-over --help`)
    .addHelpText(
      'after',
      [
        '\nExit codes: 0 free and kept for this channel; 64 usage, or not permitted; 69 could not find out; 75 it stays',
        'where it is; 124 it was not free in time; 130 broken off with Ctrl-C, and nothing is left behind.',
        `\nExample:\n  ${PROGRAM} take-over 7c0e2f\n  ${PROGRAM} take-over 7c0e2f --yes && ${PROGRAM} run --uid 7c0e2f -- claude`
      ].join('\n')
    )
  addCommonFlags(command).action(async (uid: string, raw: RawTakeOverFlags) => {
    checkChannel(command, raw)
    const { takeOverAgent } = await import('../take-over.js')
    const agent = raw.agent === undefined ? { uid } : { uid, name: raw.agent }
    exit(await takeOverAgent({ ...commonFlags(raw), agent, yes: raw.yes ?? false }))
  })
}
