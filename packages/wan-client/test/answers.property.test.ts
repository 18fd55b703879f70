/** Whatever a relay sends: the parsers never throw, and what they let through is what they promise. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { agentKey } from '../src/agent-key.js'
import { batchRows, grantedEpoch, holderStateOf, refusedBy } from '../src/answers.js'
import { acknowledgedIds, injectedId, pendingMessages } from '../src/message-answers.js'
import { MAX_PAUSE_MS, retryAfterMs } from '../src/retry-after.js'

const KEYS = [
  'ok',
  'epoch',
  'error',
  'held_by',
  'host',
  'channel',
  'version',
  'acquired_at',
  'results',
  'agent_id',
  'state',
  'injections',
  'id',
  'message',
  'acknowledged',
  'success',
  'injection_id',
  '__proto__',
  'constructor',
  'toString'
]
const leaf = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom<unknown>(
    true,
    false,
    null,
    'held_by_other',
    'not_holder',
    'free',
    'other',
    0,
    -1,
    1.5,
    2 ** 60,
    '\u0000\u001b[31m'
  )
)
/** Shapes near the real ones, through JSON as they come from the wire: `__proto__` is a key there. */
const noise = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 6 }).map((pairs) => {
      const text = pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
      return JSON.parse(`{${text.join(',')}}`) as unknown
    })
  )
})).value

it('noise never throws and never becomes more than it says', () => {
  fc.assert(
    fc.property(noise, (body) => {
      const epoch = grantedEpoch(body)
      if (epoch !== undefined) {
        expect(Number.isSafeInteger(epoch) && epoch >= 0).toBe(true)
        expect(Object.hasOwn(body as object, 'ok') && (body as { ok: unknown }).ok).toBe(true)
      }
      for (const row of batchRows(body) ?? []) {
        expect(agentKey(row.key)).toBe(row.key)
        if (row.kind === 'elsewhere') expectClean(row.holder)
      }
      const refused = refusedBy(body)
      if (refused?.kind === 'elsewhere') expectClean(refused.holder)
      const state = holderStateOf(body)
      if (state?.kind === 'other') expectClean(state.holder)
      for (const message of pendingMessages(body) ?? []) {
        expect(message.id).not.toBe('')
        expect(typeof message.message + typeof message.sourceAgent).toBe('stringstring')
      }
      for (const id of acknowledgedIds(body, ['1']) ?? []) expect(id).toBe('1')
      expect(['string', 'undefined']).toContain(typeof injectedId(body))
    }),
    { numRuns: 2_000 }
  )
  expect(({} as { ok?: unknown }).ok).toBeUndefined()
})

it('names of holders are safe to print, whatever they were', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.anything(), (text, at) => {
      const refused = refusedBy({ held_by: { host: text, channel: text, version: text, acquired_at: at } })
      if (refused?.kind !== 'elsewhere') throw new Error('not read')
      expectClean(refused.holder)
    })
  )
})

it('Retry-After is bounded and never a guess', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        fc.nat().map(String)
      ),
      (header) => {
        const ms = retryAfterMs(header, Date.UTC(2026, 0, 1))
        if (ms !== undefined) expect(ms >= 0 && ms <= MAX_PAUSE_MS).toBe(true)
      }
    )
  )
  for (const header of [
    undefined,
    '',
    '-1',
    '1.5',
    '2026-01-01',
    'soon',
    '1e3',
    'Thu, 99 Jan 2026 00:00:00 GMT'
  ]) {
    expect(retryAfterMs(header, 0), String(header)).toBeUndefined()
  }
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:09 GMT', Date.UTC(2026, 0, 1))).toBe(9_000)
  expect(retryAfterMs('Thu, 01 Jan 1970 00:00:00 GMT', Date.UTC(2026, 0, 1))).toBe(0)
})

function expectClean({
  hostname,
  channel,
  version,
  acquiredAtMs
}: {
  hostname: string
  channel: string
  version: string
  acquiredAtMs: number
}) {
  for (const text of [hostname, channel, version]) expect(text).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u)
  expect(hostname.length).toBeLessThanOrEqual(253)
  expect(Math.max(channel.length, version.length)).toBeLessThanOrEqual(64)
  expect(Number.isSafeInteger(acquiredAtMs) && acquiredAtMs >= 0).toBe(true)
}
