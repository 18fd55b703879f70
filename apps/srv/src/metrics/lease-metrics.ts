/** What happens to leases, counted by the tier that decided it, and how those held here fare. */
import type { Clock } from '@agentmux/lease-model'
import type { Counter, Metrics } from './metrics.js'

/** `host`: this computer's own lease files, holds and instances. */
export const TIERS = ['host', 'lan', 'relay'] as const
export type Tier = (typeof TIERS)[number]

const COUNTED = {
  granted: 'Leases that were granted here.',
  denied: 'Starts that were refused because another instance drives the agent.',
  unknown: 'Starts that were refused because nobody could say who drives the agent.',
  reclaimed_expired: 'Grants in place of a lease that had run out.',
  reclaimed_dead: 'Grants in place of a lease whose holder was dead.',
  fenced: 'Running agents that were stopped because their lease was lost.',
  takeover: 'Agents that a person moved, to here or from here.',
  compat_probe_hit: 'Starts that were refused because an instance without leases runs the agent.'
} as const

export type LeaseEvent = keyof typeof COUNTED

/** A lease as the gauges see it. */
export interface MeasuredLease {
  readonly held: boolean
  /** Of the last good renewal, by the clock of the lease. */
  readonly renewedBootMs: number
}

export interface LeaseMetricsOptions {
  readonly held: () => Iterable<MeasuredLease>
  readonly clock: Clock
  /** Between two renewals of a lease, milliseconds. */
  readonly renewIntervalMs: number
}

export class LeaseMetrics {
  readonly #counters: ReadonlyMap<LeaseEvent, Counter<Tier>>

  constructor(metrics: Metrics, { held, clock, renewIntervalMs }: LeaseMetricsOptions) {
    this.#counters = new Map(
      Object.entries(COUNTED).map(([event, help]) => [
        event as LeaseEvent,
        metrics.counter({ name: `agentmux_lease_${event}_total`, help }, 'tier', TIERS)
      ])
    )
    metrics.gauge({ name: 'agentmux_lease_held', help: 'Leases that are held here now.' }, () => {
      let count = 0
      for (const lease of held()) if (lease.held) count++
      return count
    })
    const lag =
      'By how much the most overdue renewal of a lease held here is late, seconds; 0 while all are in time.'
    metrics.gauge({ name: 'agentmux_lease_renewal_lag_seconds', help: lag }, () => {
      const nowMs = clock.bootMs()
      let lagMs = 0
      for (const lease of held()) {
        if (lease.held) lagMs = Math.max(lagMs, nowMs - lease.renewedBootMs - renewIntervalMs)
      }
      return lagMs / 1_000
    })
  }

  count(event: LeaseEvent, tier: Tier): void {
    this.#counters.get(event)?.add(tier)
  }
}
