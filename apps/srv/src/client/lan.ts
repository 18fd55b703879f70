/** `lan`: whether this daemon sees other computers, which ones, and what stands in the way; turns it on and off. */
import { plainText } from '@agentmux/refusals'
import type { CommonFlags } from '../compose.js'
import { lanProblems } from '../lan/lan-problems.js'
import type { LanView } from '../lan/lan-view.js'
import { PROGRAM, print, say } from '../output.js'
import { printTable } from '../table.js'
import { lanViewIn } from './lan-view-answer.js'
import { reportAnswer } from './report-answer.js'
import { withDaemon } from './with-daemon.js'

export interface LanFlags extends CommonFlags {
  /** Undefined: only look. */
  readonly turn: 'on' | 'off' | undefined
}

/** Opening and closing sockets, and a goodbye. */
const TIMEOUT_MS = 15_000
const PATH = '/api/v1/lan'
const MAX_SHOWN = 64

export function lan(flags: LanFlags): Promise<number> {
  return withDaemon(flags, async (client, signal) => {
    const bound = { signal, timeoutMs: TIMEOUT_MS }
    const answer = await client.ask(
      flags.turn === undefined
        ? { method: 'GET', path: PATH, ...bound }
        : { method: 'POST', path: PATH, body: { enabled: flags.turn === 'on' }, ...bound }
    )
    const view = answer.kind === 'answered' && answer.status === 200 ? lanViewIn(answer.body) : undefined
    if (view === undefined) return reportAnswer(flags, answer)
    if (flags.json) print(JSON.stringify(view, undefined, 2))
    else show(view)
    return 0
  })
}

function show(view: LanView): void {
  if (!view.enabled) {
    print(`off: agents on other computers are not seen. \`${PROGRAM} lan on\` turns it on.`)
    return
  }
  const where = view.addresses.join(', ') || 'nowhere'
  const heard = view.interfaces.filter(({ joined }) => joined).map(({ name }) => name)
  print(`on: other computers reach this one at ${plainText(where, 300)}`)
  print(`multicast ${view.multicast}${heard.length === 0 ? '' : ` on ${plainText(heard.join(', '), 200)}`}`)
  print(`UDP probe ${view.probe}`)
  print(`answers ${view.signed ? 'are signed, and only signed ones count' : 'are not signed'}`)
  if (view.peers.length === 0) print('no other AgentMux is seen')
  else {
    printTable(
      ['HOST', 'CHANNEL', 'VERSION', 'ADDRESS'],
      view.peers.map(({ hostname, channel, version, address, port }) =>
        [hostname, channel, version, `${address} ${port}`].map((cell) => plainText(cell, MAX_SHOWN) || '-')
      )
    )
    const more = view.peer_count - view.peers.length
    if (more > 0) print(`and ${more} more`)
  }
  for (const { seen, todo } of lanProblems(view)) say(todo === undefined ? seen : `${seen}. ${todo}`)
}
