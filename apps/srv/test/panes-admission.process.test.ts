/** Panes that are not opened: nothing shared is written (R9), nothing runs, and the answer says who has the agent (R2). */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { HandoverHolds } from '@agentmux/host-admission'
import { createInstanceIdentity, LeaseStore } from '@agentmux/lease-store'
import { describe, expect } from 'vitest'
import { everything, type House, test } from './harness/pane-scene.js'
import { processesWith } from './harness/processes.js'
import type { Scene } from './harness/scene.js'

/** The leases of an instance that does not renew, so that every change of a file is somebody else's. */
function storeOf(scene: Scene, channel: string): LeaseStore {
  const instance = createInstanceIdentity({ channel, version: '9.9.9' })
  return LeaseStore.open(join(scene.shared, 'agents', 'registry'), { instance })
}

/** Opens nothing, and writes nothing. */
async function untouched(scene: Scene, house: House) {
  const before = everything(scene.shared)
  const result = await house.panes.open(house.request())
  expect(everything(scene.shared)).toEqual(before)
  expect(processesWith(`AGENTMUX_AGENT_UID=${scene.uid}`)).toEqual([])
  expect(house.panes.list()).toEqual([])
  expect(house.panes.registrations()).toEqual([])
  return result
}

describe.concurrent('a pane that is not opened', () => {
  test('because another instance holds the agent, which is named', async ({ scene, houseOn }) => {
    const claimed = await storeOf(scene, 'nightly').claim({ agent: { uid: scene.uid }, blockId: 'theirs' })
    expect(claimed.kind).toBe('granted')
    const house = houseOn()
    expect(await untouched(scene, house)).toMatchObject({
      kind: 'refused',
      by: 'lease',
      refusal: { kind: 'held', exitCode: 75, holder: { channel: 'nightly', blockId: 'theirs' } }
    })
    expect(house.notices).toMatchObject([{ kind: 'denied', by: 'lease' }])
  })

  test('because another pane of this instance holds it', async ({ scene, houseOn }) => {
    const house = houseOn()
    await house.admission.store.claim({ agent: { uid: scene.uid }, blockId: 'another' })
    expect(await untouched(scene, house)).toMatchObject({
      kind: 'refused',
      by: 'claim',
      refusal: { kind: 'held', holder: { channel: 'stable', blockId: 'another' } }
    })
  })

  test('because it was handed over a moment ago', async ({ scene, houseOn }) => {
    const house = houseOn()
    mkdirSync(scene.leases, { recursive: true, mode: 0o700 })
    new HandoverHolds({ store: storeOf(scene, 'beta') }).holdAfterHandover(scene.uid, {
      channel: 'nightly',
      version: '1'
    })
    expect(await untouched(scene, house)).toMatchObject({
      kind: 'refused',
      by: 'handover-hold',
      refusal: { kind: 'taken-over', holder: { channel: 'nightly' } }
    })
  })

  test('because an instance without leases runs it; another UID of the same name is no hindrance', async ({
    scene,
    houseOn,
    onTestFinished
  }) => {
    const registrations = [
      { agent_id: 'Ada', block_id: 'theirs', uid: scene.uid, registered_at: 1, last_seen: 1 }
    ]
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(registrations))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const folder = join(scene.shared, 'agents', 'reactive', 'ada')
    mkdirSync(folder, { recursive: true })
    const entry = {
      agent_id: 'Ada',
      local_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      block_id: 'theirs',
      pid: process.ppid,
      updated_at: Date.now(),
      auth_key: 'theirs',
      channel: 'old'
    }
    writeFileSync(join(folder, 'old.json'), JSON.stringify(entry))
    const house = houseOn()
    expect(await untouched(scene, house)).toMatchObject({
      kind: 'refused',
      by: 'probe',
      refusal: { kind: 'held', holder: { channel: 'old' } }
    })
    await house.opened([], { uid: `${scene.uid}-2`, agent: 'Ada' })
  })

  test('because only watching can tell who holds it', async ({ scene, houseOn }) => {
    const house = houseOn()
    mkdirSync(scene.leases, { recursive: true, mode: 0o700 })
    writeFileSync(scene.leaseFile(), 'no lease at all')
    const result = await untouched(scene, house)
    expect(result).toMatchObject({ kind: 'unknown', by: 'lease', refusal: { kind: 'unknown', exitCode: 69 } })
    expect(result.kind === 'unknown' && result.retryAfterMs).toBeGreaterThan(0)
  })

  test('because its command is not there: nothing is claimed', async ({ scene, houseOn }) => {
    const house = houseOn()
    const open = (command: readonly string[], cwd = scene.folder) =>
      house.panes.open(house.request([], { command, cwd }))
    expect(await open(['no-such-program'])).toMatchObject({ kind: 'cannot-run', exitCode: 127 })
    expect(await open(['./no-such-program'])).toMatchObject({ kind: 'cannot-run', exitCode: 127 })
    expect(await open([scene.folder])).toMatchObject({ kind: 'cannot-run', exitCode: 126 })
    expect(await open(['true'], join(scene.folder, 'nowhere'))).toMatchObject({
      kind: 'cannot-run',
      exitCode: 126
    })
    expect(existsSync(scene.shared)).toBe(false)
  })

  test('because its command cannot be started after all: the agent is free again', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const script = join(scene.folder, 'script')
    writeFileSync(script, '#!/no/such/interpreter\n', { mode: 0o755 })
    const result = await house.panes.open(house.request([], { command: ['./script'] }))
    expect(result).toMatchObject({ kind: 'cannot-run', exitCode: 127 })
    expect(existsSync(scene.leaseFile())).toBe(false)
    expect(house.panes.list()).toEqual([])
    const next = houseOn({ channel: 'nightly' })
    await next.opened()
  })

  test('because the caller has gone: nothing runs and nothing is held', async ({ scene, houseOn }) => {
    const house = houseOn()
    for (const later of [0, 1, 5, 20]) {
      const abort = new AbortController()
      const opening = house.panes.open(house.request(), abort.signal)
      if (later === 0) abort.abort(new Error('gone'))
      else setTimeout(() => abort.abort(new Error('gone')), later)
      const result = await opening.catch((error: Error) => error.message)
      if (result === 'gone') expect(existsSync(scene.leaseFile())).toBe(false)
      else if (typeof result === 'object' && result.kind === 'opened') {
        await house.panes.close(result.pane.blockId, { graceMs: 0 })
      } else throw new Error(`neither opened nor given up: ${JSON.stringify(result)}`)
    }
    expect(processesWith(`AGENTMUX_AGENT_UID=${scene.uid}`)).toEqual([])
  })

  test('for what can be no UID, name, command or environment', async ({ scene, houseOn }) => {
    const house = houseOn()
    const open = (more: object) => house.panes.open(house.request([], more))
    await expect(open({ uid: '../up' })).rejects.toThrow(RangeError)
    await expect(open({ agent: '' })).rejects.toThrow(RangeError)
    await expect(open({ command: [] })).rejects.toThrow(TypeError)
    await expect(open({ command: ['a\0b'] })).rejects.toThrow(TypeError)
    await expect(open({ environment: { '': 'x' } })).rejects.toThrow(TypeError)
    expect(existsSync(scene.shared)).toBe(false)
  })
})
