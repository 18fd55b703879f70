/** What is counted, in the words of Prometheus. */
import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, test } from 'vitest'
import { LeaseMetrics, type MeasuredLease } from '../src/metrics/lease-metrics.js'
import { Metrics } from '../src/metrics/metrics.js'

describe('metrics', () => {
  test('show every series from the start, and count up', () => {
    const metrics = new Metrics()
    const counter = metrics.counter({ name: 'things_total', help: 'Things.' }, 'tier', ['host', 'lan'])
    const zero = '# HELP things_total Things.\n# TYPE things_total counter\n'
    expect(metrics.text()).toBe(`${zero}things_total{tier="host"} 0\nthings_total{tier="lan"} 0\n`)
    counter.add('lan')
    counter.add('lan')
    expect(metrics.text()).toBe(`${zero}things_total{tier="host"} 0\nthings_total{tier="lan"} 2\n`)
  })

  test('grow by no label that was not declared', () => {
    const metrics = new Metrics()
    const counter = metrics.counter({ name: 'things_total', help: 'Things.' }, 'tier', ['host'])
    counter.add('other' as 'host')
    expect(metrics.text()).not.toContain('other')
    expect(() => metrics.gauge({ name: 'things_total', help: 'Again.' }, () => 1)).toThrow(TypeError)
  })

  test('escape what a label holds', () => {
    const metrics = new Metrics()
    metrics.gauges({ name: 'g', help: 'G.' }, () => [[{ label: 'a"b\\c\nd' }, 1]])
    expect(metrics.text()).toContain('g{label="a\\"b\\\\c\\nd"} 1\n')
  })

  test('of leases are those that were agreed on, by tier', () => {
    const metrics = new Metrics()
    const leases = new LeaseMetrics(metrics, {
      held: () => [],
      clock: createManualClock(),
      renewIntervalMs: 5_000
    })
    leases.count('denied', 'relay')
    const names = metrics.text().match(/^agentmux_\w+(?=[ {])/gm) ?? []
    expect([...new Set(names)]).toEqual([
      'agentmux_lease_granted_total',
      'agentmux_lease_denied_total',
      'agentmux_lease_unknown_total',
      'agentmux_lease_reclaimed_expired_total',
      'agentmux_lease_reclaimed_dead_total',
      'agentmux_lease_fenced_total',
      'agentmux_lease_takeover_total',
      'agentmux_lease_compat_probe_hit_total',
      'agentmux_lease_held',
      'agentmux_lease_renewal_lag_seconds'
    ])
    expect(metrics.text()).toContain('agentmux_lease_denied_total{tier="relay"} 1\n')
    expect(metrics.text()).toContain('agentmux_lease_denied_total{tier="host"} 0\n')
  })

  test('say how late the latest renewal is, of what is held', async () => {
    const clock = createManualClock()
    const metrics = new Metrics()
    const held: MeasuredLease[] = []
    new LeaseMetrics(metrics, { held: () => held, clock, renewIntervalMs: 5_000 })
    held.push({ held: true, renewedBootMs: clock.bootMs() }, { held: false, renewedBootMs: 0 })
    await clock.advance(4_000)
    expect(metrics.text()).toContain('agentmux_lease_renewal_lag_seconds 0\n')
    expect(metrics.text()).toContain('agentmux_lease_held 1\n')
    held.push({ held: true, renewedBootMs: clock.bootMs() })
    await clock.advance(3_500)
    expect(metrics.text()).toContain('agentmux_lease_renewal_lag_seconds 2.5\n')
  })
})
