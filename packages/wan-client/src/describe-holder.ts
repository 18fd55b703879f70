/** A holder at the relay in a few words, the middle of a sentence (PROTOCOL.md 7). */
import type { Holder } from '@agentmux/lease-model'
import type { RelayIdentity } from './relay-identity.js'

/** `this computer, channel dev, v0.44.1`, or `computer barn, …`; what is not known is left out, empty if nothing is. */
export function holderFragment(holder: Holder, identity: RelayIdentity): string {
  const parts: string[] = []
  if (isOnThisComputer(holder, identity)) parts.push('this computer')
  else if (holder.hostname !== '') parts.push(`computer ${holder.hostname}`)
  if (holder.channel !== '') parts.push(`channel ${holder.channel}`)
  if (holder.version !== '') parts.push(`v${holder.version}`)
  return parts.join(', ')
}

/** By its host label, which is all there is: two computers may have the same. `unknown` is the label of those without. */
export function isOnThisComputer(holder: Holder, { host }: RelayIdentity): boolean {
  return holder.hostname === host && host !== 'unknown'
}
