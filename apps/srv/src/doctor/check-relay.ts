/** The relay: whether the daemon uses one, whether it answers, and what is the matter with the token, which is not shown (R16). */
import { plainText } from '@agentmux/refusals'
import * as z from 'zod/mini'
import { DaemonClient } from '../client/daemon-client.js'
import { lookForDaemon } from '../daemon/daemon-file.js'
import { PROGRAM } from '../output.js'
import type { Check } from './check.js'

const name = 'relay'
/** The relay has 5 s to answer the daemon. */
const TIMEOUT_MS = 8_000
/** No agent has it; asking changes nothing there. */
const NOBODY = `doctor-${process.pid}`
const NOT_SEEN = 'agents beyond the network are not seen'

const text = z.catch(z.string(), '')
const view = z.object({
  enabled: z.boolean(),
  url: text,
  instance: text,
  held: z.catch(z.array(z.string()), []),
  trouble: text,
  token_problem: text
})
const answer = z.object({ kind: z.string(), why: text })

export async function checkRelay(sharedRoot: string, channel: string): Promise<Check> {
  const look = lookForDaemon(sharedRoot, channel)
  if (look.kind !== 'found') {
    return { name, level: 'ok', seen: `no daemon runs that could ask one: ${NOT_SEEN}` }
  }
  const client = new DaemonClient(look.daemon, 'the daemon does not listen any more')
  const ask = async (path: string) => {
    const { signal } = new AbortController()
    const said = await client.ask({ method: 'GET', path, signal, timeoutMs: TIMEOUT_MS })
    return said.kind === 'answered' && said.status === 200 ? said.body : undefined
  }
  const state = view.safeParse(await ask('/api/v1/relay'))
  if (!state.success) return { name, level: 'warn', seen: 'the daemon does not say' }
  const { enabled, token_problem: problem, held, trouble } = state.data
  if (!enabled) {
    return { name, level: 'ok', seen: `off: ${NOT_SEEN}. \`${PROGRAM} serve --relay URL\` turns it on` }
  }
  const where = `${plainText(state.data.url, 200)}, as ${plainText(state.data.instance, 128)}`
  if (problem !== '') {
    return { name, level: 'warn', seen: `${where}: not asked`, todo: capitalised(plainText(problem, 300)) }
  }
  const said = answer.safeParse(await ask(`/api/v1/relay/holder?agent=${NOBODY}`))
  const why = said.success ? said.data.why : 'the daemon does not say'
  const isAnswer = said.success && said.data.kind !== 'unknown'
  const counted = `${held.length} agent${held.length === 1 ? '' : 's'} held there`
  if (isAnswer && trouble === '') return { name, level: 'ok', seen: `it answers at ${where}; ${counted}` }
  const code = plainText(isAnswer ? trouble : why, 64)
  return {
    name,
    level: 'warn',
    seen: `${where}: no answer that counts (${code}); ${counted}. What runs goes on`,
    todo: wayOut(code)
  }
}

function wayOut(code: string): string {
  switch (code) {
    case 'unauthorized':
      return 'The token is not, or no longer, good: get a new one from whoever runs the relay.'
    case 'forbidden':
    case 'token-failed':
      return 'The token cannot be used for this: get another one from whoever runs the relay.'
    case 'route-missing':
      return 'The relay is older than this: agents are held there if it can, and who holds one is not known before a start.'
    default:
      return 'See whether the address is right, and the relay up: other computers do not see what is not held there.'
  }
}

function capitalised(sentence: string): string {
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`
}
