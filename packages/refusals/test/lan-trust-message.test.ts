import { describe, expect, it } from 'vitest'
import {
  isAdmissionRefusal,
  lanSecretFaultMessage,
  lanTrustWarning,
  lanUnsignedMessage
} from '../src/index.js'

describe('whom the LAN tier believes', () => {
  it('without a secret it says plainly what a stranger could do, and the way out', () => {
    const said = lanTrustWarning()
    expect(said).toMatch(/^No LAN secret is set: a stranger on this network could /)
    expect(said).toContain('stop those that run')
    expect(said).toContain('AGENTMUX_LAN_SECRET')
    expect(said).toContain('too old to sign are then not seen')
  })

  it('with one it says how many are not seen', () => {
    expect(lanUnsignedMessage(0)).toBeUndefined()
    expect(lanUnsignedMessage(Number.NaN)).toBeUndefined()
    expect(lanUnsignedMessage(1)).toMatch(/^1 peer on the network did not sign .+ it is not seen/)
    expect(lanUnsignedMessage(3)).toMatch(/^3 peers on the network did not sign .+ they are not seen/)
  })

  it('names the way out of a secret that is too short', () => {
    expect(lanSecretFaultMessage()).toContain('at least 16 bytes')
  })

  it('carries no marker', () => {
    for (const said of [lanTrustWarning(), lanUnsignedMessage(2), lanSecretFaultMessage()]) {
      expect(isAdmissionRefusal(said)).toBe(false)
    }
  })
})
