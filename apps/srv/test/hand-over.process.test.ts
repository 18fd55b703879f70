/** The holder's half of a take-over, on panes with real children: reserved first, then ended, then given up (R5). */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { PaneHandOver } from '../src/daemon/hand-over.js'
import { test } from './harness/pane-scene.js'
import { lives, processesWith } from './harness/processes.js'
import type { Scene } from './harness/scene.js'
import { until } from './harness/until.js'

const holdFile = (scene: Scene) => join(scene.leases, `${scene.uid}.hold`)
const toNightly = { requestedByChannel: 'nightly', requestedByVersion: '1.0.0' }

describe.concurrent('a pane whose agent is asked for', () => {
  test('lets it go; it is superseded, the agent is kept for the successor, whose epoch is the next', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened([], { agent: 'Ada' })
    const handOver = new PaneHandOver(house)
    const claim = `AGENTMUX_CLAIM_ID=${scene.lease().claim_id}`
    expect(await handOver.release({ uid: scene.uid, ...toNightly })).toEqual({ released: 1 })
    expect(processesWith(claim).filter(lives)).toEqual([])
    expect(existsSync(scene.leaseFile())).toBe(false)
    expect(house.panes.get(pane.blockId)).toMatchObject({
      state: 'superseded',
      exit: { code: 0, signal: null },
      refusal: { kind: 'taken-over', exitCode: 76, holder: { channel: 'nightly', version: '1.0.0' } }
    })
    expect((await house.lines()).at(-1)?.event).toEqual({
      kind: 'handed-over',
      to_channel: 'nightly',
      to_version: '1.0.0'
    })
    expect(house.notices).toMatchObject([{ kind: 'granted' }, { kind: 'handed-over', toChannel: 'nightly' }])
    expect(await house.panes.open(house.request())).toMatchObject({ kind: 'refused', by: 'handover-hold' })
    expect(await house.panes.send(pane.blockId, 'still there?')).toMatchObject({
      kind: 'lost',
      refusal: { kind: 'taken-over' }
    })
    const beta = houseOn({ channel: 'beta' })
    expect(await beta.panes.open(beta.request())).toMatchObject({ kind: 'refused', by: 'handover-hold' })
    const nightly = houseOn({ channel: 'nightly' })
    const taken = await nightly.opened()
    expect(taken.epoch).toBe(pane.epoch + 1)
  })

  test('has it reserved while it is still running, and takes no more turns', async ({ scene, houseOn }) => {
    const house = houseOn()
    const transcript = scene.newPath('transcript')
    const pane = await house.opened(['--ignore-end', '--transcript', transcript])
    const released = new PaneHandOver(house).release({ uid: scene.uid, ...toNightly })
    expect(JSON.parse(readFileSync(holdFile(scene), 'utf8'))).toMatchObject({ to_channel: 'nightly' })
    await until('it hears the end of its input', () =>
      readFileSync(transcript, 'utf8').includes('end of input')
    )
    expect(lives(pane.pid)).toBe(true)
    expect(await house.panes.send(pane.blockId, 'one more')).toMatchObject({ kind: 'ended' })
    await house.panes.close(pane.blockId, { graceMs: 0 })
    expect(await released).toEqual({ released: 1 })
    expect(existsSync(holdFile(scene))).toBe(true)
  })

  test('is ended within ten seconds when it does not end by itself', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn', '--leaves'])
    const claim = `AGENTMUX_CLAIM_ID=${scene.lease().claim_id}`
    await house.says(pane.blockId, /left/)
    expect(await new PaneHandOver(house).release({ uid: scene.uid, ...toNightly })).toEqual({ released: 1 })
    expect(house.panes.get(pane.blockId)?.exit).toEqual({ code: null, signal: 'SIGKILL' })
    expect(processesWith(claim).filter(lives)).toEqual([])
  })

  test('has no reservation left when nothing was handed over, because it was lost meanwhile', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn'])
    await scene.settled()
    const released = new PaneHandOver(house).release({ uid: scene.uid, ...toNightly })
    expect(existsSync(holdFile(scene))).toBe(true)
    const stolen = { ...scene.lease(), owner_boot_id: 'another', claim_id: 'another' }
    writeFileSync(`${scene.leaseFile()}.stolen`, `${JSON.stringify(stolen, undefined, 2)}\n`)
    renameSync(`${scene.leaseFile()}.stolen`, scene.leaseFile())
    expect(await released).toEqual({ released: 0 })
    expect(house.panes.get(pane.blockId)).toMatchObject({ state: 'superseded', refusal: { kind: 'lost' } })
    expect(existsSync(holdFile(scene))).toBe(false)
  })

  test.runIf(process.geteuid?.() === 0)(
    'that will not end keeps its agent, and whoever asked reads what is left of it',
    async ({ scene, houseOn }) => {
      const house = houseOn()
      const other = "const { spawn } = require('node:child_process'); "
      const script = `${other}spawn('setpriv', ['--reuid=65534', '--clear-groups', 'sleep', '600']); process.stdin.resume()`
      const opened = await house.panes.open({
        ...house.request(),
        command: [process.execPath, '-e', script]
      })
      if (opened.kind !== 'opened') throw new Error(JSON.stringify(opened))
      const left = await until('it runs as another user', () =>
        processesWith(`AGENTMUX_CLAIM_ID=${scene.lease().claim_id}`).find((pid) =>
          scene.commandOf(pid).startsWith('sleep')
        )
      )
      const nightly = houseOn({ channel: 'nightly' })
      const answer = await new PaneHandOver(house).release({ uid: scene.uid, ...toNightly })
      expect(answer).toEqual({
        released: 0,
        refused: `the agent stays held until its lease runs out, because these did not end: pid ${left} (sleep)`
      })
      expect(existsSync(holdFile(scene))).toBe(false)
      expect(existsSync(scene.leaseFile())).toBe(true)
      expect(await nightly.panes.open(nightly.request())).toMatchObject({ kind: 'refused', by: 'lease' })
    }
  )

  test('is kept for nobody when all who asked for it have gone', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--ignore-end'])
    const handOver = new PaneHandOver(house)
    const askers = [new AbortController(), new AbortController()]
    const answers = askers.map(({ signal }) => handOver.release({ uid: scene.uid, ...toNightly }, signal))
    expect(existsSync(holdFile(scene))).toBe(true)
    for (const asker of askers) asker.abort()
    await house.panes.close(pane.blockId, { graceMs: 0 })
    expect(await Promise.all(answers)).toEqual([{ released: 1 }, { released: 1 }])
    expect(existsSync(holdFile(scene))).toBe(false)
    await house.opened()
  })

  test('stays kept while one of those who asked for it waits', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--ignore-end'])
    const handOver = new PaneHandOver(house)
    const asker = new AbortController()
    const answers = [
      handOver.release({ uid: scene.uid, ...toNightly }, asker.signal),
      handOver.release({ uid: scene.uid, ...toNightly }, new AbortController().signal)
    ]
    asker.abort()
    await house.panes.close(pane.blockId, { graceMs: 0 })
    await Promise.all(answers)
    expect(existsSync(holdFile(scene))).toBe(true)
  })

  test('goes on where the one who asks has gone before anything was begun', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened()
    const gone = AbortSignal.abort(new Error('gone'))
    expect(await new PaneHandOver(house).release({ uid: scene.uid, ...toNightly }, gone)).toEqual({
      released: 0
    })
    expect(existsSync(holdFile(scene))).toBe(false)
    expect(house.panes.get(pane.blockId)?.state).toBe('running')
    expect(await house.panes.send(pane.blockId, 'still here')).toMatchObject({ kind: 'sent' })
  })

  test('is released once for two that ask the same, and to the first of two that do not', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    await house.opened()
    const handOver = new PaneHandOver(house)
    const [first, same, other] = await Promise.all([
      handOver.release({ uid: scene.uid, ...toNightly }),
      handOver.release({ uid: scene.uid, ...toNightly }),
      handOver.release({ uid: scene.uid, requestedByChannel: 'beta', requestedByVersion: '1' })
    ])
    const refused = 'it is being handed over to channel nightly already'
    expect([first, same, other]).toEqual([{ released: 1 }, { released: 1 }, { released: 0, refused }])
    expect(JSON.parse(readFileSync(holdFile(scene), 'utf8'))).toMatchObject({ to_channel: 'nightly' })
  })

  test('that is just being opened gives way', async ({ scene, houseOn }) => {
    const house = houseOn()
    const opening = house.panes.open(house.request())
    const { released } = await new PaneHandOver(house).release({ uid: scene.uid, ...toNightly })
    const opened = await opening
    if (opened.kind === 'opened') expect(released).toBe(1)
    else
      expect(opened).toMatchObject({ kind: 'refused', by: 'handover-hold', refusal: { kind: 'taken-over' } })
    expect(existsSync(scene.leaseFile())).toBe(false)
    expect(processesWith(`AGENTMUX_AGENT_UID=${scene.uid}`).filter(lives)).toEqual([])
  })
})

describe.concurrent('an agent that nobody holds here', () => {
  test('is not released, and nothing is written', async ({ scene, houseOn }) => {
    const house = houseOn()
    expect(await new PaneHandOver(house).release({ uid: scene.uid, ...toNightly })).toEqual({ released: 0 })
    expect(existsSync(scene.shared)).toBe(false)
    await expect(async () => new PaneHandOver(house).release({ uid: '../up', ...toNightly })).rejects.toThrow(
      RangeError
    )
  })
})
