/** The daemon of this channel: its file, and whether it answers to the key in it. The key is not shown (R16). */
import { plainText } from '@agentmux/refusals'
import { DaemonClient } from '../client/daemon-client.js'
import { notBelieved, OTHER_CHANNEL, START_DAEMON, sharedFile } from '../daemon/about-daemon.js'
import { lookForDaemon } from '../daemon/daemon-file.js'
import type { Check } from './check.js'

const name = 'daemon'
const TIMEOUT_MS = 5_000
const START = `Start it with ${START_DAEMON}.`

export async function checkDaemon(sharedRoot: string, channel: string, version: string): Promise<Check> {
  const look = lookForDaemon(sharedRoot, channel)
  if (look.kind === 'missing') {
    return { name, level: 'ok', seen: `none runs for channel ${plainText(channel, 64)}; run needs none` }
  }
  if (look.kind === 'ignored') {
    return { name, level: 'warn', seen: notBelieved(sharedRoot, channel, look.why), todo: look.wayOut }
  }
  if (look.kind === 'other-channel') {
    return { name, level: 'warn', seen: sharedFile(look.daemon, channel), todo: OTHER_CHANNEL }
  }
  const { url, pid } = look.daemon
  const where = `${url} (pid ${pid})`
  const client = new DaemonClient(look.daemon, `nothing listens at ${where}`)
  const signal = new AbortController().signal
  const answer = await client.ask({ method: 'GET', path: '/api/v1/agents', signal, timeoutMs: TIMEOUT_MS })
  if (answer.kind === 'no-answer') {
    return {
      name,
      level: 'fail',
      seen: plainText(answer.message, 300),
      todo: `End it if it still runs. ${START}`
    }
  }
  if (answer.status !== 200) {
    const why = answer.status === 401 ? 'does not know the key in its file' : `answered ${answer.status}`
    return {
      name,
      level: 'fail',
      seen: `who answers at ${where} ${why}: another program, most likely`,
      todo: START
    }
  }
  const count = Array.isArray(answer.body.agents) ? answer.body.agents.length : 0
  if (look.daemon.version !== version) {
    const seen = `it answers at ${where}, but is v${plainText(look.daemon.version, 32)} and this v${version}`
    return { name, level: 'warn', seen, todo: 'Start it anew when its agents can be ended.' }
  }
  return { name, level: 'ok', seen: `it answers at ${where}, ${count} pane${count === 1 ? '' : 's'}` }
}
