/** Turns what the peers answered into one look for each agent. Keeps true that every peer asked is in it, as answered or silent. */
import type { Peer } from '../peers/peer.js'
import type { Question } from '../tie-break/resolve-contests.js'
import type { Holding } from './holding.js'
import type { LanHolder, LanLook, PeerName, SilentPeer } from './lan-look.js'
import { contenderOf, isOwnLease, type OwnLease } from './own-lease.js'
import { nameKey, peerName } from './peer-name.js'
import type { PeerAnswers } from './question-peer.js'

export interface LooksPorts {
  /** All that are known, asked or not. */
  readonly peers: Iterable<Peer>
  readonly ownLease: (uid: string) => OwnLease | undefined
  /** This computer's, as in a lease. */
  readonly hostname: string
}

/** What one peer said, or that it said nothing. */
interface Heard {
  readonly name: PeerName
  readonly holdings: ReadonlyMap<string, Holding>
  readonly silence: SilentPeer
}

export function looksOf(
  questions: readonly Question[],
  answers: ReadonlyMap<Peer, PeerAnswers>,
  { peers, ownLease, hostname }: LooksPorts
): Map<string, LanLook> {
  const heard = new Map<string, Heard>()
  for (const peer of peers) {
    const name = peerName(peer)
    const { holdings = NOTHING, why = 'timed-out' } = answers.get(peer) ?? {}
    heard.set(nameKey(name), { name, holdings, silence: { peer: name, why } })
  }
  const looks = new Map<string, LanLook>()
  for (const { uid, peers: only } of questions) {
    const lease = ownLease(uid)
    const ours = lease && contenderOf(lease)
    const asked =
      only === undefined ? heard.values() : only.map((name) => heard.get(nameKey(name)) ?? gone(name))
    const holders: LanHolder[] = []
    const silent: SilentPeer[] = []
    let answered = 0
    for (const { name, holdings, silence } of asked) {
      const holding = holdings.get(uid)
      if (holding === undefined) {
        silent.push(silence)
        continue
      }
      answered++
      if (holding.kind === 'held' && !isOwnLease(holding, ours, hostname))
        holders.push(lanHolder(holding, name))
    }
    looks.set(uid, { holders, answered, silent })
  }
  return looks
}

const NOTHING: ReadonlyMap<string, Holding> = new Map()

function gone(name: PeerName): Heard {
  return { name, holdings: NOTHING, silence: { peer: name, why: 'gone' } }
}

function lanHolder(
  { hostname, channel, version, acquiredAtMs, claim, yielding }: Extract<Holding, { kind: 'held' }>,
  peer: PeerName
): LanHolder {
  const unknown = { pid: 0, epoch: 0, blockId: '' }
  return { place: 'lan', hostname, channel, version, ...unknown, acquiredAtMs, claim, yielding, peer }
}
