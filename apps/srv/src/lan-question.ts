/**
 * What the daemon of this channel, if one runs, knows of an agent on other computers: for whoever has no LAN of his own.
 * Bounded, and its silence is `unknown`, never free (R8).
 */
import { LAN_SILENCES, type LanSilence, lanAnswersMessage, plainText } from '@agentmux/refusals'
import * as z from 'zod/mini'
import { DaemonClient } from './client/daemon-client.js'
import { lookForDaemon } from './daemon/daemon-file.js'
import { PROGRAM } from './output.js'

export interface HolderOnLan {
  readonly place: 'lan'
  readonly hostname: string
  readonly channel: string
  readonly version: string
  readonly pid: number
  readonly acquiredAtMs: number
  readonly epoch: number
  readonly blockId: string
}

export interface LanSaid {
  readonly state: 'held' | 'free' | 'partly' | 'unknown' | 'off'
  /** Only where everybody who is known answered. */
  readonly sure: boolean
  /** For people. */
  readonly how: string
  readonly answered: number
  readonly silent: number
  readonly holder?: HolderOnLan
}

export interface LanQuestion {
  readonly uid: string
  readonly sharedRoot: string
  readonly channel: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

const MAX_TEXT = 256
const MAX_WHY = 300

const text = z.catch(z.string(), '')
const count = z.catch(z.number(), 0)
const silences = z.catch(z.array(z.object({ why: text })), [])
const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('off') }),
  z.object({
    kind: z.literal('held'),
    holder: z.object({ hostname: text, channel: text, version: text, acquiredAtMs: count })
  }),
  z.object({ kind: z.literal('free'), answered: count }),
  z.object({ kind: z.literal('partly'), answered: count, silent: silences }),
  z.object({ kind: z.literal('unknown'), silent: silences, because: text })
])

const NOTHING = { answered: 0, silent: 0 }

/** @throws the signal's reason when aborted. */
export async function askLanOfDaemon(question: LanQuestion): Promise<LanSaid> {
  const { uid, sharedRoot, channel, signal, timeoutMs } = question
  const look = lookForDaemon(sharedRoot, channel)
  if (look.kind !== 'found') {
    const how = `no daemon of channel ${plainText(channel, 64)} runs that could ask: \`${PROGRAM} serve --lan\` starts one`
    return { state: 'off', sure: false, how, ...NOTHING }
  }
  const client = new DaemonClient(look.daemon, 'the daemon of this channel does not listen any more')
  const path = `/api/v1/lan/holder?uid=${encodeURIComponent(uid)}`
  const said = await client.ask({ method: 'GET', path, signal, timeoutMs })
  if (said.kind === 'no-answer') return unknown(plainText(said.message, MAX_WHY))
  const result = said.status === 200 ? answer.safeParse(said.body) : undefined
  if (!result?.success) return unknown(`the daemon of this channel answered ${said.status}`)
  return lanSaidOf(uid, result.data)
}

function lanSaidOf(uid: string, said: z.output<typeof answer>): LanSaid {
  switch (said.kind) {
    case 'off':
      return { state: 'off', sure: false, how: `\`${PROGRAM} lan on\` turns it on`, ...NOTHING }
    case 'held': {
      const { hostname, channel, version, acquiredAtMs } = said.holder
      const [host, ofChannel, v] = [hostname, channel, version].map((one) => plainText(one, MAX_TEXT))
      const holder: HolderOnLan = {
        place: 'lan',
        hostname: host ?? '',
        channel: ofChannel ?? '',
        version: v ?? '',
        pid: 0,
        acquiredAtMs,
        epoch: 0,
        blockId: ''
      }
      return { state: 'held', sure: true, how: 'what its instance says', holder, answered: 1, silent: 0 }
    }
    case 'free': {
      const answers = { answered: said.answered, silent: 0 }
      const how = lanAnswersMessage({ uid }, answers)
      return { state: 'free', sure: said.answered > 0, how, ...answers }
    }
    case 'partly':
    case 'unknown': {
      const answers = { answered: 'answered' in said ? said.answered : 0, silent: said.silent.length }
      const because = reasonOf('because' in said ? [said.because] : said.silent.map(({ why }) => why))
      const how = lanAnswersMessage({ uid }, { ...answers, because })
      return { state: said.kind, sure: false, how, ...answers }
    }
  }
}

/** The one that all have in common. */
function reasonOf(reasons: readonly string[]): LanSilence {
  const [first] = reasons
  const isOne = reasons.every((each) => each === first)
  return LAN_SILENCES.find((known) => isOne && known === first) ?? 'mixed'
}

function unknown(how: string): LanSaid {
  return { state: 'unknown', sure: false, how, ...NOTHING }
}
