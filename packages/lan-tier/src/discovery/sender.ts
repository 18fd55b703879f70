/** How the parts of discovery send: to the group on a link in each family that works there, or back to one asker. */
import type { DnsMessage } from './dns-message.js'
import type { Link } from './links.js'
import type { Family } from './multicast-socket.js'

export interface Sender {
  toLink(message: DnsMessage, link: Link, family?: Family): void
  toAsker(message: DnsMessage, asker: { address: string; port: number; family: Family }): void
}
