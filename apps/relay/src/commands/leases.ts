/** `leases` on the command line. */
import type { Command } from 'commander'
import { parseAccount } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, type CommonFlags, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

interface RawLeasesFlags extends CommonFlags {
  readonly account?: string
}

export function addLeases(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('leases')
    .summary('who holds which agent')
    .description(
      'Shows every agent that was ever claimed, who has it or had it last, and under which epoch. It only looks. While no ' +
        'relay runs, what was held then is shown as held.'
    )
    .option('--account <name>', 'this account alone', parseAccount)
    .showHelpAfterError(`Example: ${PROGRAM} leases --json`)
    .addHelpText(
      'after',
      `\nExit codes: 0 shown; 64 usage; 69 the store cannot be used.\n\nExample:\n  ${PROGRAM} leases\n  ${PROGRAM} leases --account acme --json`
    )
  addCommonFlags(command).action(async ({ account, ...raw }: RawLeasesFlags) => {
    const { listLeases } = await import('../leases.js')
    exit(await listLeases({ ...commonFlags(command, raw), account }))
  })
}
