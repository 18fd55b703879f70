/** `serve` on the command line. Its code, a web server among it, is loaded once the flags are known to be right. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CommonFlags } from '../compose.js'
import { parseSeconds } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, checkChannel, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

interface RawServeFlags extends CommonFlags {
  readonly port: number
  readonly lan?: boolean
  readonly relay?: string
  readonly relayRenew?: number
}

export function addServe(program: Command, { crashes, exit }: CommandContext): void {
  const command = program
    .command('serve')
    .summary('the daemon: runs many agents, and hands them over')
    .description(
      'Runs the daemon of this channel: it opens panes for agents, answers other instances on this computer, and hands ' +
        'agents over when a person asks for it. One per channel and shared folder. SIGTERM ends it and its agents.'
    )
    .option('--port <port>', 'the port on loopback to listen on (default: any)', parsePort, 0)
    .option('--lan', 'also see, and be seen by, AgentMux on other computers of the network')
    .option('--relay <url>', 'also hold agents at a relay, across the internet ($AGENTMUX_MUXBUS_REST_URL)')
    .addOption(new Option('--relay-renew <seconds>').argParser(parseSeconds).hideHelp())
    .showHelpAfterError(`Example: ${PROGRAM} serve\nHelp:    ${PROGRAM} serve --help`)
    .addHelpText(
      'after',
      [
        '\nPrints its address on stdout once it answers; its log goes to stderr. The key is in the daemon file, which the',
        'other commands read; $AGENTMUX_AUTH_KEY sets it.',
        '\nWith --lan, an agent that runs on another computer is refused here, and of two that run at once one is ended.',
        'Set $AGENTMUX_LAN_SECRET, or a file in $AGENTMUX_LAN_SECRET_FILE, to the same text on every computer: without it a',
        'stranger on the network can keep your agents from running. `lan on` and `lan off` switch it while the daemon runs.',
        '\nWith --relay, the same across the internet, and messages that wait there are delivered. The token of the relay is in',
        '$AGENTMUX_RELAY_TOKEN, or in the file named by $AGENTMUX_RELAY_TOKEN_FILE, which is read for every request.',
        '\nExit codes: 0 ended by a signal; 64 usage; 69 could not be started; 70 internal error; 75 it runs already.',
        `\nExample:\n  ${PROGRAM} serve\n  ${PROGRAM} serve --lan --relay https://relay.example --port 47800`
      ].join('\n')
    )
  addCommonFlags(command).action(async (raw: RawServeFlags) => {
    checkChannel(command, raw)
    const { serve } = await import('../daemon/serve.js')
    const { port, lan = false, relay, relayRenew: relayRenewMs } = raw
    exit(await serve({ ...commonFlags(raw), port, lan, relay, relayRenewMs }, crashes))
  })
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('It must be a port: 0 to 65535.')
}
