/** What counts as a probe and as an answer to one. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isProbeRequest, parseProbeReply, probeReply, probeRequest } from '../src/discovery/probe-message.js'

const claim = {
  instanceId: 'mill/stable',
  hostname: 'mill',
  version: '1',
  channel: 'stable',
  authKey: 'key',
  port: 5001
}
const json = (value: unknown) => Buffer.from(JSON.stringify(value))

test('the words of the protocol', () => {
  expect(probeRequest().toString()).toBe('{"type":"agentmux_discover","v":1}')
  expect(isProbeRequest(Buffer.from('{"type":"agentmux_discover","v":1.0}'))).toBe(true)
  expect(JSON.parse(String(probeReply(claim)))).toEqual({
    type: 'agentmux_discover_response',
    v: 1,
    instance_id: 'mill/stable',
    hostname: 'mill',
    version: '1',
    port: 5001,
    auth_key: 'key',
    channel: 'stable'
  })
})

test('other words are nothing', () => {
  const others = [{ type: 'agentmux_discover' }, { type: 'agentmux_discover', v: '1' }, { v: 1 }, [], null, 1]
  for (const other of [...others, { type: 'agentmux_discover', v: 2 }, { type: 'other', v: 1 }]) {
    expect(isProbeRequest(json(other)), JSON.stringify(other)).toBe(false)
  }
})

test('a request of 1,024 bytes is one, a longer one is none', () => {
  const padded = (bytes: number) => Buffer.from(probeRequest().toString().padEnd(bytes, ' '))
  expect(isProbeRequest(padded(1_024))).toBe(true)
  expect(isProbeRequest(padded(1_025))).toBe(false)
})

test('an answer comes through, and the longest fields fit', () => {
  expect(parseProbeReply(probeReply(claim) ?? Buffer.alloc(0))).toEqual(claim)
  const longest = {
    instanceId: 'i'.repeat(128),
    hostname: 'h'.repeat(253),
    version: 'v'.repeat(64),
    channel: 'c'.repeat(64),
    authKey: 'k'.repeat(256),
    port: 65_535
  }
  const reply = probeReply(longest)
  expect(reply?.byteLength).toBeLessThanOrEqual(1_400)
  expect(parseProbeReply(reply ?? Buffer.alloc(0))).toEqual(longest)
})

test('an answer beyond the limits is nothing', () => {
  const said = JSON.parse(String(probeReply(claim)))
  for (const part of [
    { port: 80 },
    { port: '5001' },
    { instance_id: '' },
    { auth_key: 'x'.repeat(257) },
    { v: 2 }
  ]) {
    expect(parseProbeReply(json({ ...said, ...part })), JSON.stringify(part)).toBeUndefined()
  }
  expect(parseProbeReply(json({ ...said, more: 'x'.repeat(1_400) }))).toBeUndefined()
})

test('noise is nothing and throws nothing', () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text))
  )
  fc.assert(
    fc.property(noise, (datagram) => {
      expect(isProbeRequest(datagram)).toBe(false)
      expect(parseProbeReply(datagram)).toBeUndefined()
    }),
    { numRuns: 2_000 }
  )
})
