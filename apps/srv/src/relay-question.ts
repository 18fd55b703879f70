/**
 * What the daemon of this channel, if one runs, knows of an agent at the relay: for whoever has no relay of his own. Bounded,
 * and its silence is `unknown`, never free (R8).
 */
import type { Holder } from '@agentmux/lease-model'
import { plainText } from '@agentmux/refusals'
import * as z from 'zod/mini'
import { DaemonClient } from './client/daemon-client.js'
import { lookForDaemon } from './daemon/daemon-file.js'
import { PROGRAM } from './output.js'

export interface RelaySaid {
  readonly state: 'held' | 'free' | 'unknown' | 'off'
  /** The relay itself has said so, just now. */
  readonly sure: boolean
  /** For people. */
  readonly how: string
  /** The daemon that was asked holds it. */
  readonly ours?: true
  readonly holder?: Holder
}

export interface RelayQuestion {
  readonly uid: string
  /** The relay knows agents by name; absent, that of the daemon's pane of the agent. */
  readonly name?: string | undefined
  readonly sharedRoot: string
  readonly channel: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

const MAX_WHY = 300
const text = z.catch(z.string(), '')
const view = z.object({ enabled: z.boolean(), instance: text, token_problem: text, url: text })
const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['off', 'free', 'yours']) }),
  z.object({ kind: z.literal('unknown'), why: text }),
  z.object({
    kind: z.literal('other'),
    holder: z.object({ hostname: text, channel: text, version: text, acquiredAtMs: z.catch(z.number(), 0) })
  })
])
const panes = z.object({
  agents: z.array(z.object({ uid: text, agent: text, state: text }))
})

/** @throws the signal's reason when aborted. */
export async function askRelayOfDaemon(question: RelayQuestion): Promise<RelaySaid> {
  const { uid, sharedRoot, channel, signal, timeoutMs } = question
  const look = lookForDaemon(sharedRoot, channel)
  if (look.kind !== 'found') {
    return off(
      `no daemon of channel ${plainText(channel, 64)} runs that could ask: \`${PROGRAM} serve --relay URL\` starts one`
    )
  }
  const client = new DaemonClient(look.daemon, 'the daemon of this channel does not listen any more')
  const ask = async (path: string) => {
    const said = await client.ask({ method: 'GET', path, signal, timeoutMs })
    if (said.kind === 'no-answer') return { why: plainText(said.message, MAX_WHY) }
    return said.status === 200
      ? { body: said.body }
      : { why: `the daemon of this channel answered ${said.status}` }
  }
  const asked = await ask('/api/v1/relay')
  const state = view.safeParse(asked.body)
  if (!state.success) return unknown(asked.why ?? 'the daemon of this channel does not say')
  if (!state.data.enabled) return off(`\`${PROGRAM} serve --relay URL\` turns it on`)
  const name = question.name ?? nameIn((await ask('/api/v1/agents')).body, uid)
  if (name === undefined) return unknown('the relay knows agents by their name: give it with --agent NAME')
  const said = await ask(`/api/v1/relay/holder?agent=${encodeURIComponent(name)}`)
  const result = answer.safeParse(said.body)
  if (!result.success) return unknown(said.why ?? 'the daemon of this channel does not say')
  return relaySaidOf(result.data, { name, ...state.data })
}

function relaySaidOf(
  said: z.output<typeof answer>,
  { name, instance, token_problem: problem }: { name: string; instance: string; token_problem: string }
): RelaySaid {
  const shown = plainText(name, 64)
  switch (said.kind) {
    case 'off':
      return off(`\`${PROGRAM} serve --relay URL\` turns it on`)
    case 'free':
      return { state: 'free', sure: true, how: `nobody holds the name ${shown} there` }
    case 'yours': {
      const how = `the name ${shown} is held for the daemon of this channel (${plainText(instance, 128)})`
      return { state: 'held', sure: true, how, ours: true }
    }
    case 'other': {
      const { hostname, channel, version, acquiredAtMs } = said.holder
      const holder: Holder = {
        place: 'relay',
        hostname: plainText(hostname, 253),
        channel: plainText(channel, 64),
        version: plainText(version, 64),
        pid: 0,
        acquiredAtMs,
        epoch: 0,
        blockId: ''
      }
      return { state: 'held', sure: true, how: `what it says of the name ${shown}`, holder }
    }
    case 'unknown':
      return unknown(
        said.why === 'no-token' && problem !== ''
          ? problem
          : `it gave no answer that counts (${plainText(said.why, 64)})`
      )
  }
}

/** The newest pane of the agent that may still run; else the newest of all. */
function nameIn(body: unknown, uid: string): string | undefined {
  const parsed = panes.safeParse(body)
  const named = parsed.success ? parsed.data.agents.filter((one) => one.uid === uid && one.agent !== '') : []
  return (named.filter(({ state }) => state === 'running').at(-1) ?? named.at(-1))?.agent
}

function off(how: string): RelaySaid {
  return { state: 'off', sure: false, how }
}

function unknown(how: string): RelaySaid {
  return { state: 'unknown', sure: false, how }
}
