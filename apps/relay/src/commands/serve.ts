/** `serve` on the command line. Its code, a web server among it, is loaded once the flags are known to be right. */
import { type Command, Option } from 'commander'
import { parseCount, parseDuration, parsePort } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, type CommonFlags, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

export const DEFAULT_PORT = 47_880

interface RawServeFlags extends CommonFlags {
  readonly host: string
  readonly port: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly insecureHttp?: boolean
  readonly rate?: number
  readonly connections?: number
  readonly agentsPerAccount?: number
  readonly queue?: number
  readonly ttl?: number
}

export function addServe(program: Command, { crashes, exit }: CommandContext): void {
  const command = program
    .command('serve')
    .summary('the relay')
    .description(
      'Runs the relay. Everything is kept in one SQLite file in the data folder, or in etcd, where several relays may ' +
        'serve the same accounts. SIGTERM ends it; SIGHUP reads the certificate anew.'
    )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0: any', parsePort, DEFAULT_PORT)
    .option('--tls-cert <file>', 'the certificate chain, PEM; then it is HTTPS')
    .option('--tls-key <file>', 'its private key, PEM')
    .option('--insecure-http', 'plain HTTP although others can reach it: behind a proxy that does TLS')
    .option('--rate <n>', 'requests per second of one token (default: 200)', parseCount)
    .option('--connections <n>', 'connections at once (default: 4096)', parseCount)
    .option('--agents-per-account <n>', 'agents an account may ever claim (default: 100000)', parseCount)
    .option('--queue <n>', 'messages that may wait for one agent (default: 1000)', parseCount)
    .addOption(new Option('--ttl <duration>').argParser(parseDuration).hideHelp())
    .showHelpAfterError(`Example: ${PROGRAM} serve\nHelp:    ${PROGRAM} serve --help`)
    .addHelpText(
      'after',
      [
        '\nPrints its address on stdout once it answers; its log goes to stderr, one JSON object per line.',
        '\nExit codes: 0 ended by a signal; 64 usage; 69 could not be started; 70 internal error.',
        `\nExample:\n  ${PROGRAM} serve\n  ${PROGRAM} serve --host :: --port 443 --tls-cert fullchain.pem --tls-key privkey.pem`,
        `  ${PROGRAM} serve --etcd http://10.0.0.1:2379,http://10.0.0.2:2379,http://10.0.0.3:2379`
      ].join('\n')
    )
  addCommonFlags(command).action(async (raw: RawServeFlags) => {
    const { tlsCert, tlsKey } = raw
    if ((tlsCert === undefined) !== (tlsKey === undefined)) {
      command.error("error: '--tls-cert' and '--tls-key' go together")
    }
    const { serve } = await import('../serve.js')
    const tls = tlsCert === undefined || tlsKey === undefined ? undefined : { cert: tlsCert, key: tlsKey }
    const flags = {
      ...commonFlags(command, raw),
      host: raw.host,
      port: raw.port,
      tls,
      insecureHttp: raw.insecureHttp === true,
      rate: raw.rate,
      connections: raw.connections,
      agentsPerAccount: raw.agentsPerAccount,
      queue: raw.queue,
      ttlMs: raw.ttl
    }
    exit(await serve(flags, crashes))
  })
}
