/** What the LAN puts into the log: no key, and never more because strangers want it (R16). */
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { ContestOutcome, LanHolder, Peer } from '@agentmux/lan-tier'
import { createSystemClock } from '@agentmux/lease-model'
import { expect } from 'vitest'
import { LanLog } from '../src/lan/lan-log.js'
import { createLog } from '../src/log/log.js'
import { type Scene, test } from './harness/scene.js'

const KEY = 'the-key-that-a-peer-advertises'

function peer(index: number): Peer {
  return {
    instanceId: `peer-${index}`,
    hostname: 'barn',
    version: '1.0.0',
    channel: 'stable',
    address: '10.77.0.2',
    addresses: ['10.77.0.2'],
    port: 5_001 + index,
    authKey: KEY,
    agents: [],
    firstSeenMs: 0,
    lastSeenMs: 0
  }
}

const holder: LanHolder = {
  place: 'lan',
  hostname: 'barn',
  channel: 'stable',
  version: '1.0.0',
  pid: 0,
  epoch: 0,
  blockId: '',
  acquiredAtMs: 1,
  claim: '',
  yielding: false,
  peer: { instanceId: 'peer-1', hostname: 'barn', address: '10.77.0.2', port: 5_001 }
}

async function logged(scene: Scene, write: (log: LanLog) => void) {
  const path = scene.newPath('log')
  const descriptor = openSync(path, 'a')
  const { log, flush } = createLog({ level: 'info', descriptor, secrets: [] })
  write(new LanLog(log, createSystemClock()))
  await flush()
  closeSync(descriptor)
  const text = readFileSync(path, 'utf8')
  return { text, lines: scene.lines(path).map((line) => JSON.parse(line)) }
}

test('a peer is named without its key', async ({ scene }) => {
  const { text, lines } = await logged(scene, (log) => {
    for (const kind of ['peer-seen', 'peer-changed', 'peer-gone'] as const)
      log.discovery({ kind, peer: peer(0) })
  })
  expect(lines.map(({ event }) => event)).toEqual(['peer-seen', 'peer-gone'])
  expect(lines[0].peer).toMatchObject({ hostname: 'barn', address: '10.77.0.2' })
  expect(text).not.toContain(KEY)
})

test('ten thousand peers that come and go are some sixty lines', async ({ scene }) => {
  const { lines } = await logged(scene, (log) => {
    for (let index = 0; index < 10_000; index++) log.discovery({ kind: 'peer-seen', peer: peer(index) })
  })
  // The minute may turn meanwhile.
  expect(lines.length).toBeLessThanOrEqual(2 * 61)
  expect(lines.map(({ event }) => event)).toContain('lan-busy')
})

test('what every look says again is told once, and every yield', async ({ scene }) => {
  const unknown: ContestOutcome = { kind: 'unknown', because: 'no-answer', holders: [] }
  const keep: ContestOutcome = { kind: 'keep', holders: [] }
  const { lines } = await logged(scene, (log) => {
    for (const outcome of [unknown, unknown, keep, keep, unknown]) log.outcome('one', outcome)
    log.outcome('other', unknown)
    for (let count = 0; count < 3; count++) log.outcome('two', { kind: 'keep', holders: [holder] })
    log.outcome('two', { kind: 'yield', to: holder })
  })
  expect(lines.map(({ event, uid }) => `${event} ${uid}`)).toEqual([
    'lan-unknown one',
    'lan-unknown one',
    'lan-unknown other',
    'lan-contest two',
    'lan-yield two'
  ])
})
