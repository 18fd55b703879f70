/** An agent that is moved between two daemons by a person, and what everybody sees of it (R5, R9). */
import { chmodSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { Daemon } from './harness/daemon.js'
import { ask, type Entry } from './harness/instance.js'
import { lives } from './harness/processes.js'
import { type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

function recordOf(scene: Scene): { epoch: number; kind: string; text?: string }[] {
  const path = join(scene.shared, 'agents', 'records', scene.uid, '0000000000000000.jsonl')
  return scene.lines(path).map((line) => JSON.parse(line))
}

/** The record and who is registered, byte for byte, and the names of all files. A heartbeat rewrites the time alone. */
function sharedState(scene: Scene): Record<string, string> {
  const state: Record<string, string> = {}
  for (const name of readdirSync(scene.shared, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(scene.shared, name)
    const isFile = statSync(path).isFile()
    const text = isFile ? readFileSync(path, 'utf8') : 'folder'
    state[name] = text
      .replace(/"updated_at":\d+/, '')
      .replace(/"renewed_at_ms": \d+/, '')
      .replace(/"renewed_boot_ms": \d+/, '')
      .replace(/ +\n$/, '\n')
  }
  return state
}

function entryOf({ url, key, channel, program }: Daemon): Entry {
  return {
    agent_id: '',
    local_url: url,
    block_id: '',
    pid: program.pid,
    auth_key: key,
    channel,
    registration_nonce: 0
  }
}

const by = (channel: string) => ({ requested_by_channel: channel, requested_by_version: '0.0.0' })

describe.concurrent('an agent', () => {
  test('is moved to another daemon and taken back: one driver at any time, and each epoch one above', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const [a, b] = [await Daemon.start(scene, 'stable'), await Daemon.start(scene, 'nightly')]
    const onA = await a.opened(['--chatter'], { agent: 'Ada' })
    await scene.settled()

    // A record that is written to all the time would differ by that alone.
    const quiet = await a.ask(`/api/v1/agents/${onA.block_id}/close`, {})
    expect(quiet.body.agent.state).toBe('ended')
    const held = await a.opened([], { agent: 'Ada' })
    await scene.settled()
    const before = sharedState(scene)
    const refused = await b.open([], { agent: 'Ada' })
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({
      by: 'lease',
      refusal: { kind: 'held', holder: { channel: 'stable' } }
    })
    expect(refused.body.error).toContain('stable')
    expect(sharedState(scene)).toEqual(before)

    // As `take-over` asks on behalf of B's channel.
    const released = await a.ask('/agentmux/agent/release', { uid: scene.uid, ...by('nightly') })
    expect(released.body).toEqual({ ok: true, released: 1 })
    expect(lives(held.pid)).toBe(false)
    expect(await a.pane(held.block_id)).toMatchObject({
      state: 'superseded',
      refusal: { kind: 'taken-over', holder: { channel: 'nightly' } }
    })
    const within = await a.open()
    expect([within.status, within.body.by]).toEqual([409, 'handover-hold'])

    const onB = await b.opened([], { agent: 'Ada' })
    expect(onB.epoch).toBe(held.epoch + 1)
    expect((await a.turn(held.block_id, 'too late')).status).toBe(409)
    expect((await b.turn(onB.block_id, 'hello')).status).toBe(200)

    // A person at A takes it back, into the pane where it was.
    const taken = await a.ask('/api/v1/agent/takeover', { block_id: held.block_id })
    expect([taken.status, taken.body]).toEqual([200, { ok: true, released: true, from_channel: 'nightly' }])
    expect(await a.pane(held.block_id)).toMatchObject({ state: 'running', epoch: onB.epoch + 1 })
    expect(await b.pane(onB.block_id)).toMatchObject({
      state: 'superseded',
      refusal: { kind: 'taken-over', holder: { channel: 'stable' } }
    })
    expect((await b.open()).status).toBe(409)
    expect((await a.turn(held.block_id, 'back again')).status).toBe(200)
    await a.says(held.block_id, 'heard back again')

    const epochs = recordOf(scene).map(({ epoch }) => epoch)
    expect([...epochs].sort((one, other) => one - other)).toEqual(epochs)
    const seen = await poll.end()
    expect(seen.overlaps).toEqual([])
    expect(seen.uncovered).toEqual([])
    expect(seen.claims).toHaveLength(4)
  })

  test('is not stopped for somebody who has gone before the daemon came to read it', async ({ scene }) => {
    const a = await Daemon.start(scene, 'stable')
    const pane = await a.opened()
    await scene.settled()
    await a.program.stop(1)
    const gone = new AbortController()
    const asking = ask(entryOf(a), '/agentmux/agent/release', {
      body: { uid: scene.uid, ...by('nightly') },
      signal: gone.signal
    })
    asking.catch(() => {})
    // It waits for the daemon to go on: whoever comes after it is answered after it.
    await sleep(100)
    gone.abort()
    await expect(asking).rejects.toThrow()
    a.program.signal('SIGCONT')
    const other = await a.ask('/agentmux/agent/release', { uid: 'another', ...by('nightly') })
    expect(other.body).toEqual({ ok: true, released: 0 })
    expect(scene.exists(join(scene.leases, `${scene.uid}.hold`))).toBe(false)
    expect((await a.turn(pane.block_id, 'still here')).status).toBe(200)
    await a.says(pane.block_id, 'heard still here')
  })

  test('that nobody holds is taken over as it is', async ({ scene }) => {
    const a = await Daemon.start(scene)
    const pane = await a.opened()
    expect((await a.ask('/api/v1/agent/takeover', { block_id: pane.block_id })).body).toEqual({
      ok: true,
      released: false
    })
    expect((await a.pane(pane.block_id)).epoch).toBe(pane.epoch)
    await a.ask(`/api/v1/agents/${pane.block_id}/close`, {})
    const taken = await a.ask('/api/v1/agent/takeover', { block_id: pane.block_id })
    expect(taken.body).toEqual({ ok: true, released: false })
    expect(await a.pane(pane.block_id)).toMatchObject({ state: 'running', epoch: pane.epoch + 1 })
    expect((await a.ask('/api/v1/agent/takeover', { block_id: 'nobody' })).status).toBe(404)
  })

  test('that cannot be started after it was taken over is free, and kept for nobody', async ({ scene }) => {
    const [a, b] = [await Daemon.start(scene, 'stable'), await Daemon.start(scene, 'nightly')]
    const script = scene.newPath('script')
    writeFileSync(script, '#!/bin/sh\nexec cat\n')
    chmodSync(script, 0o755)
    const onA = (await a.open([], { command: [script] })).body
    await a.ask(`/api/v1/agents/${onA.block_id}/close`, {})
    const onB = await b.opened()
    unlinkSync(script)
    const taken = await a.ask('/api/v1/agent/takeover', { block_id: onA.block_id })
    expect(taken.status).toBe(422)
    expect(await b.pane(onB.block_id)).toMatchObject({ state: 'superseded' })
    expect(scene.exists(scene.leaseFile())).toBe(false)
    const beta = await Daemon.start(scene, 'beta')
    await beta.opened()
  })

  test('that a `run` of the channel holds is let go through the daemon of that channel', async ({
    scene
  }) => {
    const a = await Daemon.start(scene, 'stable')
    const run = scene.run(scene.agent('child'), { flags: ['--channel', 'stable'] })
    await scene.audited('child', 'begin')
    await until('it can be asked', () =>
      scene.exists(join(scene.shared, 'agents', 'reactive', scene.uid, 'stable.json'))
    )
    expect((await a.ask('/agentmux/agent/release', { uid: scene.uid, ...by('nightly') })).body).toEqual({
      ok: true,
      released: 1
    })
    expect((await run.ended).code).toBe(76)
    expect((await a.open()).body).toMatchObject({ by: 'handover-hold' })
    const b = await Daemon.start(scene, 'nightly')
    await b.opened()
  })
})
