/** Where and what a holder is, as the second half of a sentence: everything known, nothing made up for what is not. */
import type { Holder, Place } from '@agentmux/lease-model'
import { heldForText } from './duration-text.js'
import { withOnlyMarker } from './only-marker.js'
import { isPid } from './pid-text.js'
import { plainText } from './plain-text.js'

const HOST_LENGTH = 64
const LABEL_LENGTH = 32

/** `on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min)`. `nowMs`: our wall clock, Unix milliseconds. */
export function holderText(holder: Holder, nowMs: number): string {
  const details = holderDetails(holder, nowMs)
  const known = details.length > 0 ? details.join(', ') : 'nothing more is known'
  return withOnlyMarker(`${placeText(holder.place)} (${known})`)
}

function placeText(place: Place): string {
  switch (place) {
    case 'this-host':
      return 'on this host'
    case 'lan':
      return 'on another computer on your network'
    case 'relay':
      return 'on another computer, according to the relay'
  }
}

function holderDetails(holder: Holder, nowMs: number): string[] {
  const host = plainText(holder.hostname, HOST_LENGTH)
  const channel = plainText(holder.channel, LABEL_LENGTH)
  const version = plainText(holder.version, LABEL_LENGTH)
  const heldFor = heldForText(holder.acquiredAtMs, nowMs)
  const details: string[] = []
  if (host) details.push(`host ${host}`)
  if (channel) details.push(`channel ${channel}`)
  if (version) details.push(/^\d/.test(version) ? `v${version}` : version)
  if (isPid(holder.pid)) details.push(`pid ${holder.pid}`)
  if (heldFor) details.push(heldFor)
  return details
}
