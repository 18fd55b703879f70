/** A run and its command that are stopped for longer than the TTL, as by a closed lid or SIGSTOP (R12, R13). */
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { bootMs, lives, stateOf } from './harness/processes.js'
import type { Program } from './harness/program.js'
import { type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

/** Stops both, and returns how to let them go on. */
async function suspend(run: Program, child: number): Promise<() => void> {
  await run.stop()
  process.kill(child, 'SIGSTOP')
  await until('both are stopped', () => stateOf(run.pid) === 'T' && stateOf(child) === 'T')
  return () => {
    process.kill(child, 'SIGCONT')
    run.signal('SIGCONT')
  }
}

/** Until the lease has not been renewed for its TTL, and then some. */
async function expiry(scene: Scene): Promise<void> {
  const { renewed_boot_ms: renewedMs, ttl_ms: ttlMs } = scene.lease()
  await until('the lease has run out', () => bootMs() > Number(renewedMs) + Number(ttlMs) + 1_000)
}

describe.concurrent('run, stopped for longer than the TTL', () => {
  test('nobody claimed: it goes on with the same claim and epoch, and its child lives', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const run = scene.run(scene.agent('child', '--until', stop))
    const child = await scene.audited('child', 'begin')
    const before = scene.lease()
    const wake = await suspend(run, child.pid)
    await expiry(scene)
    wake()
    await until(
      'the lease is renewed',
      () => Number(scene.lease().renewed_boot_ms) > Number(before.renewed_boot_ms)
    )
    await scene.beatsAgain(child.pid)
    // Past the deadline that it had when it was stopped.
    const resumedMs = bootMs()
    await until('a few seconds more have passed', () => bootMs() > resumedMs + 4_000)
    expect(scene.lease()).toMatchObject({ epoch: before.epoch, claim_id: before.claim_id })
    expect(lives(child.pid)).toBe(true)
    scene.trigger(stop)
    expect((await run.ended).code).toBe(0)
    expect(scene.auditLines().filter(({ signal }) => signal === 'SIGTERM')).toEqual([])
  })

  test('somebody claimed: the old processes ended before the grant; the old run exits 76 and leaves the new lease alone', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const poll = await pollClaims(scene)
    const old = scene.run(scene.agent('old', '--session-child', 'daemon'))
    const [child, daemon] = await Promise.all([
      scene.audited('old', 'begin'),
      scene.audited('daemon', 'begin')
    ])
    const wake = await suspend(old, child.pid)
    await expiry(scene)
    const next = scene.run(scene.agent('new', '--until', stop))
    const successor = await scene.audited('new', 'begin')
    expect(successor.epoch).toBe(2)
    expect([child.pid, daemon.pid].map(lives)).toEqual([false, false])
    await poll.sees(successor.claim)
    wake()
    const ended = await old.ended
    expect(ended.code).toBe(76)
    expect(ended.stderr).toContain('lost its single-instance lease')
    expect(ended.stderr).toContain(`pid ${next.pid}`)
    expect(scene.lease()).toMatchObject({ epoch: 2, claim_id: successor.claim })
    expect(lives(successor.pid)).toBe(true)
    scene.trigger(stop)
    expect((await next.ended).code).toBe(0)
    expect((await poll.end()).overlaps).toEqual([])
  })

  test('only the run is stopped and somebody claims: its child, which goes on alone, is ended first', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const old = scene.run(scene.agent('old'))
    const child = await scene.audited('old', 'begin')
    await old.stop()
    await expiry(scene)
    await scene.beatsAgain(child.pid)
    const next = await scene.run(['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH']).ended
    expect(next).toMatchObject({ code: 0, stdout: '2\n' })
    expect(lives(child.pid)).toBe(false)
    expect(scene.auditLines()).toContainEqual(expect.objectContaining({ name: 'old', event: 'end' }))
    old.signal('SIGCONT')
    const ended = await old.ended
    expect(ended.code).toBe(76)
    expect((await poll.end()).overlaps).toEqual([])
  })

  test('a child that is stopped alone keeps its lease, and is killed when the run is told to end it by a loss', async ({
    scene
  }) => {
    const run = scene.run(scene.agent('child'))
    const child = await scene.audited('child', 'begin')
    process.kill(child.pid, 'SIGSTOP')
    await until('it is stopped', () => stateOf(child.pid) === 'T')
    const { epoch } = scene.lease()
    const stoppedMs = bootMs()
    await until('the TTL has passed', () => bootMs() > stoppedMs + 16_000)
    expect(scene.lease().epoch).toBe(epoch)
    expect((await scene.run(['true']).ended).code).toBe(75)
    // Somebody removes the lease file: a loss.
    await scene.removeLease()
    const ended = await run.ended
    expect(ended.code).toBe(76)
    expect(ended.stderr).toContain('its lease file was removed')
    expect(lives(child.pid)).toBe(false)
  })
})
