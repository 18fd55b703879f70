import { describe, expect, it } from 'vitest'
import { unknownMessage } from '../src/index.js'
import { agent, here, NOW_MS } from './example.js'

const tail =
  '. Only watching the lease for 15 s can tell. `agentmux-srv run --uid 7c0e -- CMD…`, without -n, watches that long and starts it if nothing moves.'

describe('the sentence when only watching can tell', () => {
  it.each([
    ['unreadable', 'its lease cannot be read'],
    ['another-host', 'its lease was written on another host'],
    ['another-clock', 'its lease was written before a restart or by another clock'],
    ['older-build', 'its lease was written by an older build'],
    [undefined, 'its lease does not tell']
  ] as const)('says why, for how long, and how: %s', (reason, why) => {
    expect(unknownMessage(agent, 15_000, NOW_MS, { reason })).toBe(
      `Whether Agent3 is still driven could not be found out: ${why}${tail}`
    )
  })

  it('names whom the lease names', () => {
    expect(unknownMessage(agent, 15_000, NOW_MS, { reason: 'older-build', holder: here })).toBe(
      `Whether Agent3 is still driven could not be found out: its lease was written by an older build; it names a holder on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min)${tail}`
    )
  })

  it('leaves out watching where the caller cannot', () => {
    expect(unknownMessage(agent, 14_001, NOW_MS, { actions: ['end'] })).toMatch(
      /the lease for 15 s can tell\.$/
    )
  })
})
