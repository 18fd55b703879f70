/** Computers that share nothing but a relay: one of them drives an agent, whatever happens to cables and relay (R7). */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { VirtualNetwork } from '../../../test/net/index.js'
import { LanComputer } from './harness/lan-computer.js'
import { lives } from './harness/processes.js'
import { RelayServer } from './harness/relay-server.js'
import { Scene } from './harness/scene.js'
import { until } from './harness/until.js'

/** Of the relay's leases; 60 s where people use it. */
const TTL_MS = 6_000

let network: VirtualNetwork
let relay: RelayServer
let scenes: Scene[]
let uid: string

beforeEach(async () => {
  network = VirtualNetwork.create()
  scenes = []
  uid = `agent-${randomUUID().slice(0, 8)}`
  relay = await new RelayServer(network.addHost({ hostname: 'hub' }), newScene(), { ttl: '6s' }).start()
})

afterEach(async () => {
  await Promise.all(scenes.map((scene) => scene.close()))
  await network.remove()
})

function newScene(): Scene {
  const scene = new Scene()
  scenes.push(scene)
  return scene
}

function served(...hostnames: string[]): Promise<LanComputer[]> {
  const { environment, url } = relay
  return Promise.all(
    hostnames.map((hostname) => {
      const host = network.addHost({ hostname })
      return new LanComputer(host, newScene(), { environment, flags: ['--relay', url] }).serve()
    })
  )
}

function openNamed(computer: LanComputer, agentUid: string, name: string) {
  const words = computer.scene.agent(computer.name)
  return computer.cli('open', '--uid', agentUid, '--agent', name, '--', ...words)
}

function isOurs(computer: LanComputer, agentUid: string): Promise<unknown> {
  return until(`the relay holds ${agentUid} for ${computer.name}`, async () => {
    const { relay: said } = await computer.json('who', agentUid)
    return said.ours === true
  })
}

/** The child has gone, and nothing it says is written any more. */
async function hasGivenUp(loser: LanComputer): Promise<void> {
  const { pid, block_id, refusal } = await until('the pane has ended', async () => {
    const pane = await loser.pane()
    return pane.state === 'superseded' && pane.ended_at_ms !== undefined ? pane : undefined
  })
  expect(lives(pid)).toBe(false)
  const record = await loser.recordOf(block_id)
  const audited = loser.scene.auditLines().length
  expect((await loser.cli('send', block_id, 'are you there?')).code).toBe(76)
  expect(await loser.recordOf(block_id)).toBe(record)
  expect(loser.scene.auditLines().length).toBe(audited)
  expect(refusal.message).toContain('it is now held on another computer, according to the relay (host ')
}

describe('two computers and a relay', () => {
  for (const [one, other] of [
    ['mill', 'barn'],
    ['mill', 'mill']
  ] as const) {
    test(`${one} runs an agent, ${other} is refused; a cut cable stops nothing, mended it leaves one`, async () => {
      const [a, b] = (await served(one, other)) as [LanComputer, LanComputer]
      expect((await a.open(uid)).code).toBe(0)
      const { pid } = await a.scene.audited(one, 'begin')
      await isOurs(a, uid)

      const refused = await b.open(uid)
      expect(refused.code).toBe(75)
      expect(refused.stderr).toMatch(
        new RegExp(`another computer, according to the relay \\(host ${one}, channel stable, v[0-9]`)
      )
      const taken = await b.cli('take-over', uid, '--agent', 'Agent3', '--yes')
      expect([taken.code, taken.stderr]).toEqual([75, expect.stringContaining('according to the relay')])
      const run = await b.cli('run', '--uid', uid, '--agent', 'Agent3', '--', 'true')
      expect([run.code, run.stderr]).toEqual([75, expect.stringContaining('according to the relay')])
      const who = await b.cli('who', uid, '--agent', 'Agent3')
      expect(who.stdout).toMatch(/^relay {10}held on another computer, according to the relay .*, for sure/m)
      expect((await b.cli('doctor')).stdout).toMatch(/^ok {4}relay: it answers at https:.*; 0 agents held/m)

      a.host.unplug()
      await until(`${other} may start it`, async () => {
        const opened = await b.open(uid)
        if (opened.code !== 0) await sleep(500)
        return opened.code === 0
      })
      expect((await a.pane()).state).toBe('running')
      await a.scene.beatsAgain(pid)
      await isOurs(b, uid)

      a.host.plug()
      await hasGivenUp(a)
      expect((await b.pane()).state).toBe('running')
      await isOurs(b, uid)
    })
  }

  test('nobody loses an agent while the relay is down, nor when it is back, and nobody gets one', async () => {
    const [mill, barn] = (await served('mill', 'barn')) as [LanComputer, LanComputer]
    const theirs = `${uid}-b`
    expect((await openNamed(mill, uid, 'Ada')).code).toBe(0)
    expect((await openNamed(barn, theirs, 'Bob')).code).toBe(0)
    await Promise.all([isOurs(mill, uid), isOurs(barn, theirs)])

    await relay.stop()
    await Promise.all([mill.logs('relay-trouble'), barn.logs('relay-trouble'), sleep(2 * TTL_MS)])
    const doctor = await mill.cli('doctor')
    expect(doctor.stdout).toMatch(/^warn {2}relay: .*no answer that counts \(unreachable\)/m)
    expect((await mill.cli('who', theirs, '--agent', 'Bob')).stdout).toMatch(/^relay {10}unknown: /m)
    for (const computer of [mill, barn]) expect((await computer.pane()).state).toBe('running')

    await relay.start()
    // Before the last holder has renewed it, too.
    expect((await openNamed(barn, uid, 'Ada')).code).toBe(75)
    await Promise.all([mill.logs('relay-answers'), barn.logs('relay-answers')])
    await Promise.all([isOurs(mill, uid), isOurs(barn, theirs)])
    expect((await openNamed(barn, uid, 'Ada')).code).toBe(75)
    for (const computer of [mill, barn]) {
      const panes = await computer.panes()
      expect(panes.map(({ state }) => state)).toEqual(['running'])
      await computer.scene.beatsAgain(panes[0].pid)
    }
  })
})
