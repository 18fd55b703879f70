/** `status` on the command line. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export function addStatus(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('status')
    .summary('every lease on this host')
    .description(
      'Shows who holds which agent on this host. It only looks: it needs no lease and is never blocked.'
    )
    .showHelpAfterError(`Example: ${PROGRAM} status --json`)
    .addHelpText('after', `\nExample:\n  ${PROGRAM} status\n  ${PROGRAM} status --json`)
  addCommonFlags(command).action(async (flags: CommonFlags) => {
    const { status } = await import('../status.js')
    exit(status(commonFlags(flags)))
  })
}
