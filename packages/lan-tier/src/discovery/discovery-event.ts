/** What discovery tells whoever runs it, as data: sentences for people are made elsewhere. */
import type { Peer } from '../peers/peer.js'

export type DiscoveryFault =
  /** Multicast does not work on any interface; tried again at every reading of the interfaces. */
  | 'multicast-unavailable'
  /** One interface does not let us listen, or send. The others go on. */
  | 'interface-not-joined'
  | 'interface-not-sending'
  /** The probe's port could not be bound; mDNS goes on. */
  | 'probe-unavailable'
  | 'interfaces-unreadable'
  /** Another computer uses our name again and again; we keep the last one tried. */
  | 'name-contested'
  /** A packet got past every check and still confused us: a defect here, never a reason to stop. */
  | 'packet-mishandled'

export type DiscoveryEvent =
  | { readonly kind: 'peer-seen' | 'peer-changed' | 'peer-gone'; readonly peer: Peer }
  | {
      readonly kind: 'fault'
      readonly fault: DiscoveryFault
      readonly interface?: string
      readonly cause?: unknown
    }
  /** The fault of that kind, on that interface, is over. */
  | { readonly kind: 'recovered'; readonly fault: DiscoveryFault; readonly interface?: string }
  | { readonly kind: 'interfaces-changed'; readonly interfaces: readonly string[] }
  /** Our name on the network, after it was found to be free. */
  | { readonly kind: 'advertised'; readonly label: string; readonly host: string }
