/** `close`: ends the agent in a pane: the end of its input, the grace, then a kill. */
import { EXIT_CODES, plainText } from '@agentmux/refusals'
import type { CommonFlags } from '../compose.js'
import { print } from '../output.js'
import { fail } from '../report.js'
import { panePath } from './pane-path.js'
import { reportAnswer } from './report-answer.js'
import { withDaemon } from './with-daemon.js'

export interface CloseFlags extends CommonFlags {
  readonly block: string
  /** Milliseconds; the daemon's own unless given. */
  readonly graceMs: number | undefined
}

/** Beyond the grace. */
const TIMEOUT_MS = 60_000

export function close(flags: CloseFlags): Promise<number> {
  const { block, graceMs } = flags
  return withDaemon(flags, async (client, signal) => {
    const answer = await client.ask({
      method: 'POST',
      path: panePath(block, 'close'),
      body: { grace_ms: graceMs },
      signal,
      timeoutMs: TIMEOUT_MS + (graceMs ?? 0)
    })
    if (answer.kind !== 'answered' || answer.status !== 200) return reportAnswer(flags, answer)
    const { remaining } = answer.body
    if (Array.isArray(remaining) && remaining.length > 0) {
      if (flags.json) print(JSON.stringify(answer.body))
      else fail(flags, EXIT_CODES.heldElsewhere, `these would not end: ${remaining.map(named).join(', ')}`)
      return EXIT_CODES.heldElsewhere
    }
    if (flags.json) print(JSON.stringify(answer.body))
    return 0
  })
}

function named(process: unknown): string {
  const { pid, command } = { ...(process as { readonly pid?: unknown; readonly command?: unknown }) }
  return `pid ${Number(pid)} (${plainText(command, 60)})`
}
