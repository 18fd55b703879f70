import { unnamedHolder } from '@agentmux/lease-model'
import { describe, expect, it } from 'vitest'
import { holderText } from '../src/index.js'
import { here, NOW_MS } from './example.js'

const bare = unnamedHolder('this-host')

describe('the description of a holder', () => {
  it('leaves out what is unknown', () => {
    expect(holderText(bare, NOW_MS)).toBe('on this host (nothing more is known)')
    expect(holderText({ ...bare, pid: 7 }, NOW_MS)).toBe('on this host (pid 7)')
    expect(holderText({ ...bare, channel: 'dev', acquiredAtMs: NOW_MS }, NOW_MS)).toBe(
      'on this host (channel dev, just started)'
    )
  })

  it('puts one v before a version number', () => {
    expect(holderText({ ...bare, version: 'v1.2' }, NOW_MS)).toBe('on this host (v1.2)')
    expect(holderText({ ...bare, version: 'nightly' }, NOW_MS)).toBe('on this host (nightly)')
  })

  it('strips and caps what another host says', () => {
    const text = holderText(
      {
        ...here,
        hostname: `\u001b[31mbarn\u001b[0m\r\n${'h'.repeat(500)}`,
        channel: 'c'.repeat(500),
        version: `9\u0007${'9'.repeat(500)}`
      },
      NOW_MS
    )
    expect(text).toBe(
      `on this host (host barn  ${'h'.repeat(57)}…, channel ${'c'.repeat(31)}…, v${'9'.repeat(31)}…, pid 4242, for 3 min)`
    )
  })

  it('shows no pid that cannot be one', () => {
    expect(holderText({ ...bare, pid: Number.NaN }, NOW_MS)).not.toContain('pid')
    expect(holderText({ ...bare, pid: -5 }, NOW_MS)).not.toContain('pid')
  })
})
