/** What run makes of a lease file that it finds: dead at once, alive, or only to be judged by watching (R3, R8, R14). */
import { parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { NO_PID, oldRecord, putLease, type RecordFields, record } from './harness/lease-record.js'
import { bootMs, lives, startTicksOf } from './harness/processes.js'
import { type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

const ECHO_EPOCH = ['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH']

/** Claimed without watching: with -n an open question would be exit 69. */
async function claimedAtOnce(scene: Scene, found: RecordFields): Promise<void> {
  putLease(scene, found)
  expect(await scene.run(ECHO_EPOCH, { flags: ['-n'] }).ended).toMatchObject({ code: 0, stdout: '8\n' })
}

/** Not claimed with -n, which does not wait; claimed after a TTL of watching without it. */
async function claimedAfterWatching(scene: Scene, found: RecordFields | string | Uint8Array): Promise<void> {
  putLease(scene, found)
  const answered = await scene.run(['touch', scene.newPath('started')], { flags: ['-n', '--json'] }).ended
  expect(answered.code).toBe(69)
  expect(parseRefusal(JSON.parse(answered.stdout).refusal)).toMatchObject({ kind: 'unknown' })

  const startedMs = bootMs()
  const watching = scene.run(ECHO_EPOCH)
  await watching.says(/Watching the lease of .* for \d+ s, to see whether its holder is alive/)
  const ended = await watching.ended
  expect(ended).toMatchObject({ code: 0, stdout: '8\n' })
  // Never sooner than a TTL: somebody may hold it. That it is not much later is the watch's own bound.
  expect(bootMs() - startedMs).toBeGreaterThanOrEqual(15_000)
}

async function refused(scene: Scene, found: RecordFields): Promise<string> {
  putLease(scene, found)
  const ended = await scene.run(['touch', scene.newPath('started')], { flags: ['-n'] }).ended
  expect(ended.code).toBe(75)
  return ended.stderr
}

/** Renewed a moment ago, for a TTL of ten minutes: however slow the machine, it has not run out when it is found. */
function fresh(): RecordFields {
  return { renewed_boot_ms: Math.round(bootMs()), ttl_ms: 600_000 }
}

describe.concurrent('run, finding a lease', () => {
  test('its pid is gone: claimed at once, though it was renewed a moment ago', ({ scene }) =>
    claimedAtOnce(scene, record(scene, { pid: NO_PID, ...fresh() })))

  test('its pid was reused, so the start differs: claimed at once, and whoever has the pid now is left alone', async ({
    scene
  }) => {
    const stranger = scene.start(['sleep', '600'])
    const fields = {
      pid: stranger.pid,
      pid_start_ticks: startTicksOf(stranger.pid) - 1,
      driver_pid: stranger.pid,
      ...fresh()
    }
    await claimedAtOnce(scene, record(scene, fields))
    expect(lives(stranger.pid)).toBe(true)
  })

  test('its pid runs with the same start and it was renewed a moment ago: refused', async ({ scene }) => {
    const holder = scene.start(['sleep', '600'])
    const fields = { pid: holder.pid, pid_start_ticks: startTicksOf(holder.pid) }
    const said = await refused(scene, record(scene, { ...fields, ...fresh() }))
    expect(said).toContain(`pid ${holder.pid}`)
  })

  test('its holder runs but has not renewed for a TTL of this machine’s boot: claimed at once', async ({
    scene
  }) => {
    const holder = scene.start(['sleep', '600'])
    const fields = { pid: holder.pid, pid_start_ticks: startTicksOf(holder.pid), ttl_ms: 500 }
    await claimedAtOnce(scene, record(scene, { ...fields, renewed_boot_ms: Math.round(bootMs()) - 600 }))
    expect(lives(holder.pid)).toBe(true)
  })

  test('of another host: watched for one TTL, then claimed', ({ scene }) =>
    claimedAfterWatching(
      scene,
      record(scene, { hostname: 'another-host', host_boot_id: 'b6f0c1de-0000-4000-8000-0000000000ff' })
    ))

  test('of another host, renewed a moment ago by its clock: refused at once, as on another computer', async ({
    scene
  }) => {
    const said = await refused(
      scene,
      record(scene, {
        hostname: 'another-host',
        host_boot_id: 'b6f0c1de-0000-4000-8000-0000000000ff',
        renewed_at_ms: Date.now(),
        ttl_ms: 600_000
      })
    )
    expect(said).toContain('another-host')
  })

  test('of another host that renews while it is watched: refused, and the watch ends there', async ({
    scene
  }) => {
    const host = { hostname: 'another-host', host_boot_id: 'b6f0c1de-0000-4000-8000-0000000000ff' }
    // Long enough for the change to come in time on any machine.
    const fields = { ...host, ttl_ms: 600_000 }
    putLease(scene, record(scene, fields))
    const watching = scene.run(['touch', scene.newPath('started')])
    await watching.says(/Watching the lease/)
    putLease(scene, record(scene, { ...fields, renewed_at_ms: Date.now() - 7_200_000 }))
    expect((await watching.ended).code).toBe(75)
  })

  test('of an older build, without the newer fields, whose pid is gone: claimed at once', ({ scene }) =>
    claimedAtOnce(scene, oldRecord(scene)))

  test('of an older build whose pid runs: watched for one TTL, then claimed', async ({ scene }) => {
    const holder = scene.start(['sleep', '600'])
    await claimedAfterWatching(scene, oldRecord(scene, { pid: holder.pid }))
    expect(lives(holder.pid)).toBe(true)
  })

  test('with the required fields alone: watched for one TTL, then claimed', ({ scene }) => {
    const { instance_id, owner_boot_id, pid, acquired_at_ms, renewed_at_ms } = oldRecord(scene)
    return claimedAfterWatching(scene, { instance_id, owner_boot_id, pid, acquired_at_ms, renewed_at_ms })
  })

  test('not JSON: watched for one TTL, then claimed above the counter', ({ scene }) =>
    claimedAfterWatching(scene, 'this is not JSON'))

  test('empty: watched for one TTL, then claimed above the counter', ({ scene }) =>
    claimedAfterWatching(scene, ''))

  test('NUL bytes: watched for one TTL, then claimed above the counter', ({ scene }) =>
    claimedAfterWatching(scene, new Uint8Array(512)))

  test('half a record: watched for one TTL, then claimed above the counter', ({ scene }) =>
    claimedAfterWatching(scene, JSON.stringify(record(scene), undefined, 2).slice(0, 200)))

  test('unreadable and rewritten while it is watched: the TTL counts from the last write', async ({
    scene
  }) => {
    putLease(scene, 'damaged once')
    const watching = scene.run(ECHO_EPOCH, { flags: ['--wait'] })
    await watching.says(/Watching the lease/)
    const firstMs = bootMs()
    await until('some of the TTL has passed', () => bootMs() > firstMs + 2_000)
    putLease(scene, 'damaged twice')
    const rewrittenMs = bootMs()
    expect(await watching.ended).toMatchObject({ code: 0, stdout: '8\n' })
    expect(bootMs() - rewrittenMs).toBeGreaterThanOrEqual(14_900)
  })
})
