/** Turns questions about agents into what each peer is asked: all that concerns it in one. */
import type { Peer } from '../peers/peer.js'
import type { Question } from '../tie-break/resolve-contests.js'
import { nameKey, peerName } from './peer-name.js'

/** The UIDs that each peer is asked about; a peer that none is for is not in it. */
export function questionsByPeer(
  questions: readonly Question[],
  peers: Iterable<Peer>
): Map<Peer, readonly string[]> {
  const ofEverybody: string[] = []
  const ofSome = new Map<string, string[]>()
  for (const { uid, peers: only } of questions) {
    if (only === undefined) ofEverybody.push(uid)
    for (const name of only ?? []) {
      const uids = ofSome.get(nameKey(name))
      if (uids) uids.push(uid)
      else ofSome.set(nameKey(name), [uid])
    }
  }
  const asked = new Map<Peer, readonly string[]>()
  for (const peer of peers) {
    const uids = [...ofEverybody, ...(ofSome.get(nameKey(peerName(peer))) ?? [])]
    if (uids.length > 0) asked.set(peer, uids)
  }
  return asked
}
