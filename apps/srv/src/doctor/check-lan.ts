/** The network: whether the daemon sees other computers, what stands in the way, whether they answer and are to be believed. */
import { DaemonClient } from '../client/daemon-client.js'
import { lanViewIn } from '../client/lan-view-answer.js'
import { lookForDaemon } from '../daemon/daemon-file.js'
import { lanProblems } from '../lan/lan-problems.js'
import { askLanOfDaemon } from '../lan-question.js'
import { PROGRAM } from '../output.js'
import type { Check } from './check.js'

const name = 'network'
const TIMEOUT_MS = 5_000
/** No agent has it. */
const NOBODY = `doctor-${process.pid}`

export async function checkLan(sharedRoot: string, channel: string): Promise<Check[]> {
  const look = lookForDaemon(sharedRoot, channel)
  const off = 'agents on other computers are not seen'
  if (look.kind !== 'found') {
    return [{ name, level: 'ok', seen: `no daemon runs that could see others: ${off}` }]
  }
  const { signal } = new AbortController()
  const client = new DaemonClient(look.daemon, 'the daemon does not listen any more')
  const answer = await client.ask({ method: 'GET', path: '/api/v1/lan', signal, timeoutMs: TIMEOUT_MS })
  const view = answer.kind === 'answered' && answer.status === 200 ? lanViewIn(answer.body) : undefined
  if (view === undefined) return [{ name, level: 'warn', seen: 'the daemon does not say' }]
  if (!view.enabled) {
    return [{ name, level: 'ok', seen: `off: ${off}. \`${PROGRAM} lan on\` turns it on` }]
  }
  const interfaces = view.interfaces.map(({ name, joined }) => `${name}${joined ? '' : ' (not heard)'}`)
  const checks: Check[] = [
    {
      name,
      level: 'ok',
      seen: `on at ${view.addresses.join(', ') || 'no address'}, by ${interfaces.join(', ') || 'no interface'}; ${view.peer_count} other instances seen`
    }
  ]
  for (const { seen, todo } of lanProblems(view)) {
    checks.push({ name, level: 'warn', seen, ...(todo === undefined ? {} : { todo }) })
  }
  const said = await askLanOfDaemon({ uid: NOBODY, sharedRoot, channel, signal, timeoutMs: TIMEOUT_MS })
  if (said.silent > 0) {
    const of = said.answered + said.silent
    const [seen, todo] = [
      `${said.silent} of ${of} other instances gave no answer that counts`,
      hintOf(said.how)
    ]
    checks.push({ name, level: 'warn', seen, ...(todo === '' ? {} : { todo }) })
  }
  return checks
}

/** What follows the first sentence: what may stand in the way, and the way out. */
function hintOf(how: string): string {
  return how
    .split(/(?<=\.) /)
    .slice(1)
    .join(' ')
}
