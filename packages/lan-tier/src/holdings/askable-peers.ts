/**
 * Which peers are asked, where, and in which order. Whoever floods the network with records can make us ask no more than
 * a bounded number of addresses, and comes after those that answered before and those that were here earlier.
 */
import type { Peer } from '../peers/peer.js'
import type { SilentBecause } from './lan-look.js'
import type { LocalAddress } from './local-network.js'
import type { PeerMemory } from './peer-memory.js'

/** In one round. */
export const MAX_ASKED_PEERS = 512
/** On one computer: so many instances at most. Others can advertise any address as theirs. */
export const MAX_ASKED_PER_ADDRESS = 64
const MAX_ADDRESSES = 4
const MAX_LISTED_ADDRESSES = 16
/** What a header value may hold; the protocol allows 256 bytes. */
const KEY = /^[\x21-\x7e]{1,256}$/

export interface AskablePeer {
  readonly peer: Peer
  readonly memory: PeerMemory
  /** Not empty; the likeliest first. */
  readonly addresses: readonly LocalAddress[]
}

export interface AskablePeers {
  readonly askable: readonly AskablePeer[]
  /** The others, and why. */
  readonly left: ReadonlyMap<Peer, SilentBecause>
}

export function askablePeers(
  memories: ReadonlyMap<Peer, PeerMemory>,
  reach: (address: string) => LocalAddress | undefined
): AskablePeers {
  const left = new Map<Peer, SilentBecause>()
  const askable: AskablePeer[] = []
  const perAddress = new Map<string, number>()
  for (const [peer, memory] of inOrder(memories)) {
    const addresses = addressesOf(peer, memory, reach)
    const [first] = addresses
    const why = whyNot(peer, first)
    if (why !== undefined || first === undefined) {
      left.set(peer, why ?? 'not-local')
      continue
    }
    const onAddress = (perAddress.get(first.host) ?? 0) + 1
    if (askable.length >= MAX_ASKED_PEERS || onAddress > MAX_ASKED_PER_ADDRESS) {
      left.set(peer, 'not-asked')
      continue
    }
    perAddress.set(first.host, onAddress)
    askable.push({ peer, memory, addresses })
  }
  return { askable, left }
}

function whyNot(
  { authKey, port, address }: Peer,
  first: LocalAddress | undefined
): SilentBecause | undefined {
  if (address === '' || !KEY.test(authKey)) return 'bad-record'
  if (!Number.isInteger(port) || port < 1_024 || port > 65_535) return 'bad-record'
  return first === undefined ? 'not-local' : undefined
}

function inOrder(memories: ReadonlyMap<Peer, PeerMemory>): [Peer, PeerMemory][] {
  return [...memories].sort(
    ([a, ofA], [b, ofB]) => Number(ofB.answered) - Number(ofA.answered) || a.firstSeenMs - b.firstSeenMs
  )
}

function addressesOf(
  { address, addresses }: Peer,
  memory: PeerMemory,
  reach: (address: string) => LocalAddress | undefined
): LocalAddress[] {
  const local = new Map<string, LocalAddress>()
  for (const each of [address, ...addresses.slice(0, MAX_LISTED_ADDRESSES)]) {
    const found = reach(each)
    if (found !== undefined) local.set(found.host, found)
    if (local.size === MAX_ADDRESSES) break
  }
  const answeredLast = local.get(memory.address)
  const others = Array.from(local.values()).filter((each) => each !== answeredLast)
  return answeredLast === undefined ? others : [answeredLast, ...others]
}
