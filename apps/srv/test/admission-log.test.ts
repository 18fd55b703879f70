/** What panes tell, as counts and as lines that name both parties. */
import type { Holder } from '@agentmux/lease-model'
import { unnamedHolder } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { heldRefusal, leaseIoRefusal, lostRefusal } from '@agentmux/refusals'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { AdmissionLog } from '../src/daemon/admission-log.js'
import { LeaseMetrics } from '../src/metrics/lease-metrics.js'
import { Metrics } from '../src/metrics/metrics.js'
import type { PaneNotice } from '../src/panes/pane-notice.js'

const agent = { uid: '7c0e2f', name: 'Agent3' }
const blockId = 'block-1'
const claimant = { hostname: 'alpha', channel: 'stable', version: '1.0.0', pid: 7, ownerBootId: 'boot' }
const us = { hostname: 'alpha', channel: 'stable', version: '1.0.0', pid: 7 }
const other: Holder = { ...unnamedHolder('this-host'), hostname: 'alpha', channel: 'beta', pid: 9, epoch: 2 }

/** What a notice comes to. */
function told(notice: PaneNotice): { line: Record<string, unknown>; counted: string[] } {
  const lines: string[] = []
  const metrics = new Metrics()
  const clock = createManualClock()
  const admissions = new AdmissionLog({
    log: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }),
    metrics: new LeaseMetrics(metrics, { held: () => [], clock, renewIntervalMs: 5_000 }),
    claimant
  })
  admissions.note(notice)
  expect(lines).toHaveLength(1)
  const counted = [...metrics.text().matchAll(/^agentmux_lease_(\w+)_total{tier="(\w+)"} 1$/gm)]
  return { line: JSON.parse(lines[0] ?? ''), counted: counted.map(([, event, tier]) => `${event} ${tier}`) }
}

describe('a notice of panes', () => {
  test('of a grant counts, with whom it replaced', () => {
    const granted = { kind: 'granted', agent, blockId, epoch: 3 } as const
    expect(told(granted)).toMatchObject({
      counted: ['granted host'],
      line: { event: 'granted', agent, block_id: blockId, epoch: 3, to: us, replaced: null }
    })
    for (const why of ['dead', 'expired'] as const) {
      const { line, counted } = told({ ...granted, replaced: { why, holder: other } })
      expect(counted).toEqual(['granted host', `reclaimed_${why} host`])
      expect(line).toMatchObject({ replaced: { why, holder: other } })
    }
  })

  test('of a denial names who asked and who has the agent, and counts by tier', () => {
    const refusal = heldRefusal(agent, other, 0)
    const tiers = {
      lease: 'host',
      'handover-hold': 'host',
      claim: 'host',
      lan: 'lan',
      relay: 'relay'
    } as const
    for (const [by, tier] of Object.entries(tiers)) {
      const { line, counted } = told({ kind: 'denied', agent, by: by as keyof typeof tiers, refusal })
      expect(counted).toEqual([`denied ${tier}`])
      expect(line).toMatchObject({
        event: 'denied',
        agent,
        check: by,
        asked_by: us,
        holder: other,
        refusal: 'held'
      })
      expect(line.sentence).toBe(refusal.message)
    }
    expect(told({ kind: 'denied', agent, by: 'probe', refusal }).counted).toEqual([
      'denied host',
      'compat_probe_hit host'
    ])
  })

  test('that nobody knows is no denial', () => {
    const refusal = leaseIoRefusal(agent, { path: '/x', code: 'EIO', text: 'it cannot be read' })
    expect(told({ kind: 'unknown', agent, by: 'lease', refusal })).toMatchObject({
      counted: ['unknown host'],
      line: { event: 'unknown', holder: null, refusal: 'io' }
    })
  })

  test('of a fence names who had the agent and who has it, and counts for the tier that noticed', () => {
    for (const [place, tier] of [
      ['this-host', 'host'],
      ['lan', 'lan'],
      ['relay', 'relay']
    ] as const) {
      const holder = { ...other, place }
      const refusal = lostRefusal(agent, 'other-owner', 0, { holder })
      expect(told({ kind: 'fenced', agent, blockId, epoch: 1, refusal })).toMatchObject({
        counted: [`fenced ${tier}`],
        line: { event: 'fenced', agent, block_id: blockId, epoch: 1, was: us, holder }
      })
    }
  })

  test('of a take-over names both, in both directions', () => {
    const given = {
      kind: 'handed-over',
      agent,
      blockId,
      epoch: 1,
      toChannel: 'beta',
      toVersion: '2'
    } as const
    expect(told(given)).toMatchObject({
      counted: ['takeover host'],
      line: { event: 'handed-over', from: us, to: { channel: 'beta', version: '2' } }
    })
    const taken = { kind: 'taken-over', agent, blockId, epoch: 2, fromChannel: 'beta' } as const
    expect(told(taken)).toMatchObject({
      counted: ['takeover host'],
      line: { event: 'taken-over', from: { channel: 'beta' }, to: us }
    })
  })

  test('of a fault is an error with its cause, and counts as nothing', () => {
    const { line, counted } = told({ kind: 'fault', agent, blockId, fault: new Error('no space left') })
    expect(counted).toEqual([])
    expect(line).toMatchObject({ level: 50, event: 'fault', agent, err: { message: 'no space left' } })
  })
})
