/** Whether anybody may use the relay at all. */
import type { CommonFlags } from '../commands/common-flags.js'
import { isExpected } from '../is-expected.js'
import { isExpired } from '../model/token.js'
import { openStoreBeside } from '../open-store.js'
import type { Check } from './check.js'

const name = 'tokens'

export async function checkTokens(flags: CommonFlags): Promise<Check> {
  try {
    const store = await openStoreBeside(flags)
    try {
      const tokens = await store.tokens.list()
      const expired = tokens.filter((token) => isExpired(token, Date.now())).length
      if (tokens.length > expired)
        return { name, level: 'ok', seen: `${tokens.length - expired} open something` }
      return {
        name,
        level: 'warn',
        seen: 'no token opens anything',
        todo: 'agentmux-relay token add --account NAME'
      }
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!isExpected(error)) throw error
    return { name, level: 'fail', seen: `they cannot be read: ${error.message}` }
  }
}
