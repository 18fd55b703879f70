import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { freshNonce, LanSecret, MIN_LAN_SECRET_BYTES, signAnswer, verifyAnswer } from '../src/index.js'

const text = 'correct horse battery'
const secret = new LanSecret(text)
const answer = { nonce: 'ab'.repeat(16), path: '/agentmux/agent/holding?uid=7c0e', body: '{"held":false}' }

describe('a LAN secret', () => {
  it('has a minimum length, and what is wrong with it is said without saying it', () => {
    expect(() => new LanSecret('short')).toThrow(RangeError)
    expect(() => new LanSecret('short')).not.toThrow(/short/)
    expect(() => new LanSecret('é'.repeat(MIN_LAN_SECRET_BYTES / 2))).not.toThrow()
    expect(() => new LanSecret(undefined as unknown as string)).toThrow(TypeError)
  })

  it('is not printed', () => {
    const printed = [inspect({ secret }), JSON.stringify({ secret }), String(secret)].join()
    expect(printed).not.toContain(text)
    expect(printed).not.toContain(Buffer.from(text).toString('hex'))
  })
})

describe('a signature', () => {
  it('is the HMAC-SHA-256 of nonce, path with query and exact body, each on its own line', () => {
    const expected = createHmac('sha256', text).update(`${answer.nonce}\n${answer.path}\n${answer.body}`)
    expect(signAnswer(secret, answer)).toBe(expected.digest('hex'))
  })

  it('is valid for exactly what was signed', () => {
    const signature = signAnswer(secret, answer)
    expect(verifyAnswer(secret, answer, signature)).toBe(true)
    expect(verifyAnswer(secret, { ...answer, body: Buffer.from(answer.body) }, signature)).toBe(true)
    expect(verifyAnswer(secret, answer, signature?.toUpperCase())).toBe(true)
    const others = [
      { ...answer, nonce: freshNonce() },
      { ...answer, path: '/agentmux/agent/holding?uid=7c0f' },
      { ...answer, body: '{"held":false} ' }
    ]
    for (const other of others) expect(verifyAnswer(secret, other, signature)).toBe(false)
    expect(verifyAnswer(new LanSecret(`${text}!`), answer, signature)).toBe(false)
  })

  it.each([undefined, '', 'zz', 'ab'.repeat(31), 'ab'.repeat(33), ['ab'.repeat(32)], 42])(
    'is none: %j',
    (signature) => {
      expect(verifyAnswer(secret, answer, signature)).toBe(false)
    }
  )

  it('is not made over a nonce that is none', () => {
    for (const nonce of ['', 'ab', 'zz'.repeat(16), `${'ab'.repeat(16)}\n`]) {
      expect(signAnswer(secret, { ...answer, nonce })).toBeUndefined()
    }
  })

  it('has a nonce of its own for every request', () => {
    const nonces = new Set(Array.from({ length: 100 }, freshNonce))
    expect(nonces.size).toBe(100)
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/)
  })
})
