/**
 * Two daemons of two channels on one shared folder, and one agent that a person moves between them: who is refused, who is
 * told what, what the record holds, and what whoever watches both daemons sees of it (R1, R2, R4, R5, R9, R10).
 */
import { hostname } from 'node:os'
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { Daemon } from './harness/daemon.js'
import { DaemonSeen } from './harness/daemon-seen.js'
import { lives } from './harness/processes.js'
import { fixture, type Scene, test } from './harness/scene.js'
import { sharedState } from './harness/shared-state.js'
import { until } from './harness/until.js'

const HOST = hostname().trim().toLowerCase()
const TAKE_OVER = '/api/v1/agent/takeover'

/** The agent's CLI, and where it writes. */
function diehard(scene: Scene) {
  const transcript = scene.newPath('transcript')
  const late = scene.newPath('late')
  const words = [process.execPath, fixture('diehard-agent.mjs'), '--transcript', transcript]
  return {
    opening: { agent: 'Ada', command: [...words, '--escapes', late] },
    transcript: () => scene.lines(transcript),
    late: () => scene.lines(late).length
  }
}

function takeOver(scene: Scene, channel: string) {
  return scene.cli(['take-over', scene.uid, '--agent', 'Ada', '--yes', '--channel', channel]).ended
}

describe('one agent, two daemons', () => {
  test('refused, taken over, taken back: one driver at any time, and everybody is told', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const a = await Daemon.start(scene, 'stable')
    const b = await Daemon.start(scene, 'beta')
    const [seenA, seenB] = [await DaemonSeen.from(a), await DaemonSeen.from(b)]
    const agent = diehard(scene)

    const first = await a.opened([], agent.opening)
    expect((await a.turn(first.block_id, 'hello')).body).toMatchObject({ epoch: first.epoch })
    await a.says(first.block_id, 'heard hello')
    await scene.settled()

    // Refused, with A named, before anything shared is written.
    const before = sharedState(scene)
    const refused = await b.open([], agent.opening)
    expect(sharedState(scene)).toEqual(before)
    expect(refused).toMatchObject({
      status: 409,
      body: {
        by: 'lease',
        refusal: {
          kind: 'held',
          holder: { hostname: HOST, channel: 'stable', pid: a.program.pid, blockId: first.block_id }
        }
      }
    })
    expect(refused.body.error).toContain('is already running in another AgentMux instance')
    expect(refused.body.error).toContain('channel stable')
    expect((await b.ask('/api/v1/agents')).body).toEqual({ agents: [] })

    // It talks without end when a person at B takes it over; a process that has left its claim talks on after it.
    expect((await a.turn(first.block_id, 'talk')).status).toBe(200)
    await until('it talks', () => agent.late() > 0)
    const taken = await takeOver(scene, 'beta')
    expect([taken.code, taken.stderr]).toEqual([0, expect.stringContaining('channel stable')])
    expect(lives(first.pid)).toBe(false)
    expect(agent.transcript().map((line) => line.slice(2))).toEqual([
      'begun',
      'heard hello',
      'heard talk',
      'end of input',
      'terminated'
    ])

    // A's pane says by whom, and A is refused for as long as the agent is kept for B: held by nobody now.
    const superseded = await a.pane(first.block_id)
    expect(superseded).toMatchObject({
      state: 'superseded',
      epoch: first.epoch,
      refusal: { kind: 'taken-over', holder: { hostname: HOST, channel: 'beta' } }
    })
    expect(superseded.refusal.message).toContain('was taken over by another AgentMux instance')
    expect(superseded.refusal.message).toContain('channel beta')
    expect(scene.exists(scene.leaseFile())).toBe(false)
    const kept = await a.open([], agent.opening)
    expect([kept.status, kept.body.by]).toEqual([409, 'handover-hold'])
    expect(kept.body.error).toMatch(
      /was taken over .*channel beta.* is kept for channel beta for another \d+ s/
    )

    const second = await b.opened([], agent.opening)
    expect(second.epoch).toBe(first.epoch + 1)
    const within = await a.open([], agent.opening)
    expect([within.status, within.body.error]).toEqual([409, expect.stringContaining('channel beta')])
    expect((await a.turn(first.block_id, 'too late')).status).toBe(409)

    // What is left of A's agent goes on talking, into nothing.
    const lateBefore = agent.late()
    await until('it has said more', () => agent.late() > lateBefore + 20)
    expect((await b.turn(second.block_id, 'still there')).status).toBe(200)
    await b.says(second.block_id, 'heard still there')
    const record = await seenB.record(second.block_id)
    expect(await seenA.record(first.block_id)).toEqual(record)
    const handedOver = record.findIndex(({ event }) => event.kind === 'handed-over')
    const [ofA, ofB] = [record.slice(0, handedOver + 1), record.slice(handedOver + 1)]
    expect(new Set(ofA.map(({ epoch }) => epoch))).toEqual(new Set([first.epoch]))
    expect(new Set(ofB.map(({ epoch }) => epoch))).toEqual(new Set([second.epoch]))
    const textOf = (lines: typeof record) =>
      lines.map(({ event }) => (event.kind === 'output' ? event.text : '')).join('')
    expect(textOf(ofA)).toMatch(/tick \d+\./)
    expect(textOf(ofA)).toMatch(/late \d+\./)
    expect(textOf(ofA)).not.toContain(`late ${lateBefore}.`)
    expect(textOf(ofB)).not.toMatch(/tick|late/)

    // A person at A takes it back.
    expect((await takeOver(scene, 'stable')).code).toBe(0)
    expect((await b.open([], agent.opening)).body).toMatchObject({ by: 'handover-hold' })
    const third = await a.opened([], agent.opening)
    expect(third.epoch).toBe(second.epoch + 1)
    expect((await a.turn(third.block_id, 'welcome back')).status).toBe(200)
    await a.says(third.block_id, 'heard welcome back')
    expect(await b.pane(second.block_id)).toMatchObject({
      state: 'superseded',
      refusal: { kind: 'taken-over', holder: { channel: 'stable' } }
    })

    // And a person at B's console, into the pane where it was.
    const moved = await b.ask(TAKE_OVER, { block_id: second.block_id })
    expect(moved).toEqual({ status: 200, body: { ok: true, released: true, from_channel: 'stable' } })
    expect(await b.pane(second.block_id)).toMatchObject({ state: 'running', epoch: third.epoch + 1 })
    expect(lives(third.pid)).toBe(false)
    expect((await a.open([], agent.opening)).status).toBe(409)
    expect((await b.turn(second.block_id, 'the last')).status).toBe(200)
    await until('it hears the last', () => agent.transcript().includes(`${third.epoch + 1} heard the last`))

    // What whoever watches has seen of it.
    expect(seenA.changes()).toEqual([
      'opened epoch 1 running',
      'changed epoch 1 closing',
      'changed epoch 1 superseded, ended',
      'opened epoch 3 running',
      'changed epoch 3 closing',
      'changed epoch 3 superseded, ended'
    ])
    expect(seenB.changes()).toEqual([
      'opened epoch 2 running',
      'changed epoch 2 closing',
      'changed epoch 2 superseded, ended',
      'opened epoch 4 running'
    ])
    expect(await seenA.counts()).toEqual({ 'granted host': 2, 'denied host': 3, 'takeover host': 2, held: 0 })
    expect(await seenB.counts()).toEqual({ 'granted host': 2, 'denied host': 2, 'takeover host': 2, held: 1 })

    const audit = await poll.end()
    expect(audit).toMatchObject({ overlaps: [], uncovered: [] })
    expect(audit.claims).toHaveLength(4)
  })
})
