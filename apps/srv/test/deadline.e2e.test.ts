/** A run that cannot confirm its lease ends its command before the lease runs out, whatever blocks it (R13). */
import { describe, expect } from 'vitest'
import { bootMs, lives } from './harness/processes.js'
import { fixture, type Scene, test } from './harness/scene.js'
import { standIn } from './harness/stand-in.js'
import { until } from './harness/until.js'

const PRELOAD = ['--import', fixture('main-thread.mjs')]

/** Resolves once all are gone, with how long after the start of the last good renewal that was. */
async function gone(scene: Scene, pids: readonly number[]): Promise<number> {
  await until('the command and what it started are gone', () => !pids.some(lives))
  const goneMs = bootMs()
  return goneMs - Number(scene.lease().renewed_boot_ms)
}

/** Names that ignore SIGTERM, so that only SIGKILL counts. */
function stubborn(scene: Scene): string[] {
  return scene.agent('child', '--ignore', 'SIGTERM', '--session-child', 'daemon')
}

async function familyOf(scene: Scene): Promise<number[]> {
  const lines = await Promise.all(['child', 'daemon'].map((name) => scene.audited(name, 'begin')))
  return lines.map(({ pid }) => pid)
}

describe.concurrent('run, unable to confirm its lease', () => {
  test('its main thread is blocked for 20 s: the command is gone before the lease runs out, and it exits 76', async ({
    scene
  }) => {
    const block = scene.newPath('block')
    const run = scene.run(stubborn(scene), {
      nodeFlags: PRELOAD,
      flags: ['--grace', '60'],
      environment: { BLOCK_TRIGGER: block }
    })
    const family = await familyOf(scene)
    await scene.settled()
    scene.trigger(block)
    expect(await gone(scene, family)).toBeLessThan(15_000)
    expect(scene.auditLines()).toContainEqual(expect.objectContaining({ name: 'child', signal: 'SIGTERM' }))
    const ended = await run.ended
    expect(ended.code).toBe(76)
    expect(ended.stderr).toContain('it could not be confirmed in time')
  })

  test('the main thread is blocked and the command heeds SIGTERM: it still exits 76, not with the code of the command', async ({
    scene
  }) => {
    const block = scene.newPath('block')
    const run = scene.run(scene.agent('child'), { nodeFlags: PRELOAD, environment: { BLOCK_TRIGGER: block } })
    const child = await scene.audited('child', 'begin')
    await scene.settled()
    scene.trigger(block)
    expect(await gone(scene, [child.pid])).toBeLessThan(15_000)
    expect(scene.auditLines().at(-1)).toMatchObject({ event: 'end' })
    expect((await run.ended).code).toBe(76)
  })

  test('its disk stops answering: the command is gone before the lease runs out, and then the agent can be claimed', async ({
    scene
  }) => {
    const freeze = scene.newPath('freeze')
    const run = scene.run(stubborn(scene), {
      flags: ['--grace', '60'],
      environment: standIn(scene, { freeze })
    })
    const family = await familyOf(scene)
    await scene.settled()
    scene.trigger(freeze)
    expect(await gone(scene, family)).toBeLessThan(15_000)
    expect(scene.auditLines()).toContainEqual(expect.objectContaining({ name: 'child', signal: 'SIGTERM' }))
    // The run hangs in the kernel, as it would; the lease runs out without it.
    expect(run.running).toBe(true)
    const next = await scene.run(['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH'], { flags: ['--wait'] }).ended
    expect(next).toMatchObject({ code: 0, stdout: '2\n' })
    run.signal('SIGKILL')
  })

  test('the command ends on its own just after the lease was lost: it exits 76, not with the code of the command', async ({
    scene
  }) => {
    const settled = `until grep -q '"driver_pid": [1-9]' ${scene.leaseFile()}; do sleep 0.05; done`
    const { code, stderr } = await scene.run(['sh', '-c', `${settled}; rm ${scene.leaseFile()}; exit 0`])
      .ended
    expect(code).toBe(76)
    expect(stderr).toContain('its lease file was removed')
  })

  test('its lease folder is gone: it exits 76, says why, and nothing of the command is left', async ({
    scene
  }) => {
    const run = scene.run(stubborn(scene))
    const family = await familyOf(scene)
    await scene.removeShared()
    const ended = await run.ended
    expect(ended.code).toBe(76)
    expect(ended.stderr).toContain('lost its single-instance lease')
    expect(family.map(lives)).toEqual([false, false])
  })
})
