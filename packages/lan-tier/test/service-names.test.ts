/** Names that fit into a label, whatever the host is called. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { labelOf, SERVICE, serviceNames } from '../src/discovery/service-names.js'
import { decodeTxt, encodeTxt } from '../src/discovery/txt-record.js'

describe('names', () => {
  test.each([
    ['mill', 'agentmux-mill-5001', 'mill.local'],
    ['Mill_2', 'agentmux-Mill_2-5001', 'Mill-2.local'],
    ['mill.local', 'agentmux-mill_local-5001', 'mill.local'],
    ['mill.example.org', 'agentmux-mill_example_org-5001', 'mill.local'],
    ["Jo's Mac Book", 'agentmux-Jo_s_Mac_Book-5001', 'Jo-s-Mac-Book.local'],
    ['mühle', 'agentmux-m_hle-5001', 'm-hle.local'],
    ['', 'agentmux-unknown-5001', 'unknown.local'],
    ['---', 'agentmux-----5001', 'unknown.local']
  ])('of %j', (hostname, label, host) => {
    expect(serviceNames(hostname, 5001)).toEqual({ label, host, instance: `${label}.${SERVICE}` })
  })

  test('that are taken get a number, in the part of the host', () => {
    expect(serviceNames('mill', 5001, 2)).toMatchObject({
      label: 'agentmux-mill-2-5001',
      host: 'mill-2.local'
    })
  })

  test('always fit, and are found again', () => {
    const name = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 300 }))
    fc.assert(
      fc.property(name, fc.integer({ min: 1024, max: 65535 }), fc.integer({ min: 1, max: 11 }), (...args) => {
        const { label, instance, host } = serviceNames(...args)
        expect(label).toMatch(/^agentmux-[A-Za-z0-9_-]+-\d+$/)
        expect(label.length).toBeLessThanOrEqual(63)
        expect(host).toMatch(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.local$/)
        expect(labelOf(instance)).toBe(label)
      })
    )
  })

  test('of others are only taken as they can be asked for again', () => {
    expect(labelOf(`a.b.${SERVICE}`)).toBeUndefined()
    expect(labelOf(`\ufffd.${SERVICE}`)).toBeUndefined()
    expect(labelOf(`${'x'.repeat(64)}.${SERVICE}`)).toBeUndefined()
    expect(labelOf(SERVICE)).toBeUndefined()
    expect(labelOf(`.${SERVICE}`)).toBeUndefined()
    expect(labelOf('mill._http._tcp.local')).toBeUndefined()
    expect(labelOf('Mill._AgentMux._TCP.local')).toBe('Mill')
  })
})

describe('TXT', () => {
  const values = {
    version: '1',
    hostname: 'Mill.local',
    instance_id: 'id',
    auth_key: 'key',
    channel: 'stable'
  }

  test('comes out as it went in', () => {
    expect(decodeTxt(encodeTxt(values))).toEqual(values)
  })

  test('the first of a key counts, empty ones and unknown ones do not', () => {
    const strings = ['version=', 'version=2', 'VERSION=3', 'other=x', 'noequals', '=y', 'channel=a=b']
    expect(decodeTxt(strings.map((text) => Buffer.from(text)))).toEqual({ version: '2', channel: 'a=b' })
  })

  test('anything at all is some values or none', () => {
    fc.assert(
      fc.property(fc.anything(), (data) => {
        expect(Object.values(decodeTxt(data)).every((value) => typeof value === 'string')).toBe(true)
      })
    )
  })
})
