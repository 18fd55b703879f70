/**
 * Who on the network holds which agents: every peer asked at once, one question each, within one time-out for all. What
 * peers say is data from strangers: bounded in size, number and time, and evidence only where the protocol says so.
 */
import { type Clock, leaseHostname } from '@agentmux/lease-model'
import type { Peer } from '../peers/peer.js'
import type { Question } from '../tie-break/resolve-contests.js'
import { type AskablePeer, askablePeers } from './askable-peers.js'
import type { LanLook, SilentBecause } from './lan-look.js'
import type { LanSecret } from './lan-secret.js'
import { LocalNetwork, type LocalNetworkOptions } from './local-network.js'
import { looksOf } from './looks-of.js'
import { oneRound, withLimit } from './one-round.js'
import type { OwnLease } from './own-lease.js'
import { PeerMemories } from './peer-memory.js'
import { PeerPools } from './peer-pools.js'
import { type PeerAnswers, questionPeer } from './question-peer.js'
import { questionsByPeer } from './questions-by-peer.js'

/** By the protocol. */
export const HOLDING_TIMEOUT_MS = 1_500

export interface LanHoldingsOptions extends LocalNetworkOptions {
  readonly peers: () => readonly Peer[]
  /** This computer's host name. */
  readonly hostname: string
  /** What this process holds of an agent; undefined if nothing. */
  readonly ownLease: (uid: string) => OwnLease | undefined
  readonly clock: Clock
  /** With one, only answers signed with it count; older builds are then not seen. */
  readonly secret?: LanSecret | undefined
  /** For all peers together, milliseconds; 1,500 unless given. */
  readonly timeoutMs?: number
}

/** Peers asked at the same moment: more would be more sockets than a process can count on. */
const SLOTS = 256
const MAX_UID_LENGTH = 1_024
const MAX_TIMEOUT_MS = 10_000
/** Another of its addresses may answer where one of them leads nowhere, or to somebody else. */
const TRY_ANOTHER_ADDRESS: readonly SilentBecause[] = [
  'timed-out',
  'refused',
  'unreachable',
  'broken',
  'unauthorized',
  'too-old'
]

export class LanHoldings {
  readonly #options: LanHoldingsOptions
  readonly #hostname: string
  readonly #network: LocalNetwork
  readonly #pools = new PeerPools()
  readonly #memories = new PeerMemories()
  readonly #closing = new AbortController()
  #unsigned = 0

  /** @throws RangeError for a time-out that is none. */
  constructor(options: LanHoldingsOptions) {
    const { timeoutMs = HOLDING_TIMEOUT_MS } = options
    if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
      throw new RangeError(`timeoutMs must be from 1 to ${MAX_TIMEOUT_MS}, not ${timeoutMs}`)
    }
    this.#options = options
    this.#hostname = leaseHostname(options.hostname)
    this.#network = new LocalNetwork(options)
  }

  /** How many peers did not count in the last round to everybody because they did not sign; 0 without a secret. */
  get unsigned(): number {
    return this.#unsigned
  }

  /**
   * Everything that is known of one agent on the network, now.
   *
   * @throws TypeError or RangeError for what cannot be a UID; the signal's reason when aborted; an Error after `close`.
   */
  async lanHolders(uid: string, signal?: AbortSignal): Promise<LanLook> {
    const looks = await this.ask([{ uid }], signal)
    return looks.get(uid) ?? { holders: [], answered: 0, silent: [] }
  }

  /**
   * The same for many agents: one question to each peer, however many they are, to all peers at once or, where a question
   * names some, to those. One look for each UID. Errors as `lanHolders`.
   */
  async ask(questions: readonly Question[], signal?: AbortSignal): Promise<Map<string, LanLook>> {
    signal?.throwIfAborted()
    if (this.#closing.signal.aborted) throw new Error('the LAN holdings are closed')
    for (const { uid } of questions) checkUid(uid)
    const memories = this.#memories.recall(this.#options.peers())
    const asked = questionsByPeer(questions, memories.keys())
    const { askable, left } = askablePeers(memories, this.#network.reach())
    this.#pools.keepOnly(
      askable.flatMap(({ peer, addresses }) => addresses.map((address) => ({ address, port: peer.port })))
    )
    const answers = new Map<Peer, PeerAnswers>()
    for (const [peer, why] of left) answers.set(peer, { holdings: new Map(), why })
    const jobs = askable.flatMap((each) => {
      const uids = asked.get(each.peer)
      if (uids === undefined) return []
      return [
        async (ofJob: AbortSignal, limitMs: number) => {
          answers.set(each.peer, await this.#askOne(each, uids, { signal: ofJob, limitMs }))
        }
      ]
    })
    const { clock, timeoutMs = HOLDING_TIMEOUT_MS } = this.#options
    const signals = [this.#closing.signal, ...(signal === undefined ? [] : [signal])]
    await oneRound(jobs, { clock, timeoutMs, slots: SLOTS, signals })
    if (questions.some(({ peers }) => peers === undefined)) this.#count(answers)
    const { ownLease } = this.#options
    return looksOf(questions, answers, { peers: memories.keys(), ownLease, hostname: this.#hostname })
  }

  /** Ends the connections and whatever is being asked. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the LAN holdings are closed'))
    await this.#pools.close()
  }

  /** Its addresses one after the other, until one answers. */
  async #askOne(
    { peer, memory, addresses }: AskablePeer,
    uids: readonly string[],
    { signal, limitMs }: { signal: AbortSignal; limitMs: number }
  ): Promise<PeerAnswers> {
    const { clock, secret } = this.#options
    let answers: PeerAnswers = { holdings: new Map(), why: 'timed-out' }
    for (const address of addresses) {
      const pool = this.#pools.pool(address, peer.port)
      const ports = { pool, secret, memory, key: peer.authKey }
      answers = await withLimit((ofAddress) => questionPeer(uids, { ...ports, signal: ofAddress }), {
        clock,
        signal,
        limitMs: limitMs / addresses.length
      })
      memory.answered = answers.holdings.size > 0
      if (memory.answered) memory.address = address.host
      if (memory.answered || signal.aborted || !TRY_ANOTHER_ADDRESS.includes(answers.why)) break
    }
    return answers
  }

  #count(answers: ReadonlyMap<Peer, PeerAnswers>): void {
    const unsigned = ({ holdings, why }: PeerAnswers) => holdings.size === 0 && why === 'unsigned'
    this.#unsigned = [...answers.values()].filter(unsigned).length
  }
}

function checkUid(uid: string): void {
  if (typeof uid !== 'string') throw new TypeError(`an agent UID must be a string, not ${typeof uid}`)
  if (uid === '' || uid.length > MAX_UID_LENGTH || /\p{Cs}/u.test(uid)) {
    throw new RangeError(`an agent UID has 1 to ${MAX_UID_LENGTH} characters and no half of one`)
  }
}
