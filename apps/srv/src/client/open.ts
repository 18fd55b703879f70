/** `open`: a pane in the running daemon. Prints its block id. */
import type { AgentRef } from '@agentmux/lease-model'
import type { CommonFlags } from '../compose.js'
import { print } from '../output.js'
import { reportAnswer } from './report-answer.js'
import { withDaemon } from './with-daemon.js'

export interface OpenFlags extends CommonFlags {
  readonly agent: AgentRef
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly command: readonly string[]
}

/** The holder before may have to be waited for, and its processes to be ended. */
const TIMEOUT_MS = 120_000

export function open(flags: OpenFlags): Promise<number> {
  const { agent, cwd, environment, command } = flags
  return withDaemon(flags, async (client, signal) => {
    const body = { uid: agent.uid, agent: agent.name, command, cwd, env: environment }
    const answer = await client.ask({
      method: 'POST',
      path: '/api/v1/agents',
      body,
      signal,
      timeoutMs: TIMEOUT_MS
    })
    if (answer.kind !== 'answered' || answer.status !== 201) return reportAnswer(flags, answer)
    print(flags.json ? JSON.stringify(answer.body) : String(answer.body.block_id))
    return 0
  })
}
