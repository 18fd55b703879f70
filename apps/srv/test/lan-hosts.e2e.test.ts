/** Computers on one network without a shared disk: one of them drives an agent, whatever happens to the cables (R7). */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { VirtualNetwork } from '../../../test/net/index.js'
import { LanComputer, type LanComputerOptions, strangePeer } from './harness/lan-computer.js'
import { lives } from './harness/processes.js'
import { Scene } from './harness/scene.js'
import { until } from './harness/until.js'

let network: VirtualNetwork
let computers: LanComputer[]
let uid: string

beforeEach(() => {
  network = VirtualNetwork.create()
  computers = []
  uid = `agent-${randomUUID().slice(0, 8)}`
})

afterEach(async () => {
  await Promise.all(computers.map(({ scene }) => scene.close()))
  await network.remove()
})

function computer(hostname: string, options: LanComputerOptions = {}): LanComputer {
  const added = new LanComputer(network.addHost({ hostname }), new Scene(), options)
  computers.push(added)
  return added
}

async function served(...names: string[]): Promise<LanComputer[]> {
  return Promise.all(names.map((name) => computer(name).serve()))
}

/** Those on which the agent runs now. */
async function driving(of: readonly LanComputer[]): Promise<LanComputer[]> {
  const panes = await Promise.all(of.map((one) => one.pane()))
  return of.filter((_, index) => panes[index]?.state === 'running')
}

/** Resolves with the one that is left, once all others have given it up. */
function onlyOne(of: readonly LanComputer[]): Promise<LanComputer> {
  return until('exactly one computer drives the agent', async () => {
    const left = await driving(of)
    expect(left.length, 'nobody is left').toBeGreaterThan(0)
    return left.length === 1 ? left[0] : undefined
  })
}

/** The child has gone, and nothing it says is written any more. */
async function hasGivenUp(loser: LanComputer): Promise<void> {
  const { pid, block_id, refusal } = await loser.pane()
  await until(`the child of ${loser.name} has gone`, () => !lives(pid))
  const [record, audit] = [await loser.recordOf(block_id), loser.scene.auditLines().length]
  expect((await loser.cli('send', block_id, 'are you there?')).code).toBe(76)
  expect(await loser.recordOf(block_id)).toBe(record)
  expect(loser.scene.auditLines().length).toBe(audit)
  expect(refusal.message).toContain('lost its single-instance lease: it also runs on another computer')
}

describe('two computers', () => {
  test('one holds an agent, the other is refused and told where; then their cable is cut and mended', async () => {
    const [mill, barn] = (await served('mill', 'barn')) as [LanComputer, LanComputer]
    await Promise.all([mill.sees(1), barn.sees(1)])
    expect((await mill.open(uid)).code).toBe(0)
    await mill.scene.audited('mill', 'begin')

    const refused = await barn.open(uid)
    expect(refused.code).toBe(75)
    expect(refused.stderr).toMatch(/Agent3 is already running in another AgentMux instance .*mill/)
    expect(await barn.logs('denied')).toMatchObject({ agent: { uid }, check: 'lan' })
    expect(await barn.json('who', uid)).toMatchObject({
      host: { state: 'free' },
      lan: { state: 'held', sure: false, holder: { hostname: 'mill', place: 'lan' } }
    })
    // A run has no LAN of its own: it asks the daemon.
    const run = await barn.cli('run', '--uid', uid, '--', 'echo', 'never printed')
    expect(run).toMatchObject({ code: 75, stdout: '' })
    expect(run.stderr).toMatch(/another computer|mill/)

    mill.host.unplug()
    expect((await barn.open(uid)).code).toBe(0)
    expect(await barn.logs('doubt')).toMatchObject({ uid, by: 'lan' })
    await barn.scene.audited('barn', 'begin')
    expect((await driving(computers)).length).toBe(2)

    mill.host.plug()
    const winner = await onlyOne(computers)
    const loser = winner === mill ? barn : mill
    expect(await loser.logs('lan-yield')).toMatchObject({ uid, to: { hostname: winner.name } })
    await hasGivenUp(loser)
    const { pid } = await winner.pane()
    await winner.scene.beatsAgain(pid)
  })

  test('of which one was killed with -9: the other starts in bounded time, and says what it does not know', async () => {
    const [mill, barn] = (await served('mill', 'barn')) as [LanComputer, LanComputer]
    await barn.sees(1)
    expect((await mill.open(uid)).code).toBe(0)
    mill.daemon?.signal('SIGKILL')
    await mill.daemon?.ended
    // No goodbye was said: it is known, and does not answer.
    expect((await barn.json('who', uid)).lan).toMatchObject({ state: 'unknown', sure: false, silent: 1 })
    expect((await barn.open(uid)).code).toBe(0)
    expect(await barn.logs('doubt')).toMatchObject({ uid, by: 'lan' })
    expect((await barn.json('lan')).peer_count).toBe(1)
  })

  test('with one secret see each other, and not who has another', async () => {
    const secret = (text: string) => ({ environment: { AGENTMUX_LAN_SECRET: text } })
    const mill = computer('mill', secret('a secret of the house, long'))
    const barn = computer('barn', secret('a secret of the house, long'))
    const shed = computer('shed', secret('another one, just as long'))
    await Promise.all([mill.serve(), barn.serve(), shed.serve()])
    await Promise.all([mill.sees(2), barn.sees(2), shed.sees(2)])
    expect((await mill.open(uid)).code).toBe(0)
    expect((await barn.open(uid)).code).toBe(75)
    const { lan } = await shed.json('who', uid)
    expect(lan).toMatchObject({ state: 'unknown', sure: false, silent: 2 })
    expect(lan.how).toMatch(/could not be found out.*AGENTMUX_LAN_SECRET/)
    expect((await shed.open(uid)).code).toBe(0)
    const said = computers.map(({ daemon }) => `${daemon?.stdout}${daemon?.stderr}`).join('')
    expect(said).not.toContain('long')
  })
})

describe('computers that start one agent at the same time', () => {
  // More of them, and starts that are seconds apart: simultaneous-starts.e2e.test.ts.
  test.for([{ names: ['twin', 'twin'] }, { names: ['c', 'b', 'a'] }])(
    '$names: exactly one is left, and it goes on',
    async ({ names }) => {
      await served(...names)
      await Promise.all(computers.map((one) => one.sees(names.length - 1)))
      // Nobody hears of the others at the moment of the start.
      for (const { host } of computers) host.unplug()
      const opened = await Promise.all(computers.map((one) => one.open(uid)))
      for (const { host } of computers) host.plug()
      expect(opened.map(({ code }) => code)).toEqual(names.map(() => 0))
      const winner = await onlyOne(computers)
      for (const loser of computers) if (loser !== winner) await hasGivenUp(loser)
      const { pid } = await winner.pane()
      await winner.scene.beatsAgain(pid)
      expect(winner.logged('lan-yield')).toEqual([])
    }
  )
})

describe('a daemon whose network is of no use', () => {
  test('without multicast drives its agents, and says that it does not know about others', async () => {
    const alone = computer('alone', { flags: [] })
    alone.host.ip('link', 'del', 'eth0')
    await alone.serve()
    expect((await alone.json('who', uid)).lan).toMatchObject({ state: 'off' })
    expect(await alone.json('lan', 'on')).toMatchObject({
      enabled: true,
      multicast: 'unavailable',
      addresses: []
    })
    expect((await alone.open(uid)).code).toBe(0)
    const { lan } = await alone.json('who', uid)
    expect(lan).toMatchObject({ state: 'unknown', sure: false })
    expect(lan.how).toContain('multicast does not work here')
    const { code, stdout } = await alone.cli('doctor')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^warn {2}network: multicast does not work/m)
    expect(stdout).toMatch(/^warn {2}network: No LAN secret is set/m)
    expect(await alone.json('lan', 'off')).toMatchObject({ enabled: false, multicast: 'off' })
    alone.daemon?.signal('SIGTERM')
    expect((await alone.daemon?.ended)?.code).toBe(0)
  })

  test.for(['silent', 'junk'] as const)('beside a peer that is %s starts all the same', async (does) => {
    const mill = computer('mill')
    await mill.serve()
    await strangePeer(network.addHost({ hostname: 'stranger' }), does)
    await mill.sees(1)
    const { lan } = await mill.json('who', uid)
    expect(lan).toMatchObject({ state: 'unknown', sure: false, silent: 1 })
    expect((await mill.open(uid)).code).toBe(0)
    expect(await mill.logs('doubt')).toMatchObject({
      by: 'lan',
      why: expect.stringContaining('1 of 1 peers')
    })
    const { stdout } = await mill.cli('doctor')
    expect(stdout).toMatch(/^warn {2}network: 1 of 1 other instances gave no answer that counts/m)
    const run = await mill.cli('run', '--uid', `${uid}-2`, '--verbose', '--', 'echo', 'ran')
    expect(run).toMatchObject({ code: 0, stdout: 'ran\n' })
    expect(run.stderr).toMatch(/not known \(lan\), and so it does not count/)
    mill.daemon?.signal('SIGTERM')
    expect((await mill.daemon?.ended)?.code).toBe(0)
  })
})

test('turned on and off many times at once, it ends as it was told last, and the daemon ends', async () => {
  const mill = computer('mill', { flags: [] })
  await mill.serve()
  const turns = Array.from({ length: 8 }, (_, index) => mill.cli('lan', index % 2 === 0 ? 'on' : 'off'))
  for (const { code } of await Promise.all(turns)) expect(code).toBe(0)
  expect((await mill.cli('lan', 'on')).code).toBe(0)
  expect(await mill.json('lan')).toMatchObject({ enabled: true, addresses: [mill.host.address] })
  const turning = mill.cli('lan', 'off')
  await sleep(0)
  mill.daemon?.signal('SIGTERM')
  expect((await mill.daemon?.ended)?.code).toBe(0)
  await turning
})
