/**
 * The three that are measured, behind one shape: `prepare(folder, uid)` sets the state up, `round[operation](n)`
 * resolves to n durations in nanoseconds, or to { claim, release } for pairs.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const TTL_MS = 600_000
const BLOCK = 'bench'

/** Ours: two instances in this process, the second to be refused where the first, or the C program, holds. */
export function ours({ LeaseStore, createInstanceIdentity }, registryRoot) {
  const open = () => {
    const instance = createInstanceIdentity({ channel: 'stable', version: '1.0.0' })
    return LeaseStore.open(registryRoot, { instance, ttlMs: TTL_MS })
  }
  const store = open()
  let held

  return {
    name: 'ours',
    async hold(uid) {
      held = granted(await store.claim({ agent: { uid }, blockId: BLOCK }))
    },
    async drop() {
      await store.release(held)
    },
    verify: (_uid, n) => timed(n, () => store.verify(held), 'held'),
    renew: (_uid, n) => timed(n, () => store.renew(held), 'renewed'),
    refused: (uid, n) => timed(n, () => store.claim({ agent: { uid }, blockId: BLOCK }), 'refused'),
    async pairs(uid, n) {
      const claim = new Float64Array(n)
      const release = new Float64Array(n)
      for (let i = 0; i < n; i++) {
        const started = performance.now()
        const lease = granted(await store.claim({ agent: { uid }, blockId: BLOCK }))
        const between = performance.now()
        expect(await store.release(lease), 'released')
        release[i] = (performance.now() - between) * 1e6
        claim[i] = (between - started) * 1e6
      }
      return { claim, release }
    },
    async close() {}
  }
}

/** The C program, one process for the whole run, told what to do between our rounds. */
export function cProgram(program, folder) {
  const child = spawn(program, [folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (line) => {
    child.stdin.write(`${line}\n`)
    const { value, done } = await answers.next()
    if (done) throw new Error(`the C program ended at: ${line}`)
    return value
  }
  const durations = async (line) => (await ask(line)).trim().split(' ').map(Number)

  return {
    name: 'c',
    hold: (uid) => ask(`hold ${uid}`),
    drop: (uid) => ask(`drop ${uid}`),
    verify: (uid, n) => durations(`verify ${uid} ${n}`),
    renew: (uid, n) => durations(`renew ${uid} ${n}`),
    refused: (uid, n) => durations(`refused ${uid} ${n}`),
    async pairs(uid, n) {
      const both = await durations(`pairs ${uid} ${n}`)
      return { claim: both.filter((_, i) => i % 2 === 0), release: both.filter((_, i) => i % 2 === 1) }
    },
    async close() {
      child.stdin.end()
      await new Promise((resolve) => child.once('exit', resolve))
    }
  }
}

/**
 * proper-lockfile, by its synchronous calls: a folder made by mkdir, aged by its mtime. It syncs nothing, knows no
 * holder and has no call to renew: its own timer does.
 */
export function properLockfile(folder) {
  const { lockSync, checkSync } = createRequire(import.meta.url)('proper-lockfile')
  const options = { realpath: false, stale: 60_000 }
  mkdirSync(folder, { recursive: true })
  const fileOf = (uid) => join(folder, uid)
  let unlock

  return {
    name: 'proper-lockfile',
    async hold(uid) {
      writeFileSync(fileOf(uid), '')
      unlock = lockSync(fileOf(uid), options)
    },
    async drop() {
      unlock()
    },
    verify: (uid, n) => timed(n, () => ({ kind: checkSync(fileOf(uid), options) ? 'held' : 'lost' }), 'held'),
    refused: (uid, n) => timed(n, () => ({ kind: refusedLock(uid) }), 'refused'),
    async pairs(uid, n) {
      const claim = new Float64Array(n)
      const release = new Float64Array(n)
      for (let i = 0; i < n; i++) {
        const started = performance.now()
        const unlockAgain = lockSync(fileOf(uid), options)
        const between = performance.now()
        unlockAgain()
        release[i] = (performance.now() - between) * 1e6
        claim[i] = (between - started) * 1e6
      }
      return { claim, release }
    },
    async close() {}
  }

  function refusedLock(uid) {
    try {
      lockSync(fileOf(uid), options)
      return 'granted'
    } catch (error) {
      return error.code === 'ELOCKED' ? 'refused' : error.code
    }
  }
}

async function timed(n, operation, wanted) {
  const durations = new Float64Array(n)
  for (let i = 0; i < n; i++) {
    const started = performance.now()
    const answer = await operation()
    durations[i] = (performance.now() - started) * 1e6
    expect(answer, wanted)
  }
  return durations
}

function granted(result) {
  expect(result, 'granted')
  return result.lease
}

function expect(answer, wanted) {
  if (answer.kind !== wanted) throw new Error(`expected ${wanted}, got ${JSON.stringify(answer)}`)
}
