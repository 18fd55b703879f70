/** What the protocol says about how often a steady herd asks: by route, in the mean, at least and at most. */
import type { Scale } from './scale-plan.js'

export interface Predicted {
  readonly route: string
  /** In the mean. */
  readonly about: number
  readonly least: number
  readonly most: number
}

/** A look at the others on the LAN: every 30 s, up to a tenth earlier, counted from the end of the one before. */
const LOOK_AFTER_MS = [27_000, 30_000] as const
/** What a look itself takes, with a late timer: both ways to the slowest of the others. */
const LOOK_TAKES_MS = 150
/** A tick at the relay, from begin to begin, and how late its timer may be. */
const TICK_MS = 20_000
const LATE_MS = 20

export function predictedRequests({ hosts, agents, tier, countedMs }: Scale): readonly Predicted[] {
  const busy = Math.min(hosts, agents)
  const [soonestMs, latestMs] = LOOK_AFTER_MS
  if (tier === 'lan') {
    const questions = busy * (hosts - 1)
    return [
      {
        route: 'POST /agentmux/agent/holdings',
        about: (questions * countedMs) / ((soonestMs + latestMs) / 2),
        least: questions * Math.floor(countedMs / (latestMs + LOOK_TAKES_MS)),
        most: questions * (Math.floor(countedMs / soonestMs) + 1)
      }
    ]
  }
  return [
    {
      route: 'POST /agents/lease/renew-batch',
      about: (busy * countedMs) / TICK_MS,
      least: busy * Math.floor(countedMs / (TICK_MS + LATE_MS)),
      most: busy * (Math.floor(countedMs / TICK_MS) + 1)
    }
  ]
}
