import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock, type Holder } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { isAdmissionRefusal } from '@agentmux/refusals'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Doubt, EarlyCheck, type EarlyCheckOptions } from '../src/early/early-check.js'
import type { ElsewhereTier, HeldElsewhere } from '../src/early/held-elsewhere.js'
import { InstanceClient } from '../src/instance/instance-client.js'
import { OtherInstances } from '../src/reactive/other-instances.js'
import { ReactiveRegistry } from '../src/reactive/reactive-registry.js'
import { HandoverHolds } from '../src/takeover/handover-holds.js'
import {
  anotherProcess,
  entry,
  host,
  publish,
  serve,
  serveAnswer,
  sharedRoot,
  storeOf
} from './another-instance.js'

const agent = { uid: 'u-1', name: 'Ada' }
const elsewhere: Holder = {
  place: 'lan',
  hostname: 'far-away',
  channel: 'stable',
  version: '1.0.0',
  pid: 0,
  acquiredAtMs: 0,
  epoch: 0,
  blockId: ''
}

function here(options: Partial<EarlyCheckOptions> = {}) {
  const root = sharedRoot()
  const clock = options.clock ?? createSystemClock()
  const registry = new ReactiveRegistry(root, { clock, host })
  onTestFinished(() => registry.close())
  const store = storeOf(root, { pid: process.pid, channel: 'ours' }, { clock })
  const holds = new HandoverHolds({ store })
  const client = new InstanceClient({ clock })
  const others = new OtherInstances({ registry, client, hostname: host.hostname })
  const doubts: Doubt[] = []
  const check = new EarlyCheck({
    store,
    holds,
    others,
    clock,
    onDoubt: (doubt) => doubts.push(doubt),
    ...options
  })
  return { root, clock, registry, store, holds, check, doubts }
}

/** A tier that gives one answer, and notes that it was asked. */
function tier(name: 'relay' | 'lan', answer: HeldElsewhere, asked: string[] = []): ElsewhereTier {
  return {
    name,
    heldElsewhere: async () => {
      asked.push(name)
      return answer
    }
  }
}

/** An older build in a process of its own: it registers, answers, and keeps no lease. */
async function olderBuild(root: string, registrations: unknown) {
  const program = `
    const { createServer } = require('node:http')
    const { mkdirSync, writeFileSync, renameSync } = require('node:fs')
    const [folder, registrations] = process.argv.slice(1)
    const server = createServer((request, response) => {
      const allowed = request.headers['x-authkey'] === 'its-key'
      response.writeHead(allowed ? 200 : 401).end(allowed ? registrations : '{"error":"unauthorized"}')
    })
    server.listen(0, '127.0.0.1', () => {
      const file = folder + '/stable.json'
      mkdirSync(folder, { recursive: true })
      writeFileSync(file + '.tmp', JSON.stringify({
        agent_id: 'Ada', local_url: 'http://127.0.0.1:' + server.address().port, block_id: 'b-7',
        pid: process.pid, updated_at: Date.now(), auth_key: 'its-key', channel: 'stable'
      }), { mode: 0o600 })
      renameSync(file + '.tmp', file)
      console.log('ready')
    })`
  const folder = join(root, 'agents', 'reactive', 'ada')
  const child = spawn(process.execPath, ['-e', program, folder, JSON.stringify(registrations)])
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return child
}

/** Every file below a folder with its size and times: what a look must not change. */
function everything(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((file) => {
      const path = join(file.parentPath, file.name)
      const { ino, size, mtimeMs, ctimeMs } = statSync(path)
      return `${path} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
    })
    .sort()
}

describe('before an agent is started', () => {
  test('it passes where nobody has it, and nothing is created or changed', async () => {
    const { root, check, doubts } = here()
    expect(await check.checkBeforeSpawn(agent)).toEqual({ kind: 'pass' })
    expect(readdirSync(root)).toEqual([])
    expect(doubts).toEqual([])
  })

  test('one without a UID passes unasked', async () => {
    const asked: string[] = []
    const { check } = here({ tiers: [tier('relay', { kind: 'held', holder: elsewhere }, asked)] })
    expect(await check.checkBeforeSpawn({ uid: '', name: 'Ada' })).toEqual({ kind: 'pass' })
    expect(asked).toEqual([])
  })

  test('a UID that cannot be one is the caller’s mistake', async () => {
    await expect(here().check.checkBeforeSpawn({ uid: '../u-1' })).rejects.toThrow(RangeError)
  })

  test('it is refused with the holder that the lease names, and nothing is changed', async () => {
    const { root, check } = here()
    const { pid } = anotherProcess()
    await storeOf(root, { pid }).claim({ agent, blockId: 'b-1' })
    const before = everything(root)
    const answer = await check.checkBeforeSpawn(agent)
    expect(answer).toMatchObject({
      kind: 'refused',
      by: 'lease',
      refusal: { kind: 'held', agent, holder: { place: 'this-host', pid, channel: 'stable' } }
    })
    expect(isAdmissionRefusal(answer.kind === 'refused' && answer.refusal.message)).toBe(true)
    expect(everything(root)).toEqual(before)
  })

  test('our own lease is no objection', async () => {
    const { store, check } = here()
    await store.claim({ agent, blockId: 'b-1' })
    expect(await check.checkBeforeSpawn(agent)).toEqual({ kind: 'pass' })
  })

  test('a lease that does not tell, or cannot be read, starts nothing: the host fails closed', async () => {
    const { store, check } = here()
    mkdirSync(store.folder, { recursive: true })
    writeFileSync(store.pathOf('u-1'), '{')
    expect(await check.checkBeforeSpawn(agent)).toMatchObject({
      kind: 'unknown',
      by: 'lease',
      refusal: { kind: 'unknown', reason: 'unreadable' }
    })
    const blocked = here()
    mkdirSync(join(blocked.root, 'agents', 'registry'), { recursive: true })
    writeFileSync(blocked.store.folder, 'not a folder')
    expect(await blocked.check.checkBeforeSpawn(agent)).toMatchObject({
      kind: 'unknown',
      by: 'lease',
      refusal: { kind: 'io', code: 'ENOTDIR' }
    })
  })

  test('the relay is asked before the network, and both before the other instances', async () => {
    const { url, seen } = await serveAnswer(200, [{ uid: 'u-1' }])
    const held: HeldElsewhere = { kind: 'held', holder: elsewhere }
    const free: HeldElsewhere = { kind: 'free' }
    const rounds: [HeldElsewhere, HeldElsewhere, string[]][] = [
      [held, held, ['relay']],
      [free, held, ['relay', 'lan']],
      [free, free, ['relay', 'lan', 'probe']]
    ]
    for (const [fromRelay, fromLan, expected] of rounds) {
      const asked: string[] = []
      const { root, check } = here({ tiers: [tier('relay', fromRelay, asked), tier('lan', fromLan, asked)] })
      publish(root, 'ada/stable.json', entry({ pid: anotherProcess().pid, local_url: url }))
      const answer = await check.checkBeforeSpawn(agent)
      if (seen.length > 0) asked.push('probe')
      expect(asked).toEqual(expected)
      expect(answer).toMatchObject({ kind: 'refused', by: expected.at(-1), refusal: { kind: 'held' } })
    }
  })

  test('the lease is looked at before anybody is asked, and a hold before the lease', async () => {
    const asked: string[] = []
    const { root, check, holds } = here({ tiers: [tier('relay', { kind: 'free' }, asked)] })
    await storeOf(root, { pid: anotherProcess().pid }).claim({ agent, blockId: 'b-1' })
    expect(await check.checkBeforeSpawn(agent)).toMatchObject({ kind: 'refused', by: 'lease' })
    holds.holdAfterHandover('u-1', { channel: 'nightly', version: '2.0.0' })
    expect(await check.checkBeforeSpawn(agent)).toMatchObject({
      kind: 'refused',
      by: 'handover-hold',
      refusal: { kind: 'taken-over', holder: { channel: 'nightly' } }
    })
    expect(asked).toEqual([])
  })

  test('what the relay and the network do not know lets the agent start, and is told', async () => {
    const failing: ElsewhereTier = {
      name: 'lan',
      heldElsewhere: () => {
        throw new Error('no route to host')
      }
    }
    const { check, doubts } = here({ tiers: [tier('relay', { kind: 'unknown', why: 'offline' }), failing] })
    expect(await check.checkBeforeSpawn(agent)).toEqual({ kind: 'pass' })
    expect(doubts).toEqual([
      { agent, by: 'relay', why: 'offline' },
      { agent, by: 'lan', why: 'no route to host' }
    ])
  })

  test('a tier that never answers holds the agent up for 5 s at most', async () => {
    const clock = createManualClock({ wallMs: Date.now() })
    let told: AbortSignal | undefined
    const stuck: ElsewhereTier = {
      name: 'lan',
      heldElsewhere: (_agent, signal) => {
        told = signal
        return new Promise(() => {})
      }
    }
    const { check, doubts } = here({ clock, tiers: [stuck] })
    const answer = check.checkBeforeSpawn(agent)
    await clock.advance(4_999)
    expect(told?.aborted).toBe(false)
    await clock.advance(1)
    expect(await answer).toEqual({ kind: 'pass' })
    expect(told?.aborted).toBe(true)
    expect(doubts).toEqual([{ agent, by: 'lan', why: 'no answer in time' }])
    expect(clock.pendingTimers).toBe(0)
  })

  test('an abort is passed on to the tier and ends the check', async () => {
    const controller = new AbortController()
    let told: AbortSignal | undefined
    const stuck: ElsewhereTier = {
      name: 'lan',
      heldElsewhere: (_agent, signal) => {
        told = signal
        controller.abort(new Error('enough'))
        return new Promise(() => {})
      }
    }
    const { check } = here({ tiers: [stuck] })
    await expect(check.checkBeforeSpawn(agent, { signal: controller.signal })).rejects.toThrow('enough')
    expect(told?.reason).toEqual(new Error('enough'))
    const again = check.checkBeforeSpawn(agent, { signal: controller.signal })
    await expect(again).rejects.toThrow('enough')
  })
})

describe('an older build without a lease', () => {
  test('refuses by its UID, until it is gone', async () => {
    const { root, check, doubts } = here()
    const build = await olderBuild(root, [{ agent_id: 'Ada', block_id: 'b-7', uid: 'U-1' }])
    expect(await check.checkBeforeSpawn(agent)).toMatchObject({
      kind: 'refused',
      by: 'probe',
      refusal: { kind: 'held', holder: { pid: build.pid, channel: 'stable', blockId: 'b-7' } }
    })
    build.kill('SIGKILL')
    await new Promise((resolve) => build.once('exit', resolve))
    expect(await check.checkBeforeSpawn(agent)).toEqual({ kind: 'pass' })
    expect(doubts.map(({ by, why }) => `${by} ${why.replace(/\d{2,}/g, 'N')}`)).toEqual([
      'probe http://N.0.0.1:N (pid N): nothing listens there'
    ])
  })

  test('of the same name and another UID is no objection', async () => {
    const { root, check } = here()
    await olderBuild(root, [{ agent_id: 'Ada', block_id: 'b-7', uid: 'u-2' }, { agent_id: 'u-1' }])
    expect(await check.checkBeforeSpawn(agent)).toEqual({ kind: 'pass' })
  })

  test('that is stopped holds the check up for 1,500 ms and is told', async () => {
    const { root, check, doubts } = here()
    const build = await olderBuild(root, [{ agent_id: 'Ada', uid: 'u-1' }])
    build.kill('SIGSTOP')
    expect(await check.checkBeforeSpawn(agent)).toEqual({ kind: 'pass' })
    expect(doubts.map(({ why }) => why.split(': ')[1])).toEqual(['no answer in time'])
  })

  test('no key stands in what is told', async () => {
    const { root, check, doubts } = here()
    const url = await serve((request) => request.socket.destroy())
    const fields = { pid: anotherProcess().pid, local_url: url, auth_key: 'very-secret' }
    publish(root, 'ada/stable.json', entry(fields))
    await check.checkBeforeSpawn(agent)
    expect(doubts.length).toBe(1)
    expect(JSON.stringify(doubts)).not.toContain('very-secret')
  })
})
