import { describe, expect, it } from 'vitest'
import { staysHeldMessage } from '../src/index.js'

describe('why an agent stays held', () => {
  it('names what did not end', () => {
    expect(staysHeldMessage([{ pid: 7, command: 'sleep 600' }])).toBe(
      'the agent stays held until its lease runs out, because these did not end: pid 7 (sleep 600)'
    )
  })

  it('names a few, and nothing that a terminal would obey', () => {
    const many = Array.from({ length: 9 }, (_, index) => ({ pid: index, command: `a\u001b[31m${index}` }))
    const text = staysHeldMessage(many)
    expect(text).toContain('a process of unknown pid (a')
    expect(text).toMatch(/, and 4 more$/)
    expect(text).not.toMatch(/\p{Cc}/u)
  })

  it('does without a name', () => {
    expect(staysHeldMessage([])).toBe(
      'the agent stays held until its lease runs out, as it could not be given back'
    )
  })
})
