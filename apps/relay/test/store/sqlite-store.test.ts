/** What is SQLite's own: shared commits, what is written when a lease lapses, a full disk, and the age of messages. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock, type ManualClock } from '@agentmux/lease-model/testing'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HolderChange, RelayStore } from '../../src/store/relay-store.js'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js'

const TTL_MS = 60_000
const HOUR_MS = 3_600_000
const KEY = { account: 'acme', agent: 'agent3' }
const ANNA = { instance: 'mill/stable', install: 'a', host: 'mill', channel: 'stable', version: '1' }
const BEN = { ...ANNA, install: 'b' }
const MESSAGE = { text: 'hello', sourceAgent: '', priority: undefined, createdAtMs: 1 }

let folder: string
let clock: ManualClock
let store: RelayStore
let changes: HolderChange[]
let dropped: number
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-sqlite-'))
  clock = createManualClock()
  changes = []
  dropped = 0
  open()
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

function open(): void {
  store = openSqliteStore({
    dataDir: folder,
    clock,
    limits: { agentsPerAccount: 2, keepAckedMs: 2 * HOUR_MS, keepPendingMs: 5 * HOUR_MS },
    onChange: (change) => changes.push(change),
    onDropped: (count) => {
      dropped += count
    }
  })
}

test('what lapsed is written down: after a restart it is free at once, and was told of once', async () => {
  await store.leases.claim(KEY, ANNA)
  await clock.advance(TTL_MS + 2_000)
  expect(changes.map(({ because }) => because)).toEqual(['claimed', 'lapsed'])
  await store.close()
  open()
  expect(await store.leases.claim(KEY, BEN)).toEqual({ kind: 'held', epoch: 2 })
})

test('a lease lives for 60 s by the clock of the relay, and no second less', async () => {
  await store.leases.claim(KEY, ANNA)
  await clock.advance(59_000)
  expect((await store.leases.claim(KEY, BEN)).kind).toBe('refused')
  await store.leases.renew(KEY.account, [KEY.agent], ANNA)
  await clock.advance(59_000)
  expect((await store.leases.claim(KEY, BEN)).kind).toBe('refused')
  await clock.advance(2_000)
  expect(await store.leases.claim(KEY, BEN)).toEqual({ kind: 'held', epoch: 2 })
})

test('a computer that slept with the relay on it takes nothing from anybody', async () => {
  await store.leases.claim(KEY, ANNA)
  clock.suspend(8 * HOUR_MS)
  expect((await store.leases.claim(KEY, BEN)).kind).toBe('refused')
  expect((await store.leases.renew(KEY.account, [KEY.agent], ANNA))[0]).toEqual({ kind: 'held', epoch: 1 })
  await clock.advance(TTL_MS + 2_000)
  expect(await store.leases.claim(KEY, BEN)).toEqual({ kind: 'held', epoch: 2 })
})

test('renewed in time it is held for days, and none of it is written', async () => {
  await store.leases.claim(KEY, ANNA)
  const file = new Database(join(folder, 'relay.db'), { readonly: true })
  const version = () => file.pragma('data_version', { simple: true })
  const before = version()
  for (let at = 0; at < 2 * TTL_MS; at += 20_000) {
    await clock.advance(20_000)
    await store.leases.renew(KEY.account, [KEY.agent], ANNA)
    if (at < TTL_MS / 2) expect(version()).toBe(before)
  }
  file.close()
  expect(await store.leases.look(KEY)).toMatchObject({ epoch: 1 })
})

test('claims of one turn share a commit and still see each other', async () => {
  const answers = await Promise.all([
    store.leases.claim(KEY, ANNA),
    store.leases.claim(KEY, BEN),
    store.leases.release(KEY, ANNA),
    store.leases.claim(KEY, BEN),
    store.leases.take(KEY, ANNA, undefined),
    store.leases.claim(KEY, BEN)
  ])
  expect(answers).toMatchObject([
    { kind: 'held', epoch: 1 },
    { kind: 'refused', heldBy: { install: 'a' } },
    true,
    { kind: 'held', epoch: 2 },
    { kind: 'held', epoch: 3 },
    { kind: 'refused', heldBy: { install: 'a', epoch: 3 } }
  ])
})

test('where a commit fails nobody holds anything by it: unavailable, and as before when it works again', async () => {
  await store.leases.claim(KEY, ANNA)
  const other = { ...KEY, agent: 'agent4' }
  const blocker = new Database(join(folder, 'relay.db'))
  blocker.exec('BEGIN IMMEDIATE')
  const tried = await Promise.allSettled([
    store.leases.claim(other, BEN),
    store.leases.take(KEY, BEN, undefined),
    store.messages.inject(KEY, MESSAGE, undefined)
  ])
  for (const one of tried) {
    expect(one).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable', code: 'contended' } })
  }
  expect(await store.leases.look(other)).toBeUndefined()
  expect(await store.leases.look(KEY)).toMatchObject({ install: 'a' })
  expect((await store.leases.renew(KEY.account, [KEY.agent], ANNA))[0]?.kind).toBe('held')
  blocker.exec('ROLLBACK')
  blocker.close()
  expect(await store.leases.claim(other, BEN)).toEqual({ kind: 'held', epoch: 1 })
  expect(await store.leases.take(KEY, BEN, undefined)).toEqual({ kind: 'held', epoch: 2 })
})

test('an agent whose claim was not committed does not count against its account', async () => {
  await store.leases.claim(KEY, ANNA)
  const other = { ...KEY, agent: 'agent4' }
  const file = new Database(join(folder, 'relay.db'))
  file.exec(`CREATE TRIGGER broken BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'broken'); END`)
  for (let count = 0; count < 3; count++) {
    const tried = await Promise.allSettled([
      store.leases.claim(other, ANNA),
      store.messages.inject(KEY, MESSAGE, undefined)
    ])
    expect(tried.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  }
  file.exec('DROP TRIGGER broken')
  file.close()
  expect(await store.leases.claim(other, ANNA)).toEqual({ kind: 'held', epoch: 1 })
})

test('messages age only while the relay serves: fetched ones are forgotten, unfetched ones dropped and counted', async () => {
  await store.leases.claim(KEY, ANNA)
  const queue = async (call: string) => {
    const answer = await store.messages.inject(KEY, MESSAGE, call)
    if (answer.kind !== 'queued') throw new Error(answer.kind)
    return answer.id
  }
  const fetched = await queue('call-1')
  await queue('call-2')
  await store.messages.ack(KEY, [fetched], { ...ANNA, requestKey: undefined })
  await store.close()
  await clock.advance(30 * 24 * HOUR_MS)
  open()
  await clock.advance(HOUR_MS)
  expect(await queue('call-1')).toBe(fetched)
  await clock.advance(2 * HOUR_MS)
  expect(await store.messages.giveBack(KEY, fetched, { ...ANNA, requestKey: undefined })).toBe(false)
  expect(dropped).toBe(0)
  await clock.advance(3 * HOUR_MS)
  expect(dropped).toBe(1)
  await store.leases.claim(KEY, ANNA)
  expect(await store.messages.pending(KEY, ANNA)).toEqual({ kind: 'pending', messages: [] })
})

test('a folder serves one relay, and another once that has ended', async () => {
  const second = () => openSqliteStore({ dataDir: folder, clock, onChange: () => {} })
  expect(second).toThrow(/another relay serves from/)
  await store.close()
  await second().close()
})

test('a database of a later version is left alone', async () => {
  await store.close()
  const database = new Database(join(folder, 'relay.db'))
  database.pragma('user_version = 99')
  database.close()
  expect(open).toThrow(/another version/)
})
