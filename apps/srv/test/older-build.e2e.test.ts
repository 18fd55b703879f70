/**
 * An instance of an older build beside a daemon: it is registered, answers who it runs, and keeps no lease. What counts is
 * the UID that it names; a name is nobody's (R1).
 */
import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { Daemon } from './harness/daemon.js'
import { DaemonSeen } from './harness/daemon-seen.js'
import { entryFile } from './harness/instance.js'
import { anotherProcess, OLDER_CHANNEL, olderBuild } from './harness/older-build.js'
import { lives } from './harness/processes.js'
import { type Scene, test } from './harness/scene.js'
import { sharedState } from './harness/shared-state.js'

/** What an older build knows of a release. */
const NOT_FOUND = { status: 404, body: { error: 'not found' } }

/** It says that it runs an agent of this UID, under the name `ada`. */
async function olderBuildWith(scene: Scene, uid: string) {
  const { pid } = anotherProcess(scene)
  return { pid, ...(await olderBuild(scene, { pid, registrations: [uid], release: NOT_FOUND })) }
}

describe('beside an older build', () => {
  for (const [how, written] of [
    ['as it is', (uid: string) => uid],
    ['in other letters and with blanks around it', (uid: string) => ` ${uid.toUpperCase()} `]
  ] as const) {
    test(`that names the agent’s UID ${how}: refused, the older build is named, and nothing shared is written`, async ({
      scene
    }) => {
      const daemon = await Daemon.start(scene, 'stable')
      const seen = await DaemonSeen.from(daemon)
      const older = await olderBuildWith(scene, written(scene.uid))
      const before = sharedState(scene)
      const refused = await daemon.open([], { agent: 'Grace' })
      expect(refused).toMatchObject({
        status: 409,
        body: {
          by: 'probe',
          refusal: { kind: 'held', holder: { channel: OLDER_CHANNEL, pid: older.pid, blockId: 'block' } }
        }
      })
      expect(refused.body.error).toContain('is already running in another AgentMux instance')
      expect(refused.body.error).toContain(`channel ${OLDER_CHANNEL}`)
      expect(sharedState(scene)).toEqual(before)
      expect(older.asked()).toBe(0)
      expect(seen.changes()).toEqual([])
      expect(await seen.counts()).toEqual({ 'denied host': 1, 'compat_probe_hit host': 1, held: 0 })

      older.forget()
      expect((await daemon.opened([], { agent: 'Grace' })).epoch).toBe(1)
    })
  }

  test('that runs another UID under the same name: not refused', async ({ scene }) => {
    const daemon = await Daemon.start(scene, 'stable')
    const older = await olderBuildWith(scene, `${scene.uid}-2`)
    const theirs = readFileSync(entryFile(scene, 'ada', OLDER_CHANNEL), 'utf8')
    const pane = await daemon.opened([], { agent: 'ada' })
    expect((await daemon.turn(pane.block_id, 'hello')).status).toBe(200)
    await daemon.says(pane.block_id, 'heard hello')
    expect(readFileSync(entryFile(scene, 'ada', OLDER_CHANNEL), 'utf8')).toBe(theirs)
    expect((await daemon.open([], { uid: `${scene.uid}-2`, agent: 'grace' })).status).toBe(409)
    expect(older.asked()).toBe(0)
  })

  test('a `run` of the UID that it names is refused, or waits until it is not named any more; of another, runs', async ({
    scene
  }) => {
    const older = await olderBuildWith(scene, scene.uid)
    const refused = await scene.run(['true'], { flags: ['--agent', 'Grace', '--json'] }).ended
    expect(refused.code).toBe(75)
    expect(JSON.parse(refused.stdout).refusal).toMatchObject({
      kind: 'held',
      holder: { channel: OLDER_CHANNEL, pid: older.pid }
    })
    // Nothing was claimed.
    expect(scene.exists(scene.leases)).toBe(false)
    expect(
      (await scene.run(['sh', '-c', 'exit 3'], { uid: `${scene.uid}-2`, flags: ['--agent', 'ada'] }).ended)
        .code
    ).toBe(3)
    expect((await scene.run(['true'], { flags: ['--wait=1'] }).ended).code).toBe(124)

    const waiting = scene.run(['sh', '-c', 'exit 4'], { flags: ['--wait'] })
    await waiting.says(/is already running in another AgentMux instance/)
    older.forget()
    expect((await waiting.ended).code).toBe(4)
    expect(older.asked()).toBe(0)
  })

  test('a take-over from it: it is too old to be asked, exit 75; it goes on, and nothing is kept', async ({
    scene
  }) => {
    const daemon = await Daemon.start(scene, 'stable')
    const closed = await daemon.opened([], { agent: 'Ada' })
    await daemon.ask(`/api/v1/agents/${closed.block_id}/close`, {})
    const older = await olderBuildWith(scene, scene.uid)
    const before = sharedState(scene)

    const taken = await scene.cli(['take-over', scene.uid, '--yes']).ended
    expect([taken.code, taken.stdout]).toEqual([75, ''])
    expect(taken.stderr).toContain(`channel ${OLDER_CHANNEL}`)
    expect(taken.stderr).toContain('is too old to be asked. End the agent there, then start it here.')
    expect(older.asked()).toBe(1)

    const asked = await daemon.ask('/api/v1/agent/takeover', { block_id: closed.block_id })
    expect([asked.status, asked.body.error]).toEqual([409, expect.stringContaining('is too old to be asked')])
    expect(older.asked()).toBe(2)
    expect(lives(closed.pid)).toBe(false)
    // The reservation came and went; nothing else did.
    const folder = /^folder \d+$/
    const known = (state: Record<string, string>) =>
      Object.entries(state).map(([name, text]) => [name, folder.test(text) ? 'folder' : text])
    expect(known(sharedState(scene))).toEqual(known(before))
    expect((await daemon.open()).body).toMatchObject({ by: 'probe' })

    older.forget()
    expect((await daemon.opened()).epoch).toBe(2)
  })
})
