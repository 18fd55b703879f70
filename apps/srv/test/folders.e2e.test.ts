/** A shared folder that cannot be used: found before anything is started, exit 69, the path named (R7). */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { HELD_TO_PERMISSIONS } from './harness/held-to-permissions.js'
import type { Program } from './harness/program.js'
import { quoted, type RunOptions, type Scene, test } from './harness/scene.js'
import { standIn } from './harness/stand-in.js'
import { until } from './harness/until.js'

/** Whether we may mount, as root or in a user namespace of our own. */
const MOUNTING = [
  ['unshare', '-m'],
  ['unshare', '-rm']
].find(([command = '', ...args]) => spawnSync(command, [...args, 'true']).status === 0)

async function expectNothingStarted(run: Program, started: string, path: string) {
  const { code, stdout, stderr } = await run.ended
  expect(code).toBe(69)
  expect(stdout).toBe('')
  expect(stderr).toContain(path)
  expect(stderr).toContain('Nothing was started')
  expect(existsSync(started)).toBe(false)
  return stderr
}

function runTouching(scene: Scene, options: RunOptions = {}) {
  const started = scene.newPath('started')
  return { run: scene.run(['touch', started], options), started }
}

describe('run, with a shared folder that cannot be used', () => {
  test('it may not be written: exit 69, the path named, nothing started', async ({ scene }) => {
    mkdirSync(scene.shared)
    chmodSync(scene.shared, 0o555)
    const { run, started } = runTouching(scene, { via: HELD_TO_PERMISSIONS })
    const said = await expectNothingStarted(run, started, scene.shared)
    expect(said).toContain('EACCES')
  })

  test('its lease folder may not be written: exit 69, the path named, nothing started', async ({ scene }) => {
    mkdirSync(scene.leases, { recursive: true })
    chmodSync(scene.leases, 0o555)
    const { run, started } = runTouching(scene, { via: HELD_TO_PERMISSIONS })
    const said = await expectNothingStarted(run, started, join(scene.leases, scene.uid))
    expect(said).toContain('EACCES')
  })

  test('it is a file: exit 69, the path named, nothing started', async ({ scene }) => {
    writeFileSync(scene.shared, 'not a folder')
    const { run, started } = runTouching(scene)
    await expectNothingStarted(run, started, scene.shared)
    expect(readFileSync(scene.shared, 'utf8')).toBe('not a folder')
  })

  test('its disk is full: exit 69, the path named, nothing started, and no lease is left', async ({
    scene
  }) => {
    const started = scene.newPath('started')
    const words = scene.runWords(['touch', started])
    let run: Program
    if (MOUNTING === undefined) {
      run = scene.start(words, { environment: standIn(scene, { full: true }) })
    } else {
      mkdirSync(scene.shared)
      const script = [
        `mount -t tmpfs -o size=64k tmpfs ${quoted(scene.shared)}`,
        `dd if=/dev/zero of=${quoted(join(scene.shared, 'fill'))} bs=4k 2> /dev/null`,
        `${words.map(quoted).join(' ')}; code=$?`,
        `ls ${quoted(scene.leases)} | grep -c 'lease[.]json' >&2`,
        'exit $code'
      ]
      run = scene.start([...MOUNTING, 'sh', '-c', script.join('\n')])
    }
    const said = await expectNothingStarted(run, started, join(scene.leases, scene.uid))
    expect(said).toContain('ENOSPC')
    if (MOUNTING === undefined) expect(existsSync(scene.leaseFile())).toBe(false)
    else expect(said).toMatch(/^0$/m)
  })

  test('its disk is full while another lease is held there: that lease stays as it is', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const holder = scene.run(scene.agent('holder', '--until', stop))
    await scene.audited('holder', 'begin')
    const { epoch, claim_id: claim } = scene.lease()
    const { run, started } = runTouching(scene, {
      uid: 'another',
      environment: standIn(scene, { full: true })
    })
    await expectNothingStarted(run, started, join(scene.leases, 'another'))
    expect(scene.lease()).toMatchObject({ epoch, claim_id: claim })
    scene.trigger(stop)
    expect((await holder.ended).code).toBe(0)
  })

  test('as data with --json', async ({ scene }) => {
    writeFileSync(scene.shared, 'not a folder')
    const { run } = runTouching(scene, { flags: ['--json'] })
    const { code, stdout, stderr } = await run.ended
    expect({ code, stderr }).toEqual({ code: 69, stderr: '' })
    const refusal = parseRefusal(JSON.parse(stdout).refusal)
    expect(refusal).toMatchObject({ kind: 'io', path: expect.stringContaining(scene.shared) })
  })

  test('a process stopped inside the lock is named, with what to do about it', async ({ scene }) => {
    mkdirSync(scene.leases, { recursive: true, mode: 0o700 })
    const lock = join(scene.leases, `${scene.uid}.lock`)
    writeFileSync(lock, '')
    const locker = scene.lockFile(lock)
    await locker.prints(/locked/)
    locker.signal('SIGSTOP')
    const { run, started } = runTouching(scene)
    const said = await expectNothingStarted(run, started, lock)
    expect(said).toContain(`pid ${locker.pid}`)
    expect(said).toContain(`kill -CONT ${locker.pid}`)
    locker.signal('SIGCONT')
    locker.signal('SIGTERM')
    await locker.ended
    await until('the agent can be claimed', async () => (await scene.run(['true']).ended).code === 0)
  })
})
