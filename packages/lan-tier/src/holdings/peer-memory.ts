/** What is remembered of a peer from one round of questions to the next; forgotten with the peer. */
import type { Peer } from '../peers/peer.js'

export interface PeerMemory {
  /** It does not know the question for many agents. */
  older: boolean
  /** It has signed an answer with our secret. */
  proven: boolean
  /** It answered the last time. */
  answered: boolean
  /** Its address that answered last. */
  address: string
  /** Where the single questions to an older build go on, so that with many agents each has its turn. */
  nextQuestion: number
}

export class PeerMemories {
  #memories = new Map<string, PeerMemory>()

  /** Of these peers; all others are forgotten. The key is new at every launch, so a newer build is not taken for the old one. */
  recall(peers: readonly Peer[]): Map<Peer, PeerMemory> {
    const kept = new Map<string, PeerMemory>()
    const recalled = new Map<Peer, PeerMemory>()
    for (const peer of peers) {
      const key = JSON.stringify([peer.instanceId, peer.address, peer.port, peer.authKey])
      const memory = kept.get(key) ?? this.#memories.get(key) ?? newMemory()
      kept.set(key, memory)
      recalled.set(peer, memory)
    }
    this.#memories = kept
    return recalled
  }

  get size(): number {
    return this.#memories.size
  }
}

function newMemory(): PeerMemory {
  return { older: false, proven: false, answered: false, address: '', nextQuestion: 0 }
}
