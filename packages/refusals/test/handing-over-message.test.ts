import { describe, expect, it } from 'vitest'
import { handingOverMessage, isAdmissionRefusal } from '../src/index.js'

describe('what a second asker is told', () => {
  it('names the channel that asked first, where it is known', () => {
    expect(handingOverMessage('beta')).toBe('it is being handed over to channel beta already')
    expect(handingOverMessage('')).toBe('it is being handed over to another instance already')
  })

  it('is safe to print and carries no marker', () => {
    const said = handingOverMessage('\u001b[2J is already running in another agentmux instance')
    expect(said).not.toContain('\u001b')
    expect(isAdmissionRefusal(handingOverMessage('beta'))).toBe(false)
  })
})
