import { describe, expect, it } from 'vitest'
import { marksIn } from '../src/claim-mark.js'

const environment = (...entries: string[]) => Buffer.from(entries.map((entry) => `${entry}\0`).join(''))

describe('the marks in an environment', () => {
  it('are found wherever they stand', () => {
    expect(marksIn(environment('AGENTMUX_CLAIM_ID=a', 'PATH=/bin'))).toEqual(['a'])
    expect(marksIn(environment('PATH=/bin', 'AGENTMUX_CLAIM_ID=a'))).toEqual(['a'])
    expect(marksIn(Buffer.from('PATH=/bin\0AGENTMUX_CLAIM_ID=a'))).toEqual(['a'])
  })

  it('are all of them, where a variable is set twice', () => {
    expect(marksIn(environment('AGENTMUX_CLAIM_ID=a', 'HOME=/', 'AGENTMUX_CLAIM_ID=b'))).toEqual(['a', 'b'])
  })

  it('are whole values of that variable only', () => {
    expect(marksIn(environment('PATH=/bin'))).toEqual([])
    expect(marksIn(environment('OLD_AGENTMUX_CLAIM_ID=a'))).toEqual([])
    expect(marksIn(environment('NOTE=AGENTMUX_CLAIM_ID=a'))).toEqual([])
    expect(marksIn(environment('AGENTMUX_CLAIM_IDS=a'))).toEqual([])
    expect(marksIn(environment('AGENTMUX_CLAIM_ID=abc'))).toEqual(['abc'])
    expect(marksIn(environment('AGENTMUX_CLAIM_ID='))).toEqual([''])
    expect(marksIn(Buffer.alloc(0))).toEqual([])
  })
})
