/** `send`: one turn to the agent in a pane. Says nothing where it was taken. */
import { readFileSync } from 'node:fs'
import type { CommonFlags } from '../compose.js'
import { print } from '../output.js'
import { panePath } from './pane-path.js'
import { reportAnswer } from './report-answer.js'
import { withDaemon } from './with-daemon.js'

export interface SendFlags extends CommonFlags {
  readonly block: string
  /** `-`: what stands on stdin. */
  readonly text: string
}

const STDIN = 0
const TIMEOUT_MS = 30_000

export function send(flags: SendFlags): Promise<number> {
  return withDaemon(flags, async (client, signal) => {
    const text = flags.text === '-' ? readFileSync(STDIN, 'utf8') : flags.text
    const answer = await client.ask({
      method: 'POST',
      path: panePath(flags.block, 'turns'),
      body: { text },
      signal,
      timeoutMs: TIMEOUT_MS
    })
    if (answer.kind !== 'answered' || answer.status !== 200) return reportAnswer(flags, answer)
    if (flags.json) print(JSON.stringify(answer.body))
    return 0
  })
}
