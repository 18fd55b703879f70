/** What a run came to, in figures. */

export function summaryOf(events) {
  const count = (what) => events.filter((event) => event.what === what).length
  const grants = events.filter(({ what }) => what === 'granted')
  const stops = new Set(events.filter(({ what }) => what === 'stopping').map(({ process }) => process))
  // Who was stopped while it waited waited for that.
  const waits = grants.filter(({ process }) => !stops.has(process)).map(({ at, sinceMs }) => at - sinceMs)
  return {
    operations: events.filter(({ invoked }) => invoked !== undefined).length,
    grants: grants.length,
    holders: new Set(grants.map(({ process }) => process)).size,
    'of older builds': grants.filter(({ process }) => process.startsWith('older')).length,
    refused: count('refused'),
    renewed: count('renewed'),
    released: count('released'),
    lost: events.filter(({ what, claim }, index) => what === 'lost' && !wasReleased(events, index, claim))
      .length,
    'lock time-outs': events.filter(({ what, code }) => what === 'fault' && code === 'lock-timeout').length,
    'longest wait, ms': Math.round(Math.max(0, ...waits))
  }
}

function wasReleased(events, index, claim) {
  return events.slice(0, index).some((event) => event.what === 'releasing' && event.claim === claim)
}
