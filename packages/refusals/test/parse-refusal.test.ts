import { describe, expect, it } from 'vitest'
import {
  heldRefusal,
  isAdmissionRefusal,
  leaseIoRefusal,
  lostRefusal,
  parseRefusal,
  processesRemainRefusal,
  refusalToJson,
  takenOverRefusal,
  unknownRefusal,
  waitRanOutRefusal
} from '../src/index.js'
import { agent, here, NOW_MS, nameless } from './example.js'

const held = heldRefusal(agent, here, NOW_MS)
const io = leaseIoRefusal(agent, { path: '/leases', code: 'EIO', text: 'i/o error' })
const lost = lostRefusal(agent, 'other-owner', NOW_MS, { holder: here })
const unknown = unknownRefusal(nameless, 15_000, NOW_MS, { reason: 'unreadable' })
const remain = processesRemainRefusal(agent, [{ pid: 9, command: 'sh', because: 'survived' }])
const takenOver = takenOverRefusal(agent, undefined, NOW_MS, { retryAfterMs: 30_000 })
const ranOut = waitRanOutRefusal(agent, 30_000, NOW_MS, { holder: here })
const all = [held, io, lost, unknown, remain, takenOver, ranOut]

describe('a refusal as JSON', () => {
  it.each(all)('comes back equal, as text and as value: $kind', (refusal) => {
    expect(parseRefusal(refusalToJson(refusal))).toStrictEqual(refusal)
    expect(parseRefusal(JSON.parse(JSON.stringify(refusal)))).toStrictEqual(refusal)
  })

  it('is one line with known keys only', () => {
    const json = refusalToJson({ ...held, secret: 'x' } as typeof held)
    expect(json).not.toContain('\n')
    expect(Object.keys(JSON.parse(json)).sort()).toEqual(['agent', 'exitCode', 'holder', 'kind', 'message'])
  })

  it('is never written of something that could not be read back', () => {
    expect(() => refusalToJson({ ...held, exitCode: 0 })).toThrow(TypeError)
    expect(() => refusalToJson(heldRefusal({ uid: 'a\u0000b' }, here, NOW_MS))).toThrow(TypeError)
  })
})

describe('reading a refusal from elsewhere', () => {
  it('drops unknown keys at every level, and keys of another kind', () => {
    const wire = { ...held, x: 1, path: 7, agent: { ...agent, x: 1 }, holder: { ...here, x: { y: 1 } } }
    expect(parseRefusal(wire)).toStrictEqual(held)
    expect(parseRefusal({ ...io, holder: 'nobody', processes: 3 })).toStrictEqual(io)
    expect(parseRefusal({ ...lost, retryAfterMs: 'soon' })).toStrictEqual(lost)
  })

  it.each([
    undefined,
    null,
    true,
    7,
    '',
    'null',
    '[]',
    '{"kind":"held"',
    'held',
    [],
    [held],
    {},
    () => held,
    new Map(Object.entries(held)),
    Object.create(held),
    JSON.parse(`{"__proto__":${JSON.stringify(held)}}`),
    `${' '.repeat(300_000)}${JSON.stringify(held)}`
  ])('refuses what is none: %#', (value) => {
    expect(parseRefusal(value)).toBeUndefined()
  })

  it.each([
    ['an unknown kind', { ...held, kind: 'granted' }],
    ['a kind from Object.prototype', { ...held, kind: 'constructor' }],
    ['no agent', { ...held, agent: undefined }],
    ['an agent without UID', { ...held, agent: { name: 'A' } }],
    ['an empty UID', { ...held, agent: { uid: '' } }],
    ['a UID with a control character', { ...held, agent: { uid: 'a\u001b[2J' } }],
    ['a UID without end', { ...held, agent: { uid: 'x'.repeat(1_025) } }],
    ['a name of the wrong type', { ...held, agent: { uid: 'a', name: 7 } }],
    ['a null name', { ...held, agent: { uid: 'a', name: null } }],
    ['no holder', { ...held, holder: undefined }],
    ['a null holder', { ...lost, holder: null }],
    ['a place that is none', { ...held, holder: { ...here, place: 'moon' } }],
    ['a host of the wrong type', { ...held, holder: { ...here, hostname: ['mill'] } }],
    ['a pid of the wrong type', { ...held, holder: { ...here, pid: '4242' } }],
    ['a negative pid', { ...held, holder: { ...here, pid: -1 } }],
    ['half a pid', { ...held, holder: { ...here, pid: 1.5 } }],
    ['an epoch beyond what doubles hold', { ...held, holder: { ...here, epoch: 2 ** 53 } }],
    ['a missing start', { ...held, holder: { ...here, acquiredAtMs: undefined } }],
    ['a missing pane', { ...held, holder: { ...here, blockId: undefined } }],
    ['no message', { ...held, message: undefined }],
    ['an empty message', { ...io, message: '' }],
    ['a message of nothing visible', { ...io, message: '\u001b[2J\u200b' }],
    ['a held message without its marker', { ...held, message: 'Agent3 is busy.' }],
    ['a lost message with the marker of another kind', { ...lost, message: held.message }],
    ['exit code 0, which means success', { ...held, exitCode: 0 }],
    ['an exit code that no process can have', { ...held, exitCode: 256 }],
    ['an exit code of the wrong type', { ...held, exitCode: '75' }],
    ['a retry time of the wrong type', { ...held, retryAfterMs: '1000' }],
    ['no retry time where it is needed', { ...unknown, retryAfterMs: undefined }],
    ['a reason that is none', { ...unknown, reason: 'other-owner' }],
    ['a loss without reason', { ...lost, reason: undefined }],
    ['no path', { ...io, path: undefined }],
    ['a code of the wrong type', { ...io, code: 5 }],
    ['processes that are no array', { ...remain, processes: { 0: { pid: 1 } } }],
    ['a process that is none', { ...remain, processes: [null] }],
    [
      'a process that remains for no known reason',
      { ...remain, processes: [{ pid: 9, command: '', because: 'x' }] }
    ],
    ['no waiting time', { ...ranOut, waitedMs: undefined }]
  ])('refuses %s', (_what, wire) => {
    expect(parseRefusal(wire)).toBeUndefined()
  })

  it('cleans and caps every string, so that it can be printed', () => {
    const wire = {
      ...held,
      agent: { uid: '7c0e', name: `\u001b]0;x\u0007${'n'.repeat(500)}` },
      message: `\u001b[2J${held.message}\r\n${'m'.repeat(10_000)}`,
      holder: {
        ...here,
        hostname: `\u0000${'h'.repeat(999)}`,
        channel: 'c'.repeat(999),
        version: 'v'.repeat(999)
      }
    }
    const refusal = parseRefusal(wire)
    expect(refusal).toMatchObject({ agent: { name: `${'n'.repeat(127)}…` } })
    expect(refusal).toMatchObject({
      holder: {
        hostname: `${'h'.repeat(252)}…`,
        channel: `${'c'.repeat(63)}…`,
        version: `${'v'.repeat(63)}…`
      }
    })
    expect(refusal?.message.startsWith('Agent3 is already running')).toBe(true)
    expect(refusal?.message).toHaveLength(4_096)
  })

  it('lets no message of another host turn a retry into a take-over', () => {
    for (const retry of [io, unknown, remain]) {
      const refusal = parseRefusal({ ...retry, message: held.message })
      expect(refusal?.kind).toBe(retry.kind)
      expect(isAdmissionRefusal(refusal?.message)).toBe(false)
    }
  })

  it('reads no more processes than it writes', () => {
    const process = { pid: 9, command: 'sh', because: 'survived' }
    expect(parseRefusal({ ...remain, processes: Array(100_000).fill(process) })).toMatchObject({
      processes: Array(32).fill(process)
    })
  })

  it('accepts an exit code it does not know, from a later build', () => {
    expect(parseRefusal({ ...held, exitCode: 77 })).toMatchObject({ exitCode: 77 })
  })
})
