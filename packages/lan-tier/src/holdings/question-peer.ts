/**
 * Asks one peer about any number of agents: all in one question where it knows that, one by one where it is older. With a
 * secret it has to sign an empty question first: no UID goes to whoever only advertises.
 */

import { type AskPeerPorts, askPeer, type PeerReply } from './ask-peer.js'
import type { Holding } from './holding.js'
import { parseHolding, parseHoldings } from './holding.js'
import type { SilentBecause } from './lan-look.js'
import type { PeerMemory } from './peer-memory.js'

/** What a batch question may ask for, by the protocol. */
export const MAX_UIDS_PER_QUESTION = 1_000
/** To an older build in one round; the rest have their turn in the next. */
const MAX_SINGLE_QUESTIONS = 128
/** A host name, two labels and a hash at their longest. */
const MAX_HOLDING_BYTES = 1_024

export interface PeerAnswers {
  readonly holdings: Map<string, Holding>
  /** Why the others are missing. */
  readonly why: SilentBecause
}

export interface QuestionPorts extends AskPeerPorts {
  readonly key: string
  readonly memory: PeerMemory
}

export async function questionPeer(uids: readonly string[], ports: QuestionPorts): Promise<PeerAnswers> {
  const { memory, secret } = ports
  if (secret !== undefined && !memory.proven) {
    const proof = await batch([], ports)
    if (proof.kind === 'silent') return { holdings: new Map(), why: proof.why }
    memory.proven = true
  }
  if (memory.older) return questionOlder(uids, ports)
  const holdings = new Map<string, Holding>()
  for (let at = 0; at < uids.length; at += MAX_UIDS_PER_QUESTION) {
    const asked = uids.slice(at, at + MAX_UIDS_PER_QUESTION)
    const reply = await batch(asked, ports)
    if (reply.kind === 'no-route') {
      memory.older = true
      return questionOlder(uids, ports)
    }
    if (reply.kind === 'silent') return { holdings, why: reply.why }
    const read = parseHoldings(reply.value, asked)
    if (read === undefined) return { holdings, why: 'bad-answer' }
    for (const [uid, holding] of read) holdings.set(uid, holding)
  }
  return { holdings, why: 'bad-answer' }
}

function batch(uids: readonly string[], { key, ...ports }: QuestionPorts): Promise<PeerReply> {
  const maxBytes =
    4 * MAX_HOLDING_BYTES + uids.reduce((sum, uid) => sum + MAX_HOLDING_BYTES + 6 * uid.length, 0)
  const path = '/agentmux/agent/holdings'
  return askPeer({ method: 'POST', path, key, body: { uids }, maxBytes }, ports)
}

/** One after the other. What does not answer one question is not asked the next. */
async function questionOlder(
  uids: readonly string[],
  { key, memory, ...ports }: QuestionPorts
): Promise<PeerAnswers> {
  const holdings = new Map<string, Holding>()
  const first = memory.nextQuestion % Math.max(1, uids.length)
  const inTurn = [...uids.slice(first), ...uids.slice(0, first)].slice(0, MAX_SINGLE_QUESTIONS)
  for (const uid of inTurn) {
    const path = `/agentmux/agent/holding?uid=${encodeURIComponent(uid)}`
    const reply = await askPeer({ method: 'GET', path, key, maxBytes: 4 * MAX_HOLDING_BYTES }, ports)
    if (reply.kind === 'no-route') {
      // Neither question: it may have been another program all along, or a newer build that was starting.
      memory.older = false
      return { holdings, why: 'too-old' }
    }
    if (reply.kind === 'silent') return { holdings, why: reply.why }
    const holding = parseHolding(reply.value)
    if (holding === undefined) return { holdings, why: 'bad-answer' }
    holdings.set(uid, holding)
    memory.nextQuestion = (first + holdings.size) % uids.length
  }
  return { holdings, why: 'not-asked' }
}
