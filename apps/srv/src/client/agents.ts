/** `agents`: the panes of the running daemon, those that have ended included. */
import type { CommonFlags } from '../compose.js'
import { print } from '../output.js'
import { printTable } from '../table.js'
import { PANE_COLUMNS, paneRow, supersededBy } from './pane-row.js'
import { reportAnswer } from './report-answer.js'
import { withDaemon } from './with-daemon.js'

const TIMEOUT_MS = 10_000

export function agents(flags: CommonFlags): Promise<number> {
  return withDaemon(flags, async (client, signal) => {
    const answer = await client.ask({ method: 'GET', path: '/api/v1/agents', signal, timeoutMs: TIMEOUT_MS })
    const panes = answer.kind === 'answered' && answer.status === 200 ? answer.body.agents : undefined
    if (!Array.isArray(panes)) return reportAnswer(flags, answer)
    if (flags.json) {
      print(JSON.stringify({ agents: panes }, undefined, 2))
      return 0
    }
    if (panes.length === 0) {
      print('No pane is open in this daemon.')
      return 0
    }
    const nowMs = Date.now()
    printTable(
      PANE_COLUMNS,
      panes.map((pane) => paneRow(pane, nowMs))
    )
    for (const why of panes.map(supersededBy)) if (why) print(why)
    return 0
  })
}
