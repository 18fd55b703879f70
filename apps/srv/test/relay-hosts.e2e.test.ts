/**
 * Computers that share nothing but a relay: one of them drives an agent, whatever happens to cables and relay (R7). All times
 * are a tenth of those that people have; AGENTMUX_TRUE_TIMES=1 runs it with the true ones, a relay that is down for five
 * minutes among them, and prints how long things took.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { VirtualNetwork } from '../../../test/net/index.js'
import { LanComputer } from './harness/lan-computer.js'
import { lives } from './harness/processes.js'
import { RelayServer } from './harness/relay-server.js'
import { Scene } from './harness/scene.js'
import { until } from './harness/until.js'

const IS_TRUE_TIME = process.env.AGENTMUX_TRUE_TIMES === '1'
const TTL_MS = IS_TRUE_TIME ? 60_000 : 6_000
const DOWN_MS = IS_TRUE_TIME ? 300_000 : 2 * TTL_MS
const RELAY_TTL = `${TTL_MS / 1_000}s`
/** A daemon renews three times within it: without the flag, every 20 s. */
const RENEWING = IS_TRUE_TIME ? [] : ['--relay-renew', String(TTL_MS / 3_000)]
/** How long opening is tried again and again. */
const LET_IN_WITHIN_MS = 240_000
vi.setConfig({ testTimeout: IS_TRUE_TIME ? 900_000 : 240_000 })

let network: VirtualNetwork
let relay: RelayServer
let scenes: Scene[]
let uid: string

beforeEach(async () => {
  network = VirtualNetwork.create()
  scenes = []
  uid = `agent-${randomUUID().slice(0, 8)}`
  relay = await new RelayServer(network.addHost({ hostname: 'hub' }), newScene(), { ttl: RELAY_TTL }).start()
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
      return new LanComputer(host, newScene(), { environment, flags: ['--relay', url, ...RENEWING] }).serve()
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

/** Prints, with true times, how long it took until each thing that is named. */
function sinceNow(what: string): (then: string) => void {
  const beganMs = performance.now()
  return (then) => {
    if (!IS_TRUE_TIME) return
    process.stderr.write(`${what}; ${then}: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s\n`)
  }
}

/** Opens the agent as soon as it is not refused any more. Resolves with how often it was. */
async function letIn(computer: LanComputer): Promise<number> {
  const endMs = performance.now() + LET_IN_WITHIN_MS
  for (let refusals = 0; ; refusals++) {
    const { code, stderr } = await computer.open(uid)
    if (code === 0) return refusals
    expect([code, stderr]).toEqual([75, expect.stringContaining('according to the relay')])
    if (performance.now() > endMs) throw new Error(`${computer.name} is never let in`)
    await sleep(TTL_MS / 12)
  }
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
      const unplugged = sinceNow(`${one} | ${other}: the cable of the first is cut`)
      const turnedAway = await letIn(b)
      unplugged(`the second may start it; it was turned away ${turnedAway} times before`)
      expect((await a.pane()).state).toBe('running')
      await a.scene.beatsAgain(pid)
      await isOurs(b, uid)

      a.host.plug()
      const plugged = sinceNow(`${one} | ${other}: the cable is mended`)
      await until('the first has given it up', async () => !lives(pid))
      plugged('the first has given it up')
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
    const stopped = sinceNow('mill | barn: the relay is down')
    await Promise.all([mill.logs('relay-trouble'), barn.logs('relay-trouble'), sleep(DOWN_MS)])
    const doctor = await mill.cli('doctor')
    expect(doctor.stdout).toMatch(/^warn {2}relay: .*no answer that counts \(unreachable\)/m)
    expect((await mill.cli('who', theirs, '--agent', 'Bob')).stdout).toMatch(/^relay {10}unknown: /m)
    for (const computer of [mill, barn]) expect((await computer.pane()).state).toBe('running')

    await relay.start()
    stopped('it is started again; both agents run')
    // Before the last holder has renewed it, too.
    expect((await openNamed(barn, uid, 'Ada')).code).toBe(75)
    await Promise.all([mill.logs('relay-answers'), barn.logs('relay-answers')])
    await Promise.all([isOurs(mill, uid), isOurs(barn, theirs)])
    stopped('both are held there again')
    expect((await openNamed(barn, uid, 'Ada')).code).toBe(75)
    for (const computer of [mill, barn]) {
      const panes = await computer.panes()
      expect(panes.map(({ state }) => state)).toEqual(['running'])
      await computer.scene.beatsAgain(panes[0].pid)
    }
  })
})
