/**
 * Daemons that are killed or stopped in the middle of a turn while everything that their agent has started runs on: a
 * wrapper, the program behind it and a process in a session of its own. Looked at from outside every few milliseconds,
 * processes of two claims never run together (R1, R12).
 */
import { existsSync, statSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { Daemon, type OpenedAgent } from './harness/daemon.js'
import { DaemonSeen } from './harness/daemon-seen.js'
import { entryFile, registered } from './harness/instance.js'
import { lives } from './harness/processes.js'
import { type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

/** It talks, and hears nothing: a turn that it was sent is never done. */
const TALKING = 'while :; do echo tick; sleep 0.05; done & "$@" & wait'

function shim(scene: Scene, name: string) {
  const agent = scene.agent(name, '--ignore', 'SIGTERM', '--child', `${name}-native`)
  return ['sh', '-c', TALKING, 'sh', ...agent, '--session-child', `${name}-daemon`]
}

/** A pane in the middle of a turn, and the processes that drive. */
async function atWork(daemon: Daemon, name: string) {
  const { scene } = daemon
  const opened = await daemon.open([], { agent: 'Ada', command: shim(scene, name) })
  if (opened.status !== 201) throw new Error(`not opened: ${JSON.stringify(opened)}`)
  const pane = opened.body as OpenedAgent
  expect((await daemon.turn(pane.block_id, 'a long turn')).status).toBe(200)
  const names = [name, `${name}-native`, `${name}-daemon`]
  const begun = await Promise.all(names.map((one) => scene.audited(one, 'begin')))
  await daemon.says(pane.block_id, 'tick')
  return { ...pane, claim: scene.lease().claim_id, pids: [pane.pid, ...begun.map(({ pid }) => pid)] }
}

const livingOf = ({ pids }: { readonly pids: readonly number[] }) => pids.filter(lives)

describe.concurrent('of a daemon whose agent is at work, another lets nobody drive beside it', () => {
  test('when it is killed; started again it finds the agent there, and its own traces gone', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const a = await Daemon.start(scene, 'stable')
    const b = await Daemon.start(scene, 'beta')
    const seenB = await DaemonSeen.from(b)
    const old = await atWork(a, 'old')
    await poll.sees(old.claim)
    await registered(scene, 'ada')
    a.program.signal('SIGKILL')
    await a.program.ended
    expect(livingOf(old)).toEqual(old.pids)
    expect(existsSync(entryFile(scene, 'ada'))).toBe(true)

    const next = await atWork(b, 'next')
    expect(livingOf(old)).toEqual([])
    expect(next.epoch).toBe(old.epoch + 1)
    await poll.sees(next.claim)
    expect(await seenB.counts()).toEqual({ 'granted host': 1, 'reclaimed_dead host': 1, held: 1 })

    const stale = a.file()
    expect(stale).toMatchObject({ kind: 'found', daemon: { url: a.url, pid: a.program.pid } })
    const again = await Daemon.start(scene, 'stable')
    expect(again.file()).toMatchObject({ kind: 'found', daemon: { url: again.url, pid: again.program.pid } })
    expect(again.key).not.toBe(a.key)
    expect(statSync(again.path).mode & 0o777).toBe(0o600)
    expect(existsSync(entryFile(scene, 'ada'))).toBe(false)
    expect(existsSync(entryFile(scene, 'ada', 'beta'))).toBe(true)
    expect((await again.ask('/api/v1/agents')).body).toEqual({ agents: [] })
    const refused = await again.open()
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('channel beta')])
    expect(livingOf(next)).toEqual(next.pids)
    expect(scene.lease().claim_id).toBe(next.claim)
    const second = await scene.cli(['serve', '--channel', 'stable']).ended
    expect([second.code, second.stderr]).toEqual([75, expect.stringContaining(again.url)])

    const audit = await poll.end()
    expect(audit).toMatchObject({ claims: [old.claim, next.claim], overlaps: [], uncovered: [] })
  })

  test('when it is killed and started again, and both want the agent at once: one has it', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const a = await Daemon.start(scene, 'stable')
    const b = await Daemon.start(scene, 'beta')
    const old = await atWork(a, 'old')
    await poll.sees(old.claim)
    a.program.signal('SIGKILL')
    await a.program.ended

    const command = shim(scene, 'next')
    const asking = async (daemon: Daemon) => (await daemon.open([], { command })).status
    const again = Daemon.start(scene, 'stable')
    const statuses = [await asking(b), ...(await Promise.all([again.then(asking), asking(b)]))]
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(livingOf(old)).toEqual([])
    const lists = await Promise.all([await again, b].map((daemon) => daemon.ask('/api/v1/agents')))
    const running = lists.flatMap(({ body }) => body.agents).filter(({ state }) => state === 'running')
    expect(running).toHaveLength(1)
    const { claim_id } = scene.lease()
    await poll.sees(claim_id)
    const audit = await poll.end()
    expect(audit).toMatchObject({ claims: [old.claim, claim_id], overlaps: [], uncovered: [] })
  })

  test('when it is stopped for longer than the TTL: it goes on as superseded, and what came late is not recorded', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    const a = await Daemon.start(scene, 'stable')
    const b = await Daemon.start(scene, 'beta')
    const [seenA, seenB] = [await DaemonSeen.from(a), await DaemonSeen.from(b)]
    const old = await atWork(a, 'old')
    await poll.sees(old.claim)
    await a.program.stop(1)
    // For as long as its lease runs it has the agent, and everything that it has started goes on.
    expect((await b.open()).status).toBe(409)
    expect(livingOf(old)).toEqual(old.pids)

    const command = shim(scene, 'next')
    const next = await b.openedInTheEnd([], { agent: 'Ada', command })
    expect(livingOf(old)).toEqual([])
    expect(next.epoch).toBe(old.epoch + 1)
    const claim = scene.lease().claim_id
    await poll.sees(claim)
    await b.says(next.block_id, 'tick')
    // What its agent said last still waits in the pipe.
    a.program.signal('SIGCONT')
    await until('it is superseded', async () => (await a.pane(old.block_id)).state === 'superseded')
    const pane = await a.pane(old.block_id)
    expect(pane.refusal).toMatchObject({ holder: { channel: 'beta', epoch: next.epoch } })
    expect(pane.refusal.message).toContain('channel beta')
    expect((await a.turn(old.block_id, 'too late')).status).toBe(409)
    expect((await a.open()).status).toBe(409)
    await until('nothing of it is left', async () => (await a.pane(old.block_id)).ended_at_ms !== undefined)

    const record = await seenB.record(next.block_id)
    const epochs = record.map(({ epoch }) => epoch)
    expect(epochs).toEqual([...epochs].sort((one, other) => one - other))
    expect(record.filter(({ epoch }) => epoch === old.epoch).map(({ event }) => event.kind)).toEqual(
      expect.arrayContaining(['opened', 'turn', 'output'])
    )
    expect(scene.lease()).toMatchObject({ claim_id: claim, epoch: next.epoch })
    expect(lives(next.pid)).toBe(true)
    expect((await b.turn(next.block_id, 'goes on')).status).toBe(200)
    expect(await seenA.counts()).toEqual({ 'granted host': 1, 'fenced host': 1, 'denied host': 1, held: 0 })
    expect(await seenB.counts()).toMatchObject({
      'granted host': 1,
      'reclaimed_expired host': 1,
      'denied host': expect.any(Number),
      held: 1
    })
    expect(seenA.changes()).toEqual([
      'opened epoch 1 running',
      'changed epoch 1 superseded',
      'changed epoch 1 superseded, ended'
    ])

    const audit = await poll.end()
    expect(audit).toMatchObject({ claims: [old.claim, claim], overlaps: [], uncovered: [] })
  })
})
