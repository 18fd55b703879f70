/**
 * Whatever stands in the files: no error but LeaseFault, no grant while somebody may hold, none withheld for ever.
 * AGENTMUX_FUZZ_INPUTS=100000 tries so many contents, over all properties, instead of a few hundred each.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LeaseFault, type LeaseStore } from '../src/index.js'
import { HERE, instance, olderRecord, type Party, party, TTL_MS } from './harness/parties.js'

/** Contents to try in each of the four properties, unless the environment asks for more. */
const FULL = Math.ceil(Number(process.env.AGENTMUX_FUZZ_INPUTS ?? 0) / 4)
const inputs = (usual: number) => ({ numRuns: Math.max(usual, FULL) })
/** A full count takes minutes. */
const TIMEOUT = { timeout: Math.max(60_000, FULL * 100) }

let keys = 0

/** A key of its own for each run, in one folder. */
function fresh({ root }: Party) {
  const uid = `k${keys++}`
  mkdirSync(`${root}/leases`, { recursive: true })
  const stem = `${root}/leases/${uid}`
  return { uid, lease: `${stem}.lease.json`, epoch: `${stem}.epoch`, lock: `${stem}.lock` }
}

/** Or a folder of ten thousands of files is what is measured. */
function remove({ lease, epoch, lock }: ReturnType<typeof fresh>): void {
  for (const path of [lease, epoch, lock]) rmSync(path, { recursive: true, force: true })
}

function claim(store: LeaseStore, uid: string) {
  return store.claim({ agent: { uid }, blockId: 'b' })
}

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }).map((array) => Buffer.from(array)),
  fc.json().map((text) => Buffer.from(text)),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  fc.constantFrom('', '\n', '{}', 'null', '[]', '0', '""', '\0'.repeat(512)).map((text) => Buffer.from(text))
)

/** Some record or other, whole or with a piece of it replaced by something else. */
function damaged(record: Record<string, unknown>) {
  const whole = Buffer.from(`${JSON.stringify(record, undefined, 2)}\n`)
  const cut = fc.nat(whole.length).map((length) => whole.subarray(0, length))
  const spliced = fc
    .tuple(fc.nat(whole.length), fc.nat(40), bytes)
    .map(([at, length, piece]) => Buffer.concat([whole.subarray(0, at), piece, whole.subarray(at + length)]))
  const anyValue = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(-1, 0.5, 2 ** 53, Number.MAX_SAFE_INTEGER, 2 ** 64, 1e300, '', null, {}, [])
  )
  const field = fc
    .tuple(fc.constantFrom(...Object.keys(record)), anyValue)
    .map(([key, value]) => Buffer.from(JSON.stringify({ ...record, [key]: value })))
  return fc.oneof(cut, spliced, field)
}

/** What a fresh holder on another host wrote: nothing in it lets anybody here call it over. */
function remote(uid: string, clock: { wallMs(): number }) {
  return olderRecord({
    instance_id: uid,
    pid: 1,
    hostname: 'elsewhere',
    renewed_at_ms: clock.wallMs(),
    host_boot_id: '33333333-3333-4333-8333-333333333333',
    pid_ns: HERE.pidNs,
    time_ns: HERE.timeNs,
    pid_start_ticks: 5,
    renewed_boot_ms: 5,
    ttl_ms: TTL_MS,
    driver_pid: 0,
    driver_start_ticks: 0
  })
}

async function expectWatchedThenGranted(
  all: Party,
  content: Buffer,
  file: ReturnType<typeof fresh>
): Promise<void> {
  const store = all.store()
  writeFileSync(file.lease, content)
  const looked = store.liveHolderOtherThan(file.uid, '')
  expect(['held', 'unknown']).toContain(looked.kind)
  expect(store.list().map(({ uid }) => uid)).toContain(file.uid)
  expect(['refused', 'unknown']).toContain((await claim(store, file.uid)).kind)
  expect(readFileSync(file.lease).equals(content)).toBe(true)
  // The largest TTL that a record can ask for; then nothing keeps the key.
  await all.clock.advance(600_000)
  expect((await claim(store, file.uid)).kind).toBe('granted')
  remove(file)
}

describe('any bytes in place of a lease', () => {
  it('are watched, not overwritten, and do not stay in the way', TIMEOUT, async () => {
    const all = party()
    await fc.assert(
      fc.asyncProperty(bytes, (content) => expectWatchedThenGranted(all, content, fresh(all))),
      inputs(200)
    )
  })

  it('that once were a record of somebody elsewhere are watched, too', TIMEOUT, async () => {
    const all = party()
    const uid = 'somebody'
    await fc.assert(
      fc.asyncProperty(damaged(remote(uid, all.clock)), (content) =>
        expectWatchedThenGranted(all, content, {
          ...fresh(all),
          uid,
          lease: `${all.root}/leases/${uid}.lease.json`
        })
      ),
      inputs(300)
    )
  })

  it('throw nothing but LeaseFault at whoever held it', TIMEOUT, async () => {
    const all = party()
    const mine = all.store()
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, damaged(remote('x', all.clock))), async (content) => {
        const file = fresh(all)
        const { uid, lease: path } = file
        const result = await claim(mine, uid)
        if (result.kind !== 'granted') throw new Error(result.kind)
        writeFileSync(path, content)
        for (const call of [
          () => mine.verify(result.lease),
          () => mine.renew(result.lease),
          () => mine.release(result.lease)
        ]) {
          const outcome = await call().catch((error: unknown) => error)
          if (outcome instanceof Error) expect(outcome).toBeInstanceOf(LeaseFault)
          else expect(outcome).toMatchObject({ kind: expect.stringMatching(/^(lost|not-held)$/) })
        }
        expect(readFileSync(path).equals(content)).toBe(true)
        remove(file)
      }),
      inputs(200)
    )
  })
})

describe('any bytes in place of a counter', () => {
  const counters = fc.oneof(
    bytes,
    fc.bigInt({ min: 0n, max: 2n ** 65n }).map((value) => Buffer.from(`${value}\n`)),
    fc.nat().map((value) => Buffer.from(String(value)))
  )

  it('never bring back an epoch that was given', TIMEOUT, async () => {
    const all = party()
    await fc.assert(
      fc.asyncProperty(fc.array(counters, { minLength: 1, maxLength: 4 }), async (contents) => {
        const file = fresh(all)
        const { uid, epoch: path } = file
        const given: number[] = []
        for (const content of [undefined, ...contents]) {
          const store = all.store({ instance: instance() })
          if (content !== undefined) {
            const set = Number(content.toString('latin1'))
            // A counter that was set back to another valid one is no damage that anybody could see.
            if (/^\d{1,16}\n?$/.test(content.toString('latin1')) && set <= (given.at(-1) ?? 0)) continue
            writeFileSync(path, content)
          }
          const result = await claim(store, uid)
          if (result.kind !== 'granted') throw new Error(result.kind)
          // Above the last there is, there is only damage: what follows it is not compared.
          if (result.lease.epoch === Number.MAX_SAFE_INTEGER) break
          given.push(result.lease.epoch)
          await all.clock.advance(TTL_MS)
        }
        expect(given).toEqual([...new Set(given)].sort((one, other) => one - other))
        for (const epoch of given) expect(Number.isSafeInteger(epoch)).toBe(true)
        remove(file)
      }),
      inputs(200)
    )
  })
})
