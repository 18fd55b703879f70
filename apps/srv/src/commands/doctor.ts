/** `doctor` on the command line. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export function addDoctor(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('doctor')
    .summary('what works here, and what to do about what does not')
    .description(
      'Looks at the shared folder, its file system and lock, the clocks, the ports, the daemon of this channel, the ' +
        'other instances, and the network, if the LAN of the daemon is on. Each line is ok, warn or fail; it leaves nothing behind.'
    )
    .showHelpAfterError(`Example: ${PROGRAM} doctor --json`)
    .addHelpText(
      'after',
      `\nExit codes: 0 nothing failed; 64 usage; 69 something failed.\n\nExample:\n  ${PROGRAM} doctor\n  ${PROGRAM} doctor --json`
    )
  addCommonFlags(command).action(async (raw: CommonFlags) => {
    checkChannel(command, raw)
    const { doctor } = await import('../doctor.js')
    exit(await doctor(commonFlags(raw)))
  })
}
