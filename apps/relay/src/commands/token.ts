/** `token add`, `token list` and `token revoke` on the command line. */
import type { Command } from 'commander'
import { parseAccount, parseAgent, parseDuration } from '../flag-values.js'
import { PROGRAM } from '../output.js'
import { addCommonFlags, type CommonFlags, commonFlags } from './common-flags.js'
import type { CommandContext } from './context.js'

interface RawAddFlags extends CommonFlags {
  readonly account: string
  readonly agent?: string
  readonly ttl?: number
}

export function addToken(program: Command, context: CommandContext): void {
  const command = program
    .command('token')
    .summary('who may use the relay')
    .description('Access tokens: each opens the agents and messages of one account, or of one agent of it.')
    .showHelpAfterError(`Example: ${PROGRAM} token add --account acme`)
    .addHelpText('after', `\nExample:\n  ${PROGRAM} token add --account acme\n  ${PROGRAM} token list`)
  addAdd(command, context)
  addList(command, context)
  addRevoke(command, context)
}

const CODES = '\nExit codes: 0 done; 64 usage; 69 the store cannot be used'

function addAdd(token: Command, { exit }: CommandContext): void {
  const command = token
    .command('add')
    .summary('makes a token and prints it, once')
    .description(
      'Makes a token and prints it. It is kept hashed: it is never shown again. A running relay knows it at once.'
    )
    .requiredOption('--account <name>', 'the account whose agents it opens', parseAccount)
    .option('--agent <name>', 'that agent alone; it may still send messages to others', parseAgent)
    .option('--ttl <duration>', 'it expires after this: 90s, 15m, 12h, 30d (default: never)', parseDuration)
    .addHelpText(
      'after',
      `${CODES}.\n\nExample:\n  ${PROGRAM} token add --account acme\n  ${PROGRAM} token add --account acme --agent Agent3 --ttl 30d --json`
    )
  addCommonFlags(command).action(async ({ account, agent, ttl, ...raw }: RawAddFlags) => {
    const { addToken: add } = await import('../tokens.js')
    exit(await add({ ...commonFlags(command, raw), account, agent: agent ?? '', ttlMs: ttl }))
  })
}

function addList(token: Command, { exit }: CommandContext): void {
  const command = token
    .command('list')
    .summary('the tokens there are, without their secrets')
    .addHelpText('after', `${CODES}.\n\nExample:\n  ${PROGRAM} token list --json`)
  addCommonFlags(command).action(async (raw: CommonFlags) => {
    const { listTokens } = await import('../tokens.js')
    exit(await listTokens(commonFlags(command, raw)))
  })
}

function addRevoke(token: Command, { exit }: CommandContext): void {
  const command = token
    .command('revoke')
    .argument('<id>', 'as `token list` shows it')
    .summary('ends a token')
    .description('Ends a token: a running relay turns it away within seconds.')
    .addHelpText(
      'after',
      `${CODES}; 75 there is no such token.\n\nExample:\n  ${PROGRAM} token revoke 3f2a9c01b7de`
    )
  addCommonFlags(command).action(async (id: string, raw: CommonFlags) => {
    const { revokeToken } = await import('../tokens.js')
    exit(await revokeToken(commonFlags(command, raw), id))
  })
}
