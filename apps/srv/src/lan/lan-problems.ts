/** What stands in the way of seeing other computers, or of believing them, and what to do about it: for `lan` and `doctor`. */
import { lanTrustWarning, lanUnsignedMessage, plainText } from '@agentmux/refusals'
import type { LanView } from './lan-view.js'

export interface LanProblem {
  readonly seen: string
  readonly todo?: string
}

const MAX_WHY = 200
const NO_MULTICAST =
  'A container, a VPN, a firewall or a missing permission may stand in the way; in a container, use the network of the host.'
const NO_ROUTE =
  'The network does not lead there: look at the firewall, the VPN, and the permission for the local network.'

/** None while it is off. */
export function lanProblems(view: LanView): LanProblem[] {
  if (!view.enabled) return []
  const { addresses, multicast, probe, signed, unsigned } = view
  const why = plainText(view.why ?? '', MAX_WHY)
  const because = why === '' ? '' : ` (${why})`
  const problems: LanProblem[] = []
  if (addresses.length === 0) {
    const seen = 'no other computer can reach this one: no address of it can be listened at'
    problems.push({ seen, todo: 'Connect it to a network; the addresses are read again every 20 s.' })
  }
  if (multicast === 'unavailable') {
    const todo = /EHOSTUNREACH|ENETUNREACH/.test(why) ? NO_ROUTE : NO_MULTICAST
    problems.push({ seen: `multicast does not work${because}: others are hardly found`, todo })
  }
  if (probe === 'unavailable') {
    const seen = `the UDP probe cannot be answered${because}: computers without multicast do not find this one`
    problems.push({
      seen,
      todo: 'Another program, or another AgentMux, may have UDP port 47891; mDNS goes on.'
    })
  }
  if (!signed) problems.push({ seen: lanTrustWarning() })
  const notSigned = lanUnsignedMessage(unsigned)
  if (notSigned !== undefined) {
    const todo = 'Set AGENTMUX_LAN_SECRET to the same text on every computer, and start the daemons anew.'
    problems.push({ seen: notSigned, todo })
  }
  return problems
}
