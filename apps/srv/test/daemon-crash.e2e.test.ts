/** Daemons that are killed or stopped in the middle: nobody drives beside what they left, and what they say late is not heard (R4, R12). */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { Daemon } from './harness/daemon.js'
import { lives, stateOf } from './harness/processes.js'
import { type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

function recordOf(scene: Scene): { epoch: number; kind: string; text?: string }[] {
  const path = join(scene.shared, 'agents', 'records', scene.uid, '0000000000000000.jsonl')
  return scene.lines(path).map((line) => JSON.parse(line))
}

describe.concurrent('a daemon that is killed', () => {
  test('while its agent is at work: another lets nobody drive beside it', async ({ scene }) => {
    const poll = await pollClaims(scene)
    const a = await Daemon.start(scene, 'stable')
    const pane = await a.opened(['--stubborn', '--leaves', '--chatter'])
    const { claim_id } = scene.lease()
    await poll.sees(claim_id)
    const b = await Daemon.start(scene, 'nightly')
    expect((await b.open()).status).toBe(409)
    a.program.signal('SIGKILL')
    await a.program.ended
    expect(lives(pane.pid)).toBe(true)
    const next = await b.openedInTheEnd()
    expect(next.epoch).toBe(pane.epoch + 1)
    await poll.sees(scene.lease().claim_id)
    const seen = await poll.end()
    expect(seen.claims).toHaveLength(2)
    expect(seen.overlaps).toEqual([])
    expect(seen.uncovered).toEqual([])
  })

  test('leaves nothing to the next of its channel: what it ran is ended before anything is opened', async ({
    scene
  }) => {
    const a = await Daemon.start(scene)
    const panes = [
      await a.opened(['--stubborn', '--leaves'], { agent: 'Ada' }),
      await a.opened(['--stubborn'], { uid: `${scene.uid}-2` })
    ]
    const entry = join(scene.shared, 'agents', 'reactive', 'ada', 'stable.json')
    expect(existsSync(entry)).toBe(true)
    a.program.signal('SIGKILL')
    await a.program.ended
    expect(a.file().kind).toBe('found')
    expect(panes.map(({ pid }) => lives(pid))).toEqual([true, true])
    const again = await Daemon.start(scene)
    // It answers, so all of them are gone.
    expect(panes.map(({ pid }) => lives(pid))).toEqual([false, false])
    expect(existsSync(scene.leaseFile())).toBe(false)
    expect(existsSync(entry)).toBe(false)
    expect(again.key).not.toBe(a.key)
    expect((await again.ask('/api/v1/agents')).body).toEqual({ agents: [] })
    expect((await again.opened()).epoch).toBeGreaterThan(panes[0]?.epoch ?? 0)
  })

  test('again and again, and is started again each time: one daemon, one agent, no epoch twice', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const epochs: number[] = []
    for (let times = 0; times < 3; times++) {
      const daemon = await Daemon.start(scene)
      const others = [scene.cli(['serve']), scene.cli(['serve'])]
      epochs.push((await daemon.opened(['--stubborn'])).epoch)
      expect((await Promise.all(others.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([75, 75])
      daemon.program.signal('SIGKILL')
      await daemon.program.ended
    }
    expect([...epochs].sort((one, other) => one - other)).toEqual(epochs)
    expect(new Set(epochs).size).toBe(3)
    const seen = await poll.end()
    expect(seen.overlaps).toEqual([])
    expect(seen.uncovered).toEqual([])
  })
})

describe.concurrent('a daemon that is stopped', () => {
  test('loses its agent to another, and finds out when it goes on: superseded, and nothing late is recorded', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const a = await Daemon.start(scene, 'stable')
    // Quiet: one that is stopped while it writes to the record keeps everybody out, and is named.
    const pane = await a.opened(['--stubborn'])
    const b = await Daemon.start(scene, 'nightly')
    await a.program.stop(1)
    process.kill(pane.pid, 'SIGSTOP')
    await until('both are stopped', () => stateOf(a.program.pid) === 'T' && stateOf(pane.pid) === 'T')
    const next = await b.openedInTheEnd()
    expect(lives(pane.pid)).toBe(false)
    a.program.signal('SIGCONT')
    await until('it is superseded', async () => (await a.pane(pane.block_id)).state === 'superseded')
    expect((await a.turn(pane.block_id, 'too late')).status).toBe(409)
    expect((await b.turn(next.block_id, 'hello')).status).toBe(200)
    await b.says(next.block_id, 'heard hello')
    const lines = recordOf(scene)
    const first = lines.findIndex(({ epoch }) => epoch === next.epoch)
    expect(lines.slice(first).filter(({ epoch }) => epoch !== next.epoch)).toEqual([])
    expect(readFileSync(scene.leaseFile(), 'utf8')).toContain('nightly')
    const seen = await poll.end()
    expect(seen.claims).toHaveLength(2)
    expect(seen.overlaps).toEqual([])
  })

  test('has its agent as before when nobody claimed it meanwhile', async ({ scene }) => {
    const a = await Daemon.start(scene)
    const pane = await a.opened()
    await scene.settled()
    const before = scene.lease()
    await a.program.stop(1)
    process.kill(pane.pid, 'SIGSTOP')
    const ttlMs = Number(before.ttl_ms)
    const renewedMs = Number(before.renewed_boot_ms)
    const bootMs = () => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1_000
    await until('the lease has run out', () => bootMs() > renewedMs + 2 * ttlMs)
    process.kill(pane.pid, 'SIGCONT')
    a.program.signal('SIGCONT')
    expect((await a.turn(pane.block_id, 'hello')).body).toMatchObject({ epoch: pane.epoch })
    await a.says(pane.block_id, 'heard hello')
    expect(scene.lease()).toMatchObject({ claim_id: before.claim_id, epoch: before.epoch })
  })
})
