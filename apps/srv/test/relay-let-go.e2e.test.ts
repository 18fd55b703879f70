/**
 * One computer, two daemons, one relay that did not hear of it when one of them let go: whoever takes the agent over moves it
 * there too, from that channel and from no other holder (R5).
 */
import { describe, expect } from 'vitest'
import { Daemon } from './harness/daemon.js'
import { lives } from './harness/processes.js'
import { heldAtRelay, relayTest as test } from './harness/relay-house.js'
import type { Scene } from './harness/scene.js'
import { BARN, json, type ScriptedRelay, TOKEN } from './harness/scripted-relay.js'
import { until } from './harness/until.js'

const AGENT = 'Ada'
const KEY = 'ada'

function served(scene: Scene, relay: ScriptedRelay, channel: string): Promise<Daemon> {
  const environment = { AGENTMUX_MUXBUS_REST_URL: relay.url, AGENTMUX_RELAY_TOKEN: TOKEN }
  return Daemon.start(scene, channel, { environment })
}

function takeOver(scene: Scene, channel: string) {
  return scene.cli(['take-over', scene.uid, '--agent', AGENT, '--yes', '--channel', channel]).ended
}

const installOf = (relay: ScriptedRelay) => relay.leases.get(KEY)?.install ?? ''
const isRelease = (path: string) => path.endsWith('/lease/release')

describe('an agent that its channel has let go of', () => {
  test('and that the relay still has for that channel is moved there, and driven under it', async ({
    scene,
    relay
  }) => {
    const stable = await served(scene, relay, 'stable')
    const beta = await served(scene, relay, 'beta')
    const first = await stable.opened([], { agent: AGENT })
    await until('it is held at the relay', () => relay.leases.get(KEY)?.channel === 'stable')
    const before = installOf(relay)
    relay.answering(({ path }, response) => isRelease(path) && json(response, 500, {}))

    const taken = await takeOver(scene, 'beta')
    expect([taken.code, taken.stderr]).toEqual([0, expect.stringContaining('channel stable')])
    expect(lives(first.pid)).toBe(false)
    const takes = relay.paths(/lease\/take$/)
    expect(takes.map(({ body }) => [body.agent_id, body.channel])).toEqual([[KEY, 'beta']])
    expect(relay.leases.get(KEY)).toMatchObject({ channel: 'beta' })
    expect(installOf(relay)).not.toBe(before)
    expect(beta.program.stderr).toContain('"event":"relay-taken"')

    const second = await beta.opened([], { agent: AGENT })
    await heldAtRelay(relay, KEY, installOf(relay))
    expect(lives(second.pid)).toBe(true)
    expect(relay.paths(/lease\/take$/)).toHaveLength(1)
  })

  test('and that another computer has claimed since is not moved: the one who asks is refused', async ({
    scene,
    relay
  }) => {
    const stable = await served(scene, relay, 'stable')
    await served(scene, relay, 'beta')
    const first = await stable.opened([], { agent: AGENT })
    await until('it is held at the relay', () => relay.leases.get(KEY)?.channel === 'stable')
    relay.answering(({ path }, response) => {
      if (!isRelease(path)) return false
      // A channel of the same name, on another computer.
      relay.leases.set(KEY, { ...BARN, channel: 'stable' })
      return json(response, 200, { ok: true })
    })

    const taken = await takeOver(scene, 'beta')
    expect([taken.code, taken.stderr]).toEqual([
      75,
      expect.stringContaining('another computer, according to the relay (host barn, channel stable')
    ])
    expect(lives(first.pid)).toBe(false)
    expect(relay.paths(/lease\/take$/)).toEqual([])
    expect(relay.leases.get(KEY)).toMatchObject({ host: 'barn' })
  })
})
