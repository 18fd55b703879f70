/**
 * Clocks that are stepped, and machines that sleep, under real processes (R14): a step of the wall clock lets nobody in
 * and keeps nobody out; time that was slept counts as passed.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { leaseHostname } from '@agentmux/lease-model'
import { describe, expect, it } from 'vitest'
import { type Answer, Child, type ChildOptions } from './harness/child.js'
import { diskFolder } from './harness/folder.js'
import { Lies } from './harness/lies.js'
import { olderRecord, TTL_MS, UPTIME_SLACK_MS } from './harness/parties.js'

const MINUTE_MS = 60_000
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS
const STEPS_MS = [3_000, -3_000, 3 * MINUTE_MS, -3 * MINUTE_MS, 30 * YEAR_MS, -30 * YEAR_MS]
const LONG = { ttlMs: 600_000 }
const SHORT = { ttlMs: 500 }

/** A process and what it is told about its clocks. */
interface Clocked {
  readonly child: Child
  readonly lies: Lies
  claim(uid: string): Promise<Answer>
}

function clocked(root: string, options: ChildOptions = {}): Clocked {
  const lies = new Lies()
  const child = new Child(root, { ...options, env: lies.env })
  return { child, lies, claim: (uid) => child.do('claim', { agent: { uid }, blockId: `b${child.pid}` }) }
}

/** What an older build left for a key. Its pid is that of this process unless another is given: alive. */
function older(root: string, uid: string, fields: Record<string, unknown> = {}): void {
  mkdirSync(join(root, 'leases'), { recursive: true })
  const record = olderRecord({
    instance_id: uid,
    hostname: leaseHostname(hostname()),
    pid: process.pid,
    ...fields
  })
  writeFileSync(join(root, 'leases', `${uid}.lease.json`), `${JSON.stringify(record, undefined, 2)}\n`)
  writeFileSync(join(root, 'leases', `${uid}.epoch`), '4\n')
}

describe('the wall clock', () => {
  it('of a live holder or of a newcomer may be stepped before, during and after a claim: nobody else gets in', async () => {
    const root = diskFolder()
    const holder = clocked(root, { store: LONG })
    const newcomer = clocked(root)
    for (const [index, stepMs] of STEPS_MS.entries()) {
      const uid = `k${index}`
      holder.lies.tell({ wallMs: stepMs })
      expect(await holder.claim(uid)).toMatchObject({ kind: 'granted', lease: { epoch: 1 } })
      for (const [ours, theirs] of [
        [stepMs, 0],
        [-stepMs, stepMs],
        [0, -stepMs]
      ] as const) {
        holder.lies.tell({ wallMs: ours })
        newcomer.lies.tell({ wallMs: theirs })
        expect(await newcomer.claim(uid)).toMatchObject({ kind: 'refused', holder: { epoch: 1 } })
        expect(await holder.child.do('renew')).toMatchObject({ kind: 'renewed', lease: { epoch: 1 } })
        expect(await newcomer.child.do('look', { uid })).toMatchObject({ kind: 'held' })
        expect(await holder.child.do('verify')).toEqual({ kind: 'held' })
      }
    }
  })

  it('may be stepped while a holder renews and a newcomer claims without a pause', async () => {
    const root = diskFolder()
    const holder = clocked(root, { store: LONG })
    const newcomer = clocked(root)
    await holder.claim('k')
    await holder.child.do('renewForEver')
    for (let round = 0; round < 5; round++) {
      for (const stepMs of STEPS_MS) {
        const answer = newcomer.claim('k')
        holder.lies.tell({ wallMs: stepMs })
        newcomer.lies.tell({ wallMs: -stepMs })
        expect(await answer).toMatchObject({ kind: 'refused', holder: { epoch: 1 } })
      }
    }
    expect(await holder.child.do('verify')).toEqual({ kind: 'held' })
  })

  it('keeps no silent holder longer than its TTL, and ends none before', async () => {
    const root = diskFolder()
    const holder = clocked(root, { store: SHORT })
    const newcomer = clocked(root, { store: LONG })
    for (const [index, stepMs] of STEPS_MS.slice(2, 5).entries()) {
      const uid = `k${index}`
      holder.lies.tell({ wallMs: stepMs })
      const first = await holder.claim(uid)
      newcomer.lies.tell({ wallMs: -stepMs })
      const waited = newcomer.child.do('wait', { uid })
      newcomer.lies.tell({ wallMs: stepMs })
      await waited
      const second = await newcomer.claim(uid)
      expect(second).toMatchObject({ kind: 'granted', lease: { epoch: 2 }, previous: { why: 'expired' } })
      // Two processes read the clock of the machine to a hundredth of a second.
      const silentMs = second.lease.renewedBootMs - first.lease.renewedBootMs
      expect(silentMs).toBeGreaterThanOrEqual(SHORT.ttlMs - 20)
    }
  })

  it('keeps no dead holder at all', async () => {
    const root = diskFolder()
    const newcomer = clocked(root)
    for (const [index, stepMs] of STEPS_MS.slice(3).entries()) {
      const uid = `k${index}`
      const holder = clocked(root, { store: LONG })
      holder.lies.tell({ wallMs: -stepMs })
      await holder.claim(uid)
      await holder.child.signal('SIGKILL')
      newcomer.lies.tell({ wallMs: stepMs })
      expect(await newcomer.claim(uid)).toMatchObject({
        kind: 'granted',
        lease: { epoch: 2 },
        previous: { why: 'dead' }
      })
    }
  })
})

describe('the record of an older build', () => {
  const ages = [0, TTL_MS, 3 * MINUTE_MS, -30 * YEAR_MS]

  it('whose process runs is not taken whatever the clock says, before it stood still for 15 s', async () => {
    const root = diskFolder()
    const newcomer = clocked(root)
    for (const [index, ageMs] of ages.entries())
      older(root, `k${index}`, { renewed_at_ms: Date.now() - ageMs })
    for (const stepMs of [0, ...STEPS_MS, 0]) {
      newcomer.lies.tell({ wallMs: stepMs })
      for (const index of ages.keys())
        expect(['refused', 'unknown']).toContain((await newcomer.claim(`k${index}`)).kind)
    }
    newcomer.lies.tell({ sleptMs: TTL_MS + UPTIME_SLACK_MS, wallMs: -YEAR_MS })
    for (const index of ages.keys()) {
      expect(await newcomer.claim(`k${index}`)).toMatchObject({
        kind: 'granted',
        lease: { epoch: 5 },
        previous: { why: 'expired' }
      })
    }
  })

  it('that is renewed is never taken, whatever its clock says and whatever ours', async () => {
    const root = diskFolder()
    const newcomer = clocked(root)
    let sleptMs = 0
    for (const stepMs of [...STEPS_MS, ...STEPS_MS]) {
      const renewedAtMs = Date.now() - stepMs + sleptMs
      older(root, 'k', { owner_boot_id: 'older', claim_id: 'older', renewed_at_ms: renewedAtMs })
      sleptMs += TTL_MS - 1_000
      newcomer.lies.tell({ wallMs: stepMs, sleptMs })
      expect(['refused', 'unknown']).toContain((await newcomer.claim('k')).kind)
    }
  })

  it('whose process is gone is taken at once, whatever the clock says', async () => {
    const root = diskFolder()
    const newcomer = clocked(root)
    const { pid } = spawnSync('true')
    for (const [index, stepMs] of STEPS_MS.entries()) {
      older(root, `k${index}`, { pid, renewed_at_ms: Date.now() })
      newcomer.lies.tell({ wallMs: stepMs })
      expect(await newcomer.claim(`k${index}`)).toMatchObject({ kind: 'granted', previous: { why: 'dead' } })
    }
  })
})

describe('a machine that sleeps', () => {
  it('finds its holder still there if that one renews first, and its lease over if it does not', async () => {
    const root = diskFolder()
    const holder = clocked(root)
    const newcomer = clocked(root)
    const asleep = (ms: number) => {
      for (const { lies } of [holder, newcomer]) lies.tell({ sleptMs: ms })
    }
    await holder.claim('k')
    expect(await newcomer.claim('k')).toMatchObject({ kind: 'refused' })
    asleep(60 * MINUTE_MS)
    expect(await holder.child.do('verify')).toEqual({ kind: 'held' })
    expect(await holder.child.do('renew')).toMatchObject({ kind: 'renewed', lease: { epoch: 1 } })
    expect(await newcomer.claim('k')).toMatchObject({ kind: 'refused', holder: { epoch: 1 } })
    asleep(60 * MINUTE_MS + TTL_MS + UPTIME_SLACK_MS)
    expect(await newcomer.claim('k')).toMatchObject({ kind: 'granted', previous: { why: 'expired' } })
    expect(await holder.child.do('renew')).toMatchObject({ kind: 'lost', loss: { why: 'taken' } })
  })
})

describe('a newcomer with a shorter TTL', () => {
  it('obeys that of the record: ours, an older build’s, and the longest there is where none can be read', async () => {
    const root = diskFolder()
    const holder = clocked(root, { store: LONG })
    await holder.claim('ours')
    older(root, 'older')
    older(root, 'elsewhere', { hostname: 'elsewhere', host_boot_id: 'another', ttl_ms: LONG.ttlMs })
    writeFileSync(join(root, 'leases', 'damaged.lease.json'), '{')
    const newcomer = clocked(root, { store: SHORT })
    const refused = async (...keys: string[]) => {
      for (const uid of keys) expect(['refused', 'unknown']).toContain((await newcomer.claim(uid)).kind)
    }
    const granted = async (...keys: string[]) => {
      for (const uid of keys) expect(await newcomer.claim(uid)).toMatchObject({ kind: 'granted' })
    }
    // Real time passes, too: what has to stay has much left.
    await refused('ours', 'older', 'elsewhere', 'damaged')
    newcomer.lies.tell({ sleptMs: 2 * SHORT.ttlMs })
    await refused('ours', 'older', 'elsewhere', 'damaged')
    newcomer.lies.tell({ sleptMs: TTL_MS + UPTIME_SLACK_MS })
    await granted('older', 'damaged')
    await refused('ours', 'elsewhere')
    newcomer.lies.tell({ sleptMs: LONG.ttlMs + UPTIME_SLACK_MS })
    await granted('ours', 'elsewhere')
  })
})

describe('the boot time in /proc/stat', () => {
  const isRoot = process.getuid?.() === 0
  const unshare = isRoot ? ['unshare', '-m'] : ['unshare', '--user', '--map-root-user', '-m']

  it('moves with the clock and is not believed: who lives stays, who is dead goes', async () => {
    const root = diskFolder()
    const moved = join(root, 'stat')
    const through = [
      ...unshare,
      'sh',
      '-c',
      'mount --bind "$1" /proc/stat && shift && exec "$@"',
      'sh',
      moved
    ]
    const stat = readFileSync('/proc/stat', 'latin1')
    writeFileSync(
      moved,
      stat.replace(/^btime (\d+)$/m, (_, seconds) => `btime ${Number(seconds) + 86_400}`)
    )
    const mountable = spawnSync(through[0] as string, [...through.slice(1), 'true']).status === 0
    const holder = clocked(root, { store: LONG })
    await holder.claim('ours')
    older(root, 'older', { renewed_at_ms: Date.now() })
    const newcomer = clocked(root, mountable ? { through } : {})
    expect(await newcomer.claim('ours')).toMatchObject({ kind: 'refused' })
    expect(await newcomer.claim('older')).toMatchObject({ kind: 'refused' })
    await holder.child.signal('SIGKILL')
    expect(await newcomer.claim('ours')).toMatchObject({ kind: 'granted', previous: { why: 'dead' } })
  })
})
