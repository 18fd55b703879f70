/** `doctor` on the command line. */
import type { Command } from 'commander'
import { parsePort } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, type CommonFlags, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'
import { DEFAULT_PORT } from './serve.js'

interface RawDoctorFlags extends CommonFlags {
  readonly host: string
  readonly port: number
  readonly tlsCert?: string
  readonly tlsKey?: string
}

export function addDoctor(program: Command, { exit }: CommandContext): void {
  const command = program
    .command('doctor')
    .summary('what works here, and what to do about what does not')
    .description(
      'Looks at the data folder and its database, or at etcd, at the tokens, the certificate and the port. Each line is ok, ' +
        'warn or fail; it changes nothing.'
    )
    .option('--host <address>', 'as for serve', '127.0.0.1')
    .option('--port <port>', 'as for serve', parsePort, DEFAULT_PORT)
    .option('--tls-cert <file>', 'as for serve')
    .option('--tls-key <file>', 'as for serve')
    .showHelpAfterError(`Example: ${PROGRAM} doctor --json`)
    .addHelpText(
      'after',
      `\nExit codes: 0 nothing failed; 64 usage; 69 something failed.\n\nExample:\n  ${PROGRAM} doctor\n  ${PROGRAM} doctor --tls-cert fullchain.pem --tls-key privkey.pem`
    )
  addCommonFlags(command).action(async (raw: RawDoctorFlags) => {
    const { doctor } = await import('../doctor.js')
    const { host, port, tlsCert, tlsKey } = raw
    exit(await doctor({ ...commonFlags(command, raw), host, port, tlsCert, tlsKey }))
  })
}
