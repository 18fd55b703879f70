/** What is tried again while somebody else has the file open, and for how long. */
import { describe, expect, it } from 'vitest'
import { despiteSharing } from '../src/sharing-violation.js'

/** Fails with `code` so many times, and says how often it was asked and how long was waited. */
function attempt(code: string, times: number, platform: NodeJS.Platform) {
  const seen = { tries: 0, waitedMs: 0, outcome: '' }
  const operation = () => {
    seen.tries++
    if (seen.tries <= times) throw Object.assign(new Error(code), { code })
    return 'done'
  }
  const pause = (ms: number) => {
    seen.waitedMs += ms
  }
  try {
    seen.outcome = despiteSharing(operation, { platform, pause })
  } catch (error) {
    seen.outcome = (error as Error).message
  }
  return seen
}

describe('a file that somebody else has open', () => {
  it.each(['EBUSY', 'EPERM', 'EACCES'])('on Windows (%s) is tried again until it is let go', (code) => {
    expect(attempt(code, 5, 'win32')).toEqual({ tries: 6, waitedMs: 31, outcome: 'done' })
  })

  it('is not tried for ever: the fault comes well within any TTL', () => {
    expect(attempt('EBUSY', 1_000, 'win32')).toEqual({ tries: 6, waitedMs: 31, outcome: 'EBUSY' })
  })

  it('elsewhere may only be busy: what is not allowed stays so, and is told at once', () => {
    expect(attempt('EBUSY', 2, 'linux')).toEqual({ tries: 3, waitedMs: 3, outcome: 'done' })
    for (const code of ['EACCES', 'EPERM', 'ENOSPC']) {
      expect(attempt(code, 1, 'linux')).toEqual({ tries: 1, waitedMs: 0, outcome: code })
    }
  })
})
