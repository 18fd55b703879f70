import { describe, expect, it } from 'vitest'
import { ourselvesAndAncestors } from '../src/ancestors.js'
import { userOf } from '../src/process-table.js'
import { whyNotSignal } from '../src/signal-permission.js'

const us = process.geteuid?.() ?? 0

describe('a process that carries the claim', () => {
  it('may be signalled if it is ours', () => {
    expect(whyNotSignal({ pid: 4242, uid: us }, new Set())).toBeUndefined()
  })

  it('may not if it is of another user, or of one that cannot be told', () => {
    expect(whyNotSignal({ pid: 4242, uid: us + 1 }, new Set())).toBe('another-user')
    expect(whyNotSignal({ pid: 4242, uid: -1 }, new Set())).toBe('another-user')
  })

  it('may not if it is pid 1, a group, ourselves or what started us, whoever owns it', () => {
    for (const pid of [1, 0, -1, -4242]) expect(whyNotSignal({ pid, uid: us }, new Set())).toBe('protected')
    const untouchable = ourselvesAndAncestors()
    for (const pid of [1, process.pid, process.ppid]) {
      expect(whyNotSignal({ pid, uid: us }, untouchable)).toBe('protected')
    }
  })
})

it.runIf(process.platform === 'linux')('the user of a process is the one it runs as', () => {
  expect(userOf(process.pid)).toBe(us)
  expect(userOf(2 ** 22)).toBe(-1)
})
