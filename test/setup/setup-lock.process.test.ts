/** Several set-ups of one folder at once, with real processes that are really killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './temporary-folder.js'

const WORKER = new URL('./lock-worker.mjs', import.meta.url).pathname

/** A process that does something under the lock of `root`; see lock-worker.mjs for what it may be told. */
function worker(
  root: string,
  ...what: string[]
): ChildProcess & { said(): string; finished: Promise<number | null> } {
  const child = spawn(process.execPath, [WORKER, root, ...what], { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const finished = once(child, 'close').then(([code]) => code as number | null)
  return Object.assign(child, { said: () => said, finished })
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10)
}

/** What the workers have written: a line when work begins, another when it ends. */
const journal = (root: string) => {
  const file = join(root, 'journal')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

test('ten at once work one after the other, and those that wait say for whom', async () => {
  const root = temporaryFolder()
  const workers = Array.from({ length: 10 }, () => worker(root, 'work', '50'))
  expect(await Promise.all(workers.map((each) => each.finished))).toEqual(Array(10).fill(0))
  const lines = journal(root)
  expect(lines).toHaveLength(20)
  for (let at = 0; at < lines.length; at += 2) {
    expect(lines[at + 1]).toBe(lines[at]?.replace('begin', 'end'))
  }
  const waited = workers.filter((each) =>
    /another set-up is running here \(pid \d+\), waiting for it/.test(each.said())
  )
  expect(waited.length).toBeGreaterThan(0)
  expect(readdirSync(join(root, '.setup'))).toEqual([])
})

test('a lock whose process was killed delays nobody', async () => {
  const root = temporaryFolder()
  const killed = worker(root, 'work', '3600000')
  await until(() => journal(root).length === 1)
  killed.kill('SIGKILL')
  await killed.finished
  const next = Array.from({ length: 5 }, () => worker(root, 'work', '20'))
  expect(await Promise.all(next.map((each) => each.finished))).toEqual(Array(5).fill(0))
  expect(journal(root).filter((line) => line.startsWith('end'))).toHaveLength(5)
  for (const line of journal(root).slice(1)) expect(line).not.toContain(`${killed.pid}`)
})

test('an installer that outlives its killed set-up is waited for', async () => {
  const root = temporaryFolder()
  const killed = worker(root, 'start-child', '700')
  await until(() => journal(root).length === 2)
  killed.kill('SIGKILL')
  await killed.finished
  const next = worker(root, 'work', '1')
  expect(await next.finished).toBe(0)
  expect(journal(root).map((line) => line.split(' ')[0])).toEqual([
    'begin',
    'child-begin',
    'child-end',
    'begin',
    'end'
  ])
})

test('a lock left behind by a pid that now belongs to another process is stale', async () => {
  const root = temporaryFolder()
  mkdirSync(join(root, '.setup/lock'), { recursive: true })
  writeFileSync(join(root, '.setup/lock/workers.json'), JSON.stringify([{ pid: process.pid, start: '1' }]))
  appendFileSync(join(root, 'journal'), '')
  expect(await worker(root, 'work', '1').finished).toBe(0)
})

test('work that fails gives the lock back', async () => {
  const root = temporaryFolder()
  expect(await worker(root, 'fail').finished).toBe(1)
  expect(readdirSync(join(root, '.setup'))).toEqual([])
})
