/**
 * Many processes on two keys, of which one after the other is stopped, continued, or killed and replaced, beside older
 * builds that wait for the lock inside the kernel. Ends only what it started. Returns what all of them wrote down.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { loadPackage } from '../measuring/packages.mjs'
import { seededRandom } from '../measuring/seeded-random.mjs'
import { monotonicMs } from '../measuring/stamp.mjs'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))
const OLDER = fileURLToPath(new URL('older-build.mjs', import.meta.url))
/** Short, so that stops outlast it. */
const TTL_MS = 800
/** Here wall clocks jump; older builds, which believe theirs, only look. */
const STEPPED = 'stepped'
/** Here older builds claim, too, and wall clocks are right. */
const MIXED = 'mixed'
/** One in so many works on the mixed key. */
const MIXED_SHARE = 4

export async function runStress({ folder, processes, seconds, seed }) {
  const root = join(folder, 'registry')
  const random = seededRandom(seed)
  const events = []
  const tally = { stops: 0, kills: 0 }
  await createKeys(root)
  const workers = Array.from({ length: processes }, (_, index) => startWorker(index, 0))
  const older = [
    startOlder('older-looking', STEPPED, 'look', 10),
    startOlder('older-looking-2', STEPPED, 'look', 25),
    startOlder('older-claiming', MIXED, 'claim', 15)
  ]
  const stopped = new Map()
  // Starting takes a while on a busy machine: the time counts from when everybody had a turn.
  await Promise.all(workers.map(({ firstTurn }) => firstTurn))
  const untilMs = monotonicMs() + seconds * 1_000
  while (monotonicMs() < untilMs) {
    await sleep(20 + random() * 200)
    await disturb(Math.floor(random() * processes), random())
  }
  for (const [index] of stopped) resume(index)
  await Promise.all([...workers, ...older].map(ended))
  return { events: [...events, ...readLogs(folder)].sort((one, other) => one.at - other.at), tally }

  function startWorker(index, generation) {
    const name = `${index}.${generation}`
    const key = index % MIXED_SHARE === MIXED_SHARE - 1 ? MIXED : STEPPED
    const own = seed + 1_000 * index + generation
    const args = [WORKER, root, key, name, logOf(name), own, TTL_MS, key === STEPPED ? 1 : 0]
    return start(name, args, generation)
  }

  function startOlder(name, key, mode, pauseMs) {
    return start(name, [OLDER, root, key, name, logOf(name), mode, pauseMs], 0)
  }

  function start(name, args, generation) {
    const child = spawn(process.execPath, args.map(String), { stdio: 'pipe' })
    child.stdin.on('error', () => {})
    child.stderr.on('data', (data) => {
      events.push({
        what: 'fault',
        code: `${name} says ${String(data).slice(0, 500)}`,
        process: name,
        at: monotonicMs()
      })
    })
    const exited = once(child, 'exit')
    return { name, child, generation, exited, firstTurn: Promise.race([once(child.stdout, 'data'), exited]) }
  }

  async function disturb(index, chance) {
    if (stopped.has(index)) return resume(index)
    if (chance < 0.5) {
      tally.stops += 1
      note('stopping', workers[index].name)
      workers[index].child.kill('SIGSTOP')
      stopped.set(
        index,
        setTimeout(() => resume(index), TTL_MS * (0.1 + 2 * random()))
      )
    } else if (chance < 0.75) {
      tally.kills += 1
      await replaceWorker(index)
    }
  }

  function resume(index) {
    clearTimeout(stopped.get(index))
    stopped.delete(index)
    workers[index].child.kill('SIGCONT')
    note('continued', workers[index].name)
  }

  async function replaceWorker(index) {
    const { name, child, generation, exited } = workers[index]
    note('killing', name)
    child.kill('SIGKILL')
    await exited
    note('gone', name)
    workers[index] = startWorker(index, generation + 1)
  }

  /** At the end of its input it goes, with whatever it holds: as good as killed. */
  async function ended({ name, child, exited }) {
    note('killing', name)
    child.stdin.end()
    await exited
    note('gone', name)
  }

  function note(what, name) {
    events.push({ what, process: name, at: monotonicMs() })
  }

  function logOf(name) {
    return join(folder, `${name}.log`)
  }
}

/** Older builds find the folder and the files of a key that was used before. */
async function createKeys(root) {
  const { LeaseStore } = await loadPackage('lease-store')
  const store = LeaseStore.open(root)
  for (const uid of [STEPPED, MIXED]) {
    const { lease } = await store.claim({ agent: { uid }, blockId: 'first' })
    await store.release(lease)
  }
}

/** A line that was being written when its process was killed is no line. */
function readLogs(folder) {
  const events = []
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.log'))) {
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1))
      events.push(JSON.parse(line))
  }
  return events
}
