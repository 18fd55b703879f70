import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createSystemClock } from '@agentmux/lease-model'
import { createManualClock, type ManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, test } from 'vitest'
import { ReactiveRegistry, type ReactiveRegistryOptions } from '../src/reactive/reactive-registry.js'
import { anotherProcess, deadPid, entry, host, publish, sharedRoot } from './another-instance.js'

const server = { channel: 'Stable', localUrl: 'http://127.0.0.1:4711', authKey: 'our-key' }
const ada = { agentName: 'Ada Lovelace', blockId: 'block-1' }

function registryIn(root: string, options: Partial<ReactiveRegistryOptions> = {}): ReactiveRegistry {
  return new ReactiveRegistry(root, { clock: createSystemClock(), host, ...options })
}

function fileOf(root: string, name = 'ada_lovelace/stable.json'): string {
  return join(root, 'agents', 'reactive', name)
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
/** A manual clock that agrees with the files' times. */
const clockNow = (): ManualClock => createManualClock({ wallMs: Date.now() })
const names = (registry: ReactiveRegistry) => registry.entriesOfOthers().map((one) => one.agentName)

describe('registering an agent', () => {
  test('publishes it under its stem and that of the channel, for our user only', () => {
    const root = sharedRoot()
    const before = Date.now()
    const registration = registryIn(root, { pid: 4_242 }).register(server, ada)
    const { updated_at, ...rest } = read(fileOf(root))
    expect(rest).toEqual({
      agent_id: 'Ada Lovelace',
      local_url: 'http://127.0.0.1:4711',
      block_id: 'block-1',
      pid: 4_242,
      auth_key: 'our-key',
      channel: 'Stable',
      registration_nonce: registration.nonce
    })
    expect(updated_at).toBeGreaterThanOrEqual(before)
    expect(updated_at).toBeLessThanOrEqual(Date.now())
    expect(registration.nonce).toBeGreaterThan(0)
    expect(statSync(fileOf(root)).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(fileOf(root)))).toEqual(['stable.json'])
  })

  test('is for our user only from the first byte, even where a crashed writer left a file open to all', () => {
    const root = sharedRoot()
    const leftover = publish(root, 'ada_lovelace/stable.json.tmp', '{')
    chmodSync(leftover, 0o666)
    registryIn(root).register(server, ada)
    expect(statSync(fileOf(root)).mode & 0o777).toBe(0o600)
    expect(existsSync(leftover)).toBe(false)
  })

  test('writes through no link that somebody put in the way', () => {
    const root = sharedRoot()
    const victim = join(root, 'victim')
    writeFileSync(victim, 'precious')
    mkdirSync(dirname(fileOf(root)), { recursive: true })
    symlinkSync(victim, fileOf(root))
    symlinkSync(victim, `${fileOf(root)}.tmp`)
    registryIn(root).register(server, ada)
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(read(fileOf(root)).agent_id).toBe('Ada Lovelace')
  })

  test('a disk that fails is told, and the agent is published once it works again', async () => {
    const root = sharedRoot()
    writeFileSync(join(root, 'agents'), 'not a folder')
    const clock = clockNow()
    const faults: unknown[] = []
    const registry = registryIn(root, { clock, onFault: (fault) => faults.push(fault) })
    registry.register(server, ada)
    expect(faults).toEqual([expect.objectContaining({ errno: expect.stringMatching(/ENOTDIR|EEXIST/) })])
    rmSync(join(root, 'agents'))
    await clock.advance(20_000)
    expect(read(fileOf(root)).agent_id).toBe('Ada Lovelace')
    registry.close()
  })

  test('where no folder can be made is a fault for the log, and ends', () => {
    const faults: unknown[] = []
    const registry = registryIn('/proc/none', { onFault: (fault) => faults.push(fault) })
    registry.register(server, ada)
    expect(faults).toEqual([expect.objectContaining({ name: 'LeaseFault', errno: 'ENOENT' })])
    registry.close()
  })

  test('a name and an address on loopback are required at once', () => {
    const registry = registryIn(sharedRoot())
    expect(() => registry.register(server, { agentName: '', blockId: 'b' })).toThrow(TypeError)
    expect(() => registry.register({ ...server, localUrl: 'http://10.0.0.1:1' }, ada)).toThrow(TypeError)
    expect(() => registryIn('')).toThrow(TypeError)
  })
})

describe('the heartbeat', () => {
  test('rewrites every entry each 20 s with one timer, which ends with the last of them', async () => {
    const root = sharedRoot()
    const clock = clockNow()
    const registry = registryIn(root, { clock })
    const registrations = Array.from({ length: 40 }, (_, index) =>
      registry.register(server, { agentName: `agent-${index}`, blockId: 'b' })
    )
    expect(clock.pendingTimers).toBe(1)
    const files = registrations.map(({ agentName }) => fileOf(root, `${agentName}/stable.json`))
    await clock.advance(19_999)
    const before = files.map((file) => read(file).updated_at)
    await clock.advance(1)
    await clock.advance(0)
    expect(files.map((file) => read(file).updated_at)).toEqual(before.map((time) => time + 20_000))
    for (const registration of registrations) registration.remove()
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(60_000)
    expect(files.filter((file) => existsSync(file))).toEqual([])
  })

  test('puts back what somebody removed or damaged', async () => {
    const root = sharedRoot()
    const clock = clockNow()
    const registry = registryIn(root, { clock })
    const { nonce } = registry.register(server, ada)
    rmSync(dirname(fileOf(root)), { recursive: true })
    await clock.advance(20_000)
    expect(read(fileOf(root)).registration_nonce).toBe(nonce)
    writeFileSync(fileOf(root), '{"agent_id":')
    await clock.advance(20_000)
    expect(read(fileOf(root)).registration_nonce).toBe(nonce)
    registry.close()
  })

  test('leaves the file to another running instance of the channel, and takes it back when that is gone', async () => {
    const root = sharedRoot()
    const clock = clockNow()
    const registry = registryIn(root, { clock })
    const { nonce } = registry.register(server, ada)
    const other = anotherProcess()
    publish(root, 'ada_lovelace/stable.json', entry({ pid: other.pid, registration_nonce: 99 }))
    await clock.advance(20_000)
    expect(read(fileOf(root)).registration_nonce).toBe(99)
    other.kill('SIGKILL')
    await new Promise((resolve) => other.once('exit', resolve))
    await clock.advance(60_000)
    expect(read(fileOf(root)).registration_nonce).toBe(nonce)
    registry.close()
  })

  test('after a suspension it beats once', async () => {
    const root = sharedRoot()
    const clock = clockNow()
    const registry = registryIn(root, { clock })
    registry.register(server, ada)
    clock.suspend(3_600_000)
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(1)
    expect(read(fileOf(root)).updated_at).toBe(clock.wallMs())
    registry.close()
  })
})

describe('removing an entry', () => {
  test('removes what this registration wrote, once', () => {
    const root = sharedRoot()
    const registry = registryIn(root)
    const registration = registry.register(server, ada)
    registration.remove()
    expect(existsSync(fileOf(root))).toBe(false)
    // Nor an empty folder for every name there ever was.
    expect(existsSync(dirname(fileOf(root)))).toBe(false)
    const theirs = publish(root, 'ada_lovelace/stable.json', entry())
    registration.remove()
    expect(existsSync(theirs)).toBe(true)
  })

  test('leaves an entry that another process wrote since', () => {
    const root = sharedRoot()
    const registration = registryIn(root).register(server, ada)
    publish(root, 'ada_lovelace/stable.json', entry({ registration_nonce: registration.nonce + 1 }))
    registration.remove()
    expect(read(fileOf(root)).registration_nonce).toBe(registration.nonce + 1)
  })

  test.each([0, undefined])('never takes an entry with the nonce %s for its own', (registration_nonce) => {
    const root = sharedRoot()
    const registry = registryIn(root)
    const { nonce } = registry.register(server, ada)
    publish(root, 'ada_lovelace/stable.json', entry({ registration_nonce }))
    registry.remove(0)
    registry.remove(nonce)
    expect(existsSync(fileOf(root))).toBe(true)
  })

  test('a newer pane of the same name has the file; when it goes the older is published again', () => {
    const root = sharedRoot()
    const registry = registryIn(root)
    const older = registry.register(server, ada)
    const newer = registry.register(server, { ...ada, blockId: 'block-2' })
    expect(read(fileOf(root)).block_id).toBe('block-2')
    newer.remove()
    expect(read(fileOf(root)).block_id).toBe('block-1')
    older.remove()
    expect(existsSync(fileOf(root))).toBe(false)
  })

  test('closing removes everything that is ours and leaves no timer', () => {
    const root = sharedRoot()
    const clock = clockNow()
    const registry = registryIn(root, { clock })
    registry.register(server, ada)
    registry.register(server, ada)
    registry.register(server, { agentName: 'bob', blockId: 'b' })
    const theirs = publish(root, 'bob/nightly.json', entry())
    registry.close()
    expect(existsSync(fileOf(root))).toBe(false)
    expect(existsSync(fileOf(root, 'bob/stable.json'))).toBe(false)
    expect(existsSync(theirs)).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('the sweep at start-up', () => {
  const hours = (count: number) => Date.now() - count * 3_600_000

  test('drops what is older than 4 h, of a dead process, or malformed; everything else stays', async () => {
    const root = sharedRoot()
    const live = anotherProcess().pid
    const gone = await deadPid()
    const rubbish = [
      publish(root, 'a/old.json', entry({ pid: live, updated_at: hours(4.01) })),
      publish(root, 'a/dead.json', entry({ pid: gone })),
      publish(root, 'a/half.json', '{"agent_id":"a",'),
      publish(root, 'a/empty.json', ''),
      publish(root, 'a/nul.json', '\0\0\0\0'),
      publish(root, 'a/list.json', '[]'),
      publish(root, 'a/huge.json', `${JSON.stringify(entry({ pid: live }))}${' '.repeat(20_000)}`),
      publish(root, 'b/types.json', entry({ pid: `${live}` })),
      publish(root, 'b/types2.json', entry({ pid: live, updated_at: 'today' })),
      publish(root, 'b/types3.json', entry({ pid: live, auth_key: 1 })),
      publish(root, 'b/types4.json', entry({ pid: live, registration_nonce: null })),
      publish(root, 'b/pid.json', entry({ pid: 2 ** 32 })),
      publish(root, 'b/missing.json', entry({ pid: live, agent_id: undefined })),
      publish(root, 'b/predecessor.json', entry({ pid: process.pid }))
    ]
    const kept = [
      publish(root, 'a/live.json', entry({ pid: live })),
      publish(root, 'a/almost.json', entry({ pid: live, updated_at: hours(3.9) })),
      publish(root, 'a/future.json', entry({ pid: live, updated_at: hours(-99) })),
      publish(root, 'a/minimal.json', {
        agent_id: 'a',
        local_url: 'http://127.0.0.1:1',
        block_id: '',
        pid: live,
        updated_at: Date.now()
      }),
      publish(root, 'a/odd-url.json', entry({ pid: live, local_url: 'http://example.com' })),
      publish(root, 'a/more.json', entry({ pid: live, jekt_public_key: 'k', unknown: [1] })),
      publish(root, 'a/notes.txt', 'mine'),
      publish(root, 'a/writing.json.tmp', '{')
    ]
    expect(registryIn(root).sweep()).toBe(rubbish.length)
    expect(rubbish.filter((path) => existsSync(path))).toEqual([])
    expect(kept.filter((path) => !existsSync(path))).toEqual([])
  })

  test('drops the temporary file of a writer that crashed a minute ago', () => {
    const root = sharedRoot()
    const path = publish(root, 'a/stable.json.tmp', '{')
    const longAgo = new Date(Date.now() - 61_000)
    utimesSync(path, longAgo, longAgo)
    expect(registryIn(root).sweep()).toBe(1)
    expect(existsSync(path)).toBe(false)
  })

  test('goes on past links that lead in circles', () => {
    const root = sharedRoot()
    mkdirSync(join(root, 'agents/reactive/a'), { recursive: true })
    symlinkSync('b', join(root, 'agents/reactive/b'))
    symlinkSync('stable.json.tmp', join(root, 'agents/reactive/a/stable.json.tmp'))
    const rubbish = publish(root, 'c/stable.json', '{')
    expect(registryIn(root).sweep()).toBe(1)
    expect(existsSync(rubbish)).toBe(false)
  })

  test('removes a link, not what it points to', () => {
    const root = sharedRoot()
    const victim = join(root, 'victim.json')
    writeFileSync(victim, 'precious')
    mkdirSync(join(root, 'agents/reactive/a'), { recursive: true })
    symlinkSync(victim, join(root, 'agents/reactive/a/stable.json'))
    registryIn(root).sweep()
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(existsSync(join(root, 'agents/reactive/a/stable.json'))).toBe(false)
  })

  test('in a container a fresh heartbeat outweighs a pid that is not there', async () => {
    const root = sharedRoot()
    const gone = await deadPid()
    const fresh = publish(root, 'a/fresh.json', entry({ pid: gone }))
    const same = publish(root, 'a/same.json', entry({ pid: process.pid }))
    const silent = publish(root, 'a/silent.json', entry({ pid: gone, updated_at: Date.now() - 61_000 }))
    expect(registryIn(root, { host: { ...host, initialPidNs: false } }).sweep()).toBe(1)
    expect([fresh, same, silent].map((path) => existsSync(path))).toEqual([true, true, false])
  })

  test('a registry that is not there is not made', () => {
    const root = sharedRoot()
    expect(registryIn(root).sweep()).toBe(0)
    expect(registryIn(root).entriesOfOthers()).toEqual([])
    expect(readdirSync(root)).toEqual([])
  })
})

describe('the entries of others', () => {
  test('are those of other processes that run, without ours', async () => {
    const root = sharedRoot()
    const live = anotherProcess().pid
    const registry = registryIn(root)
    registry.register(server, { agentName: 'ours', blockId: 'b' })
    publish(root, 'b/stable.json', entry({ pid: process.pid, agent_id: 'predecessor' }))
    publish(root, 'c/stable.json', entry({ pid: live, agent_id: 'theirs' }))
    publish(root, 'c/nightly.json', '{')
    const gone = { pid: await deadPid(), updated_at: Date.now() - 61_000 }
    publish(root, 'd/stable.json', entry({ ...gone, agent_id: 'gone' }))
    publish(root, 'stray.json', entry({ pid: live, agent_id: 'stray' }))
    expect(names(registry)).toEqual(['theirs'])
    registry.close()
  })

  test('are read past links that lead in circles', () => {
    const root = sharedRoot()
    mkdirSync(join(root, 'agents/reactive/a'), { recursive: true })
    symlinkSync('b', join(root, 'agents/reactive/b'))
    symlinkSync('stable.json', join(root, 'agents/reactive/a/stable.json'))
    publish(root, 'c/stable.json', entry({ pid: anotherProcess().pid, agent_id: 'theirs' }))
    expect(names(registryIn(root))).toEqual(['theirs'])
  })

  test('are read anew each time, however they were written', () => {
    const root = sharedRoot()
    const live = anotherProcess().pid
    const clock = clockNow()
    const registry = registryIn(root, { clock })
    // The folder is old enough for its list to be remembered.
    clock.stepWall(1_000)
    const path = publish(root, 'x/nightly.json', entry({ pid: live, agent_id: 'appeared' }))
    expect(names(registry)).toEqual(['appeared'])
    expect(names(registry)).toEqual(['appeared'])
    writeFileSync(path, JSON.stringify(entry({ pid: live, agent_id: 'rewritten in place' })))
    expect(names(registry)).toEqual(['rewritten in place'])
    writeFileSync(`${path}.tmp`, JSON.stringify(entry({ pid: live, agent_id: 'replaced' })))
    renameSync(`${path}.tmp`, path)
    expect(names(registry)).toEqual(['replaced'])
    publish(root, 'x/dev.json', entry({ pid: live, agent_id: 'beside it' }))
    expect(names(registry).sort()).toEqual(['beside it', 'replaced'])
    rmSync(path)
    expect(names(registry)).toEqual(['beside it'])
    rmSync(dirname(path), { recursive: true })
    expect(names(registry)).toEqual([])
  })

  test('are seen a quarter of a second later at most where so far only ours were', () => {
    const root = sharedRoot()
    const live = anotherProcess().pid
    const clock = clockNow()
    const registry = registryIn(root, { clock })
    registry.register(server, { agentName: 'x', blockId: 'b' })
    clock.stepWall(1_000)
    expect(names(registry)).toEqual([])
    const path = publish(root, 'x/nightly.json', entry({ pid: live, agent_id: 'beside ours' }))
    clock.suspend(250)
    expect(names(registry)).toEqual(['beside ours'])
    rmSync(path)
    expect(names(registry)).toEqual([])
    const temporary = publish(root, 'x/stable.json.tmp', entry({ pid: live, agent_id: 'instead of ours' }))
    renameSync(temporary, fileOf(root, 'x/stable.json'))
    clock.suspend(250)
    expect(names(registry)).toEqual(['instead of ours'])
    registry.close()
  })

  test('a folder that changed in this very moment is not taken to be settled', () => {
    const root = sharedRoot()
    const live = anotherProcess().pid
    // By this clock every change has just been made.
    const registry = registryIn(root, { clock: createManualClock({ wallMs: Date.now() - 60_000 }) })
    registry.register(server, { agentName: 'x', blockId: 'b' })
    expect(names(registry)).toEqual([])
    publish(root, 'x/nightly.json', entry({ pid: live, agent_id: 'beside ours' }))
    expect(names(registry)).toEqual(['beside ours'])
    registry.close()
  })
})
