/** `token add`, `token list`, `token revoke`. A secret is printed once, by the command that made it, and goes nowhere else. */
import type { CommonFlags } from './commands/common-flags.js'
import { EXIT } from './exit-codes.js'
import { isExpected } from './is-expected.js'
import { isExpired, newTokenId, newTokenSecret, type Token, tokenHash } from './model/token.js'
import { type LookedAtStore, openStoreBeside } from './open-store.js'
import { print, say } from './output.js'
import { fail } from './report.js'
import { printTable } from './table.js'

export interface AddTokenFlags extends CommonFlags {
  readonly account: string
  /** Empty: all agents of the account. */
  readonly agent: string
  readonly ttlMs: number | undefined
}

export function addToken(flags: AddTokenFlags): Promise<number> {
  return withStore(flags, async ({ tokens }) => {
    const secret = newTokenSecret()
    const createdAtMs = Date.now()
    const token: Token = {
      id: newTokenId(),
      account: flags.account,
      agent: flags.agent,
      createdAtMs,
      expiresAtMs: flags.ttlMs === undefined ? undefined : createdAtMs + flags.ttlMs
    }
    await tokens.add(token, tokenHash(secret))
    if (flags.json) print(JSON.stringify({ token: secret, ...tokenJson(token) }))
    else {
      print(secret)
      say(`token ${token.id} for ${whatFor(token)}; it is not shown again`)
    }
    return EXIT.ok
  })
}

export function listTokens(flags: CommonFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const tokens = await store.tokens.list()
    if (flags.json) print(JSON.stringify({ tokens: tokens.map(tokenJson) }, undefined, 2))
    else if (tokens.length === 0) print('There are no tokens.')
    else printTable(['ID', 'ACCOUNT', 'AGENT', 'CREATED', 'EXPIRES'], tokens.map(rowOf))
    return EXIT.ok
  })
}

export function revokeToken(flags: CommonFlags, id: string): Promise<number> {
  return withStore(flags, async ({ tokens }) => {
    if (!(await tokens.revoke(id)))
      return fail(flags, EXIT.noSuch, `there is no token with that id: see token list`)
    print(flags.json ? JSON.stringify({ revoked: id }) : `${id} is revoked`)
    return EXIT.ok
  })
}

async function withStore(
  flags: CommonFlags,
  work: (store: LookedAtStore) => Promise<number>
): Promise<number> {
  let store: LookedAtStore | undefined
  try {
    store = await openStoreBeside(flags)
    return await work(store)
  } catch (error) {
    if (!isExpected(error)) throw error
    return fail(flags, EXIT.unavailable, error.message)
  } finally {
    await store?.close()
  }
}

function tokenJson({ id, account, agent, createdAtMs, expiresAtMs }: Token) {
  return {
    id,
    account,
    agent: agent === '' ? null : agent,
    created_at: createdAtMs,
    expires_at: expiresAtMs ?? null
  }
}

function rowOf(token: Token): string[] {
  const expires =
    token.expiresAtMs === undefined
      ? 'never'
      : isExpired(token, Date.now())
        ? 'expired'
        : timeText(token.expiresAtMs)
  return [token.id, token.account, token.agent || '(all)', timeText(token.createdAtMs), expires]
}

function whatFor({ account, agent }: Token): string {
  return agent === '' ? `all agents of ${account}` : `${agent} of ${account}`
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
