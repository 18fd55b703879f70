/**
 * kill -9 at every system call of a claim, a renewal and a release, and each of these calls failing instead. After each:
 * at most one holder, nothing lost but the operation, no epoch twice, and the next claim is granted at once.
 * With AGENTMUX_CRASH_TABLE=1 the points are printed, by operation, system call and path.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Answer } from '../harness/child.js'
import { type Outcome, wrongAfter } from './aftermath.js'
import { CrashTable } from './crash-table.js'
import { claimBy, SCENARIOS, type Scenario } from './scenarios.js'
import { type Fate, type SystemCall, traced } from './traced.js'

/** Closing a file frees its descriptor on Linux whatever it returns, which an injected error would not do. */
const NEVER_FAILS = new Set(['close'])
const WRITES = new Set(['openat', 'mkdir', 'rename', 'pwrite64', 'fsync'])
const AT_ONCE = 2

const table = new CrashTable()
if (process.env.AGENTMUX_CRASH_TABLE === '1') afterAll(() => console.log(table.text()))

interface Point {
  readonly call: SystemCall
  readonly fate: Fate
}

interface Run extends Outcome {
  readonly calls: readonly SystemCall[]
  end(): Promise<void>
}

/** Runs the scenario in a new folder, undisturbed unless a point is given. */
async function run(scenario: Scenario, point?: Point): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'crash-point-'))
  const root = join(folder, 'registry')
  const stage = await scenario.prepare(root)
  let answer: Answer
  const work = async () => {
    // No answer: it was killed.
    answer = await stage.victim.do(scenario.operation, claimBy('b')).catch(() => undefined)
  }
  const calls = await traced(stage.victim.pid, folder, { work, ...(point && { at: point }) })
  return {
    stage,
    root,
    answer,
    calls: calls.filter(({ path }) => path !== ''),
    end: async () => {
      await stage.victim.end()
      await stage.holder?.end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Whether the process met its fate at that call, and not at another one. */
function metFate({ calls, answer }: Run, { call, fate }: Point): boolean {
  const met = calls.find(({ name, nth }) => name === call.name && nth === call.nth)
  if (met?.path !== call.path) return false
  return 'kill' in fate ? answer === undefined && calls.at(-1) === met : met.result.includes('INJECTED')
}

/**
 * Calls are counted by name: one that has nothing to do with the operation, a file that Node itself closes, moves the fate to
 * another. What was met in none of three runs is never met.
 */
async function runToItsFate(scenario: Scenario, point: Point): Promise<Run> {
  for (let tries = 1; ; tries++) {
    const outcome = await run(scenario, point)
    if (tries === 3 || metFate(outcome, point)) return outcome
    await outcome.end()
  }
}

/** The calls between the lock of the key and its end. */
function insideLock(calls: readonly SystemCall[]): Set<SystemCall> {
  const locked = calls.findIndex(
    ({ name, path, result }) => name === 'flock' && path.endsWith('.lock') && result === '0'
  )
  return new Set(locked === -1 ? [] : calls.slice(locked + 1))
}

function pointsOf(calls: readonly SystemCall[], kinds: 'killed' | 'failing'): Point[] {
  if (kinds === 'killed') return calls.map((call) => ({ call, fate: { kill: true } }))
  const fallible = calls.filter(({ name }) => !NEVER_FAILS.has(name))
  return fallible.flatMap((call) =>
    (WRITES.has(call.name) ? ['EIO', 'ENOSPC'] : ['EIO']).map((error) => ({ call, fate: { error } }))
  )
}

async function atOnce<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await each(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

describe.each(SCENARIOS)('$name', (scenario) => {
  it.each(['killed', 'failing'] as const)(
    'with every call %s: nothing is lost but the operation',
    async (kinds) => {
      const undisturbed = await run(scenario)
      await undisturbed.end()
      const points = pointsOf(undisturbed.calls, kinds)
      const inside = insideLock(undisturbed.calls)
      expect(points.length).toBeGreaterThan(5)
      const violations: string[] = []
      await atOnce(points, async (point) => {
        const outcome = await runToItsFate(scenario, point)
        const wrong = metFate(outcome, point) ? [] : ['it did not meet its fate there']
        wrong.push(...(await wrongAfter(scenario, outcome)))
        await outcome.end()
        const { call, fate } = point
        table.add(scenario.name, call, { fate, inside: inside.has(call), wrong })
        const what = `${'kill' in fate ? 'kill' : fate.error} at ${call.name} #${call.nth} ${call.path}`
        violations.push(...wrong.map((reason) => `${what}: ${reason}`))
      })
      expect(violations).toEqual([])
    },
    300_000
  )
})
