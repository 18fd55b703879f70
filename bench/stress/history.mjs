/**
 * Judges what many processes said of their claims. Every event has the time of the monotonic clock at which its call was
 * made (`invoked`) and at which it was answered (`at`), milliseconds. Nothing is counted that could have another reason:
 * a lease is taken to be valid only for as long as it certainly was.
 *
 * Events: granted {epoch, ttlMs}, renewed, held, releasing, released, lost, of a `claim`; refused {epoch}, by the holder
 * of that epoch; gone {process}: it was killed and has ended; fault {code}.
 */

/** Two processes read the boot clock this far apart. */
const CLOCK_SLACK_MS = 60

/** @returns one line for each thing that must not be */
export function violationsIn(events) {
  const violations = []
  for (const [key, ofKey] of groupedBy(events, 'key')) {
    if (key === undefined) continue
    const leases = leasesOf(ofKey, events)
    for (const rule of [onlyGrowing, oneAtATime, nothingTooEarly, releasesFinal, deadGiveWay]) {
      for (const text of rule(leases, ofKey)) violations.push(`${key}: ${text}`)
    }
  }
  for (const { what, code } of events) {
    // A process that was stopped inside the lock is named, after a while: that is no error of the store.
    if (what === 'fault' && code !== 'lock-timeout') violations.push(`a call failed: ${code}`)
  }
  return violations
}

/** Each claim that was granted, with until when it was certainly valid. */
function leasesOf(ofKey, events) {
  const goneAt = new Map(
    events.filter(({ what }) => what === 'gone').map((event) => [event.process, event.at])
  )
  const killedAt = new Map(
    events.filter(({ what }) => what === 'killing').map((event) => [event.process, event.at])
  )
  const leases = new Map()
  for (const event of ofKey) {
    if (event.what === 'granted') {
      leases.set(event.claim, { ...event, renewals: [], goneAt: goneAt.get(event.process) })
    }
  }
  for (const event of ofKey) {
    const lease = event.what === 'granted' ? undefined : leases.get(event.claim)
    if (lease === undefined) continue
    if (event.what === 'renewed') lease.renewals.push(event.invoked)
    if (['releasing', 'released', 'lost'].includes(event.what)) lease[event.what] ??= event
    if (event.what === 'held' || event.what === 'renewed') lease.lastHeld = event
  }
  for (const lease of leases.values()) {
    lease.expiresAt = Math.max(lease.invoked, ...lease.renewals) + lease.ttlMs
    lease.validUntil = Math.min(
      lease.expiresAt,
      lease.releasing?.at ?? Number.POSITIVE_INFINITY,
      lease.lost?.at ?? Number.POSITIVE_INFINITY,
      killedAt.get(lease.process) ?? Number.POSITIVE_INFINITY
    )
  }
  return [...leases.values()].sort((one, other) => one.at - other.at)
}

/** A claim that is made after another was granted gets a higher epoch, and none is given twice. */
function* onlyGrowing(leases) {
  const seen = new Map()
  for (const lease of leases) {
    const other = seen.get(lease.epoch)
    if (other !== undefined)
      yield `epoch ${lease.epoch} was given twice, to ${other.process} and ${lease.process}`
    seen.set(lease.epoch, lease)
  }
  let before = 0
  let highest = 0
  for (const lease of [...leases].sort((one, other) => one.invoked - other.invoked)) {
    for (; before < leases.length && leases[before].at <= lease.invoked; before++) {
      highest = Math.max(highest, leases[before].epoch)
    }
    // The same one again was told above.
    if (lease.epoch < highest) {
      yield `${lease.process} got epoch ${lease.epoch} after ${highest} had been given`
    }
  }
}

function* oneAtATime(leases) {
  for (const [index, lease] of leases.entries()) {
    for (const next of leases.slice(index + 1)) {
      if (next.at >= lease.validUntil - CLOCK_SLACK_MS) break
      yield `${next.process} got epoch ${next.epoch} while ${lease.process} held ${lease.epoch} for another ${Math.round(lease.validUntil - next.at)} ms`
    }
  }
}

/** A lease is lost only once it was not renewed for its TTL. */
function* nothingTooEarly(leases) {
  for (const { lost, released, expiresAt, process, epoch } of leases) {
    if (lost === undefined || released !== undefined || lost.at >= expiresAt - CLOCK_SLACK_MS) continue
    yield `${process} lost epoch ${epoch} ${Math.round(expiresAt - lost.at)} ms before its time`
  }
}

function* releasesFinal(leases, ofKey) {
  const released = new Map()
  for (const lease of leases) {
    if (lease.released === undefined) continue
    released.set(lease.epoch, lease.released.at)
    if (lease.lastHeld?.invoked > lease.released.at) {
      yield `${lease.process} still held epoch ${lease.epoch} after its release`
    }
  }
  for (const { what, epoch, invoked, process } of ofKey) {
    if (what === 'refused' && invoked > released.get(epoch)) {
      yield `${process} was refused by epoch ${epoch} after its release`
    }
  }
}

/** Whoever was killed refuses nobody. */
function* deadGiveWay(leases, ofKey) {
  const gone = new Map(
    leases.filter(({ goneAt }) => goneAt !== undefined).map((lease) => [lease.epoch, lease])
  )
  for (const { what, epoch, invoked, process } of ofKey) {
    const dead = what === 'refused' ? gone.get(epoch) : undefined
    if (dead !== undefined && invoked > dead.goneAt) {
      yield `${process} was refused by ${dead.process}, which was dead`
    }
  }
}

function groupedBy(events, field) {
  const groups = new Map()
  for (const event of events) {
    const group = groups.get(event[field])
    if (group === undefined) groups.set(event[field], [event])
    else group.push(event)
  }
  return groups
}
