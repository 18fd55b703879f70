/** `who` and `doctor`: what they see, how sure they are, and that looking leaves nothing behind (R6, R8). */
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { Daemon } from './harness/daemon.js'
import { HELD_TO_PERMISSIONS } from './harness/held-to-permissions.js'
import { putLease } from './harness/lease-record.js'
import { anotherProcess, olderBuild } from './harness/older-build.js'
import { type Scene, test } from './harness/scene.js'

async function who(scene: Scene) {
  const { code, stdout } = await scene.cli(['who', scene.uid, '--json']).ended
  return { code, ...JSON.parse(stdout) }
}

async function checksOf(scene: Scene, ...flags: string[]) {
  const { code, stdout } = await scene.cli(['doctor', '--json', ...flags]).ended
  const { checks } = JSON.parse(stdout)
  const byName = Object.fromEntries(checks.map((check: { name: string }) => [check.name, check]))
  return { code, checks: byName }
}

function filesOf(scene: Scene): string[] {
  return readdirSync(scene.shared, { recursive: true, encoding: 'utf8' }).sort()
}

describe('who', () => {
  test('names the holder by its lease, and says that the other tiers are off', async ({ scene }) => {
    const run = scene.run(scene.agent())
    await scene.audited('agent', 'begin')
    expect(await who(scene)).toMatchObject({
      code: 0,
      uid: scene.uid,
      host: { state: 'held', sure: true, holder: { pid: run.pid, channel: 'stable' } },
      lan: { state: 'off', sure: false, how: expect.stringContaining('serve --lan') },
      relay: { state: 'off', sure: false, how: expect.stringContaining('serve --relay URL') }
    })
    const { stdout } = await scene.cli(['who', scene.uid]).ended
    expect(stdout).toMatch(
      new RegExp(`^this computer {2}held on this host .*pid ${run.pid}.*for sure: its lease file`)
    )
    expect(stdout).toMatch(
      /network +off: no daemon of channel stable runs that could ask: .*\nrelay +off: no daemon of channel stable runs that could ask: .*\n$/
    )
    run.signal('SIGTERM')
  })

  test('an agent that nobody drives is free, for sure; nothing is made', async ({ scene }) => {
    expect(await who(scene)).toMatchObject({ code: 0, host: { state: 'free', sure: true }, kept: null })
    expect(existsSync(scene.shared)).toBe(false)
  })

  test('one that is kept after a take-over says so', async ({ scene }) => {
    await scene.cli(['take-over', scene.uid, '--yes', '--channel', 'beta']).ended
    const { host, kept } = await who(scene)
    expect(host.state).toBe('free')
    expect(kept).toEqual({
      uid: scene.uid,
      channel: 'beta',
      version: expect.any(String),
      oneProcess: false,
      remainingMs: expect.any(Number)
    })
    expect(kept.remainingMs).toBeGreaterThan(0)
    const words = /^ +kept for channel beta, v[\d.]+, for \d+ s more, after a take-over$/m
    // Whoever it is kept for sees it as well.
    for (const channel of ['stable', 'beta']) {
      expect((await scene.cli(['who', scene.uid, '--channel', channel]).ended).stdout).toMatch(words)
    }
  })

  test('an older build that has it without a lease is found by asking', async ({ scene }) => {
    await olderBuild(scene, {
      pid: anotherProcess(scene).pid,
      registrations: [scene.uid],
      release: undefined
    })
    expect(await who(scene)).toMatchObject({
      code: 0,
      host: { state: 'held', how: expect.stringContaining('no lease file'), holder: { channel: 'older' } }
    })
  })

  test('a lease that only watching can judge is unknown: exit 69', async ({ scene }) => {
    putLease(scene, 'damaged')
    expect(await who(scene)).toMatchObject({ code: 69, host: { state: 'unknown', sure: false } })
  })
})

describe('doctor', () => {
  test('before anything was run: nothing fails, and nothing is made', async ({ scene }) => {
    const { code, checks } = await checksOf(scene)
    expect(code).toBe(0)
    expect(checks['shared folder'].seen).toContain('not there yet')
    expect(checks['file lock'].seen).toContain('not tried')
    expect(checks.daemon.seen).toContain('none runs')
    expect(existsSync(scene.shared)).toBe(false)
  })

  test('with a daemon and an agent: all is well, and no file is left', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    await daemon.opened()
    const before = filesOf(scene)
    const { code, checks } = await checksOf(scene)
    expect(code).toBe(0)
    expect(checks['file lock']).toMatchObject({ level: 'ok', seen: 'flock locks' })
    expect(checks.daemon).toMatchObject({ level: 'ok', seen: expect.stringContaining('1 pane') })
    expect(checks['other instances']).toMatchObject({ level: 'ok', seen: expect.stringContaining('answers') })
    expect(checks.port.level).toBe('ok')
    expect(filesOf(scene)).toEqual(before)
    const { stdout } = await scene.cli(['doctor']).ended
    expect(stdout).toMatch(/^ok {4}shared folder: /)
  })

  test('a daemon that was killed: fail, what to do, exit 69', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    daemon.program.signal('SIGKILL')
    await daemon.program.ended
    const { code, checks } = await checksOf(scene)
    expect(code).toBe(69)
    expect(checks.daemon).toMatchObject({
      level: 'fail',
      todo: expect.stringContaining('agentmux-srv serve')
    })
  })

  test('a daemon file that others may read: warn', async ({ scene }) => {
    const path = join(scene.shared, 'agents', 'srv', 'stable.json')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '{}')
    chmodSync(path, 0o644)
    const { code, checks } = await checksOf(scene)
    expect(code).toBe(0)
    expect(checks.daemon).toMatchObject({ level: 'warn', seen: expect.stringContaining('others may read') })
  })

  test('a lease folder that others may write to: warn, and how to close it', async ({ scene }) => {
    mkdirSync(scene.leases, { recursive: true })
    chmodSync(scene.leases, 0o777)
    const { checks } = await checksOf(scene)
    expect(checks['shared folder']).toMatchObject({ level: 'warn', todo: expect.stringContaining('chmod') })
  })

  test('a file where the folder should be: fail', async ({ scene }) => {
    writeFileSync(scene.shared, '')
    const { code, checks } = await checksOf(scene)
    expect(code).toBe(69)
    expect(checks['shared folder'].level).toBe('fail')
  })

  test('a folder that can never be made: fail, what is in the way is named, and nothing is made', async ({
    scene
  }) => {
    const [file, link, closed] = [scene.newPath('file'), scene.newPath('link'), scene.newPath('closed')]
    writeFileSync(file, '')
    symlinkSync('/none/at/all', link)
    mkdirSync(closed, { mode: 0o555 })
    const before = readdirSync(scene.folder).sort()
    for (const [folder, seen] of [
      [join(file, 'in', 'it'), `${file} is not a folder`],
      [link, `${link} is a link that leads nowhere`],
      [join(closed, 'in', 'it'), `we may not write in ${closed} (EACCES)`],
      [closed, `we may not write in ${closed} (EACCES)`],
      ['/proc/none', 'nothing can be made in /proc (proc)']
    ] as const) {
      const doctor = scene.cli(['doctor', '--json', '--shared-dir', folder], { via: HELD_TO_PERMISSIONS })
      const { code, stdout } = await doctor.ended
      const checks: readonly { name: string }[] = JSON.parse(stdout).checks
      const check = checks.find(({ name }) => name === 'shared folder')
      expect({ code, check }).toEqual({
        code: 69,
        check: { name: 'shared folder', level: 'fail', seen, todo: expect.stringContaining('--shared-dir') }
      })
    }
    expect(readdirSync(scene.folder).sort()).toEqual(before)
  })

  test('an instance that is registered and does not answer: warn, naming it', async ({ scene }) => {
    const path = join(scene.shared, 'agents', 'reactive', 'ada', 'older.json')
    mkdirSync(dirname(path), { recursive: true })
    const entry = {
      agent_id: 'ada',
      local_url: 'http://127.0.0.1:1',
      block_id: 'b',
      pid: process.pid,
      channel: 'older'
    }
    writeFileSync(path, JSON.stringify({ ...entry, updated_at: Date.now() }))
    const { code, checks } = await checksOf(scene)
    expect(code).toBe(0)
    expect(checks['other instances']).toMatchObject({
      level: 'warn',
      seen: expect.stringContaining(`pid ${process.pid}, channel older: nothing listens there`)
    })
  })
})
