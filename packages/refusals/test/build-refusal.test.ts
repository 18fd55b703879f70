import { describe, expect, it } from 'vitest'
import {
  deniedMessage,
  heldRefusal,
  lanDeniedMessage,
  leaseIoMessage,
  leaseIoRefusal,
  lockStuckRefusal,
  lostMessage,
  lostRefusal,
  MAX_PROCESSES,
  processesRemainMessage,
  processesRemainRefusal,
  takenOverMessage,
  takenOverRefusal,
  unknownMessage,
  unknownRefusal,
  waitRanOutMessage,
  waitRanOutRefusal,
  wanDeniedMessage
} from '../src/index.js'
import { agent, atRelay, here, NOW_MS, nameless, onLan } from './example.js'

describe('a refusal as data', () => {
  it.each([
    [here, deniedMessage],
    [onLan, lanDeniedMessage],
    [atRelay, wanDeniedMessage]
  ])('held: has the sentence of the holder’s place, exit code 75', (holder, say) => {
    expect(heldRefusal(agent, holder, NOW_MS, { retryAfterMs: 1_000, actions: ['wait'] })).toEqual({
      kind: 'held',
      agent,
      holder,
      message: say(agent, holder, NOW_MS, { actions: ['wait'] }),
      exitCode: 75,
      retryAfterMs: 1_000
    })
  })

  it('taken over: exit code 75 for a newcomer, 76 where it was running', () => {
    const options = { retryAfterMs: 28_400 }
    const expected = {
      kind: 'taken-over',
      agent,
      holder: here,
      message: takenOverMessage(agent, here, NOW_MS, options),
      retryAfterMs: 28_400
    }
    expect(takenOverRefusal(agent, here, NOW_MS, options)).toEqual({ ...expected, exitCode: 75 })
    const running = takenOverRefusal(agent, here, NOW_MS, { ...options, wasRunning: true })
    expect(running).toEqual({ ...expected, exitCode: 76 })
    expect(takenOverRefusal(agent, undefined, NOW_MS)).not.toHaveProperty('holder')
  })

  it('lost: says why, exit code 76', () => {
    expect(lostRefusal(agent, 'other-owner', NOW_MS, { holder: onLan })).toEqual({
      kind: 'lost',
      agent,
      reason: 'other-owner',
      holder: onLan,
      message: lostMessage(agent, 'other-owner', NOW_MS, { holder: onLan }),
      exitCode: 76
    })
  })

  it('unknown: says how long to watch, exit code 69', () => {
    expect(unknownRefusal(nameless, 15_000, NOW_MS, { reason: 'unreadable' })).toEqual({
      kind: 'unknown',
      agent: nameless,
      retryAfterMs: 15_000,
      reason: 'unreadable',
      message: unknownMessage(nameless, 15_000, NOW_MS, { reason: 'unreadable' }),
      exitCode: 69
    })
  })

  it('io: names path and code, exit code 69', () => {
    const fault = { path: '/leases', code: 'EROFS', text: 'read-only file system' }
    expect(leaseIoRefusal(agent, fault)).toEqual({
      kind: 'io',
      agent,
      path: '/leases',
      code: 'EROFS',
      message: leaseIoMessage(agent, fault),
      exitCode: 69
    })
    expect(leaseIoRefusal(agent, { ...fault, code: '' })).not.toHaveProperty('code')
  })

  it('io: also for a lock that is not given back', () => {
    const refusal = lockStuckRefusal(agent, '/leases/a.lock', { retryAfterMs: 500 })
    expect(refusal).toMatchObject({ kind: 'io', path: '/leases/a.lock', exitCode: 69, retryAfterMs: 500 })
  })

  it('processes remain: lists them up to a bound, exit code 75', () => {
    const one = { pid: 9, command: 'sh', because: 'survived' } as const
    expect(processesRemainRefusal(agent, [one])).toEqual({
      kind: 'processes-remain',
      agent,
      processes: [one],
      message: processesRemainMessage(agent, [one]),
      exitCode: 75
    })
    const many = processesRemainRefusal(agent, Array(500).fill(one))
    expect(many.processes).toHaveLength(MAX_PROCESSES)
    expect(many.message).toContain('and 495 more')
  })

  it('wait ran out: says how long, exit code 124', () => {
    expect(waitRanOutRefusal(agent, 30_000, NOW_MS, { holder: here })).toEqual({
      kind: 'wait-ran-out',
      agent,
      waitedMs: 30_000,
      holder: here,
      message: waitRanOutMessage(agent, 30_000, NOW_MS, { holder: here }),
      exitCode: 124
    })
  })

  it('carries only what is safe to print, and whole numbers', () => {
    const refusal = heldRefusal(
      { uid: '7c0e', name: ' \u001b[31m ' },
      { ...here, hostname: 'mi\nll', pid: -1, acquiredAtMs: Number.NaN, epoch: 1.5 },
      NOW_MS,
      { retryAfterMs: Number.POSITIVE_INFINITY }
    )
    expect(refusal).toMatchObject({
      agent: { uid: '7c0e' },
      holder: { hostname: 'mi ll', pid: 0, acquiredAtMs: 0, epoch: 2 },
      retryAfterMs: 0
    })
    expect(refusal.agent).not.toHaveProperty('name')
  })
})
