/** Which machine and namespaces this is. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { bootClockScope, createInstanceIdentity, readHostIdentity } from '../src/host-facts.js'

describe('this host', () => {
  it('is what the kernel says', () => {
    const host = readHostIdentity()
    expect(host.hostname).toBe(hostname().trim().toLowerCase())
    expect(`${host.hostBootId}\n`).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
    expect(`pid:[${host.pidNs}]`).toBe(readlinkSync('/proc/self/ns/pid'))
    expect(host.initialPidNs).toBe(readlinkSync('/proc/self/ns/pid') === 'pid:[4026531836]')
  })

  it('is the same at every reading', () => {
    expect(readHostIdentity()).toEqual(readHostIdentity())
  })
})

describe('the scope of boot times', () => {
  const facts = { pidNs: 11, timeNs: 22, uptimeMs: 5_000_000, monotonicMs: 4_000_000 }

  it('is the time namespace', () => {
    expect(bootClockScope(facts)).toBe(22)
    expect(bootClockScope({ ...facts, monotonicMs: facts.uptimeMs + 500 })).toBe(22)
  })

  it('is the container whose uptime is its own age: less than the kernel has counted', () => {
    expect(bootClockScope({ ...facts, uptimeMs: 60_000 })).toBe(11)
  })
})

describe('an instance', () => {
  it('is a new owner at every call, of this process', () => {
    const one = createInstanceIdentity({ channel: 'stable', version: '1' })
    const other = createInstanceIdentity({ channel: 'stable', version: '1' })
    expect(one.ownerBootId).not.toBe(other.ownerBootId)
    expect(one).toMatchObject({ channel: 'stable', version: '1', pid: process.pid })
    expect(one.pidStartTicks).toBeGreaterThan(0)
  })

  it.each([
    { channel: 'x'.repeat(1_025), version: '' },
    { channel: '', version: 'x'.repeat(1_025) }
  ])('cannot have a name that no lease has room for', (options) => {
    expect(() => createInstanceIdentity(options)).toThrow(RangeError)
  })
})
