/** `status` only looks: it takes no lock, makes no file, and nothing blocks it (R6). */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { putLease, record } from './harness/lease-record.js'
import { bootMs, startTicksOf } from './harness/processes.js'
import { test } from './harness/scene.js'

describe('status', () => {
  test('with --json: the folder and every lease, in this shape', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const run = scene.run(scene.agent('agent', '--until', stop), {
      flags: ['--agent', 'Agent3', '--channel', 'beta']
    })
    const agent = await scene.audited('agent', 'begin')
    await scene.settled()
    const { code, stdout, stderr } = await scene.cli(['status', '--json']).ended
    const lease = scene.lease()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      folder: scene.leases,
      leases: [
        {
          uid: scene.uid,
          state: 'held',
          holder: {
            place: 'this-host',
            hostname: hostname().trim().toLowerCase(),
            channel: 'beta',
            version: lease.version,
            pid: run.pid,
            acquiredAtMs: lease.acquired_at_ms,
            epoch: 1,
            blockId: lease.block_id
          },
          renewedAtMs: expect.any(Number),
          driverPid: agent.pid,
          path: scene.leaseFile()
        }
      ],
      kept: []
    })
    scene.trigger(stop)
    expect((await run.ended).code).toBe(0)
  })

  test('as a table: agent, state, holder, since, epoch', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const run = scene.run(scene.agent('agent', '--until', stop), { flags: ['--channel', 'beta'] })
    const agent = await scene.audited('agent', 'begin')
    await scene.settled()
    const { code, stdout } = await scene.cli(['status']).ended
    expect(code).toBe(0)
    const [head = '', row = '', ...more] = stdout.trimEnd().split('\n')
    expect(head.split(/ {2,}/)).toEqual(['AGENT', 'STATE', 'HOLDER', 'SINCE', 'EPOCH'])
    expect(row.split(/ {2,}/)).toEqual([
      scene.uid,
      'held',
      `${hostname().trim().toLowerCase()}, channel beta, v${scene.lease().version}, pid ${run.pid}, child ${agent.pid}`,
      expect.stringMatching(/^(just started|for .+)$/),
      '1'
    ])
    expect(more).toEqual([])
    scene.trigger(stop)
    await run.ended
  })

  test('shows for whom an agent is kept, and how much longer, beside the lease of whoever drives one', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const run = scene.run(scene.agent('agent', '--until', stop), { uid: 'another' })
    await scene.audited('agent', 'begin')
    const taken = [scene.uid, 'kept-too']
    await Promise.all(taken.map((uid) => scene.cli(['take-over', uid, '--yes', '--channel', 'beta']).ended))
    const [asData, asTable] = await Promise.all([
      scene.cli(['status', '--json']).ended,
      scene.cli(['status']).ended
    ])
    const { leases, kept } = JSON.parse(asData.stdout)
    expect(leases).toMatchObject([{ uid: 'another', state: 'held' }])
    const fields = { channel: 'beta', version: expect.any(String), oneProcess: false }
    expect(kept).toEqual(taken.map((uid) => ({ uid, ...fields, remainingMs: expect.any(Number) })))
    const rows = asTable.stdout.trimEnd().split('\n').slice(1)
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual([
      [scene.uid, 'kept'],
      ['another', 'held'],
      ['kept-too', 'kept']
    ])
    expect(rows[0]).toMatch(/ kept +for channel beta, v[\d.]+, for \d+ s more$/)
    scene.trigger(stop)
    expect((await run.ended).code).toBe(0)
  })

  test('says for each lease what is known: dead, expired, unreadable, unknown', async ({ scene }) => {
    const put = (uid: string, content: Parameters<typeof putLease>[1]) => {
      putLease(scene, content)
      writeFileSync(
        scene.leaseFile(uid),
        existsSync(scene.leaseFile()) ? scene.lines(scene.leaseFile()).join('\n') : ''
      )
    }
    put('dead', record(scene, { instance_id: 'dead', renewed_boot_ms: Math.round(bootMs()) }))
    put('expired', record(scene, { instance_id: 'expired', pid: 0 }))
    put('unknown', record(scene, { instance_id: 'unknown', hostname: 'elsewhere', host_boot_id: 'another' }))
    put('unreadable', 'not JSON')
    rmSync(scene.leaseFile())
    const { code, stdout } = await scene.cli(['status', '--json']).ended
    expect(code).toBe(0)
    const states = JSON.parse(stdout).leases.map(({ uid, state }: { uid: string; state: string }) => [
      uid,
      state
    ])
    expect(states).toEqual([
      ['dead', 'dead'],
      ['expired', 'expired'],
      ['unknown', 'unknown'],
      ['unreadable', 'unreadable']
    ])
    expect((await scene.cli(['status']).ended).stdout).toContain(
      `unknown: ${scene.leaseFile('unreadable')} cannot be read`
    )
  })

  test('makes nothing in an empty home', async ({ scene }) => {
    const home = scene.newPath('home')
    mkdirSync(home)
    const environment = { HOME: home, AGENTMUX_SHARED_DIR: '' }
    const { code, stdout } = await scene.cli(['status'], { environment }).ended
    expect(code).toBe(0)
    expect(stdout).toBe(
      `No agent is held on this host (${join(home, '.agentmux/shared/agents/registry/leases')}).\n`
    )
    const asData = await scene.cli(['status', '--json'], { environment }).ended
    expect(JSON.parse(asData.stdout)).toEqual({ folder: expect.any(String), leases: [], kept: [] })
    expect(readdirSync(home)).toEqual([])
  })

  test('answers while another process has the lock, and has stopped there', async ({ scene }) => {
    // Held for ten minutes: with the lock taken away, nobody could renew it.
    const holder = scene.start(['sleep', '600'])
    const fields = { pid: holder.pid, pid_start_ticks: startTicksOf(holder.pid), ttl_ms: 600_000 }
    putLease(scene, record(scene, { ...fields, renewed_boot_ms: Math.round(bootMs()) }))
    const locker = scene.lockFile(join(scene.leases, `${scene.uid}.lock`))
    await locker.prints(/locked/)
    locker.signal('SIGSTOP')
    const { code, stdout } = await scene.cli(['status', '--json']).ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout).leases).toMatchObject([{ uid: scene.uid, state: 'held' }])
  })

  test('prints all of it to a pipe whose reader takes its time', async ({ scene }) => {
    const uids = Array.from({ length: 400 }, (_, index) => `agent-${String(index).padStart(4, '0')}`)
    mkdirSync(scene.leases, { recursive: true })
    for (const uid of uids)
      writeFileSync(scene.leaseFile(uid), JSON.stringify(record(scene, { instance_id: uid })))
    const words = scene.words(['status', '--json'])
    const slow = scene.start(['sh', '-c', '"$@" | { sleep 1; cat; }', 'sh', ...words])
    const { stdout } = await slow.ended
    expect(stdout.length).toBeGreaterThan(65_536)
    expect(JSON.parse(stdout).leases).toHaveLength(uids.length)
  })

  test('a reader that went away is no error', async ({ scene }) => {
    const words = scene.words(['status', '--help'])
    const { stdout, stderr } = await scene.start([
      'sh',
      '-c',
      '{ "$@"; echo "code $?" >&2; } | true',
      'sh',
      ...words
    ]).ended
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'code 0\n' })
  })

  test('a folder that cannot be read: exit 69, the path named; as data with --json', async ({ scene }) => {
    mkdirSync(join(scene.shared, 'agents', 'registry'), { recursive: true })
    writeFileSync(scene.leases, 'not a folder')
    const { code, stderr } = await scene.cli(['status']).ended
    expect(code).toBe(69)
    expect(stderr).toContain(scene.leases)
    const asData = await scene.cli(['status', '--json']).ended
    expect(asData).toMatchObject({ code: 69, stderr: '' })
    expect(JSON.parse(asData.stdout).error).toMatchObject({
      exitCode: 69,
      message: expect.stringContaining(scene.leases)
    })
  })

  test('looks where --shared-dir, AGENTMUX_HOME_OVERRIDE and AGENTMUX_SHARED_DIR say, in this order', async ({
    scene
  }) => {
    const folder = async (flags: string[], environment: Record<string, string>) =>
      JSON.parse((await scene.cli(['status', '--json', ...flags], { environment }).ended).stdout).folder
    const all = { AGENTMUX_HOME_OVERRIDE: '/none/home', AGENTMUX_SHARED_DIR: '/none/shared' }
    const leases = 'agents/registry/leases'
    expect(await folder(['--shared-dir', '/none/flag'], all)).toBe(`/none/flag/${leases}`)
    expect(await folder([], all)).toBe(`/none/home/shared/${leases}`)
    expect(await folder([], { ...all, AGENTMUX_HOME_OVERRIDE: '' })).toBe(`/none/shared/${leases}`)
  })
})
