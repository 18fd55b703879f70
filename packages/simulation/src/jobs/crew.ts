/**
 * Histories in several processes at once. They come out in the order of their plans, whoever is done first, so that what is
 * printed does not depend on how many processes there are.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plan } from '../run/plan.js'
import type { Told } from './told.js'

export interface Done {
  readonly plan: Plan
  readonly told: Told
}

export interface CrewOptions {
  readonly jobs: number
  readonly sources: string
  readonly story: boolean
}

/** So many histories may be done before an earlier one is: they wait in memory. */
const AHEAD_PER_JOB = 50
/** Beside the program that is running. */
const WORKER = join(dirname(fileURLToPath(import.meta.url)), 'worker-cli.js')

/** @throws an Error that names the seed when a process ends in the middle of its work. */
export async function* crew(
  plans: Iterator<Plan>,
  { jobs, sources, story }: CrewOptions
): AsyncGenerator<Done> {
  const done = new Map<number, Done>()
  const idle: ChildProcess[] = []
  let handedOut = 0
  let next = 0
  let over = false
  let failure: Error | undefined
  let wake = () => {}

  const hand = (worker: ChildProcess) => {
    if (over) return
    if (handedOut - next >= AHEAD_PER_JOB * jobs) return void idle.push(worker)
    const { value: plan, done: none } = plans.next()
    if (none === true) {
      over = true
      return
    }
    const index = handedOut++
    const ended = (code: number | null, signal: string | null) => {
      failure ??= new Error(
        `seed ${plan.seed}: the process that ran it ended, ${signal ?? `exit code ${code}`}`
      )
      wake()
    }
    worker.once('exit', ended)
    worker.once('message', (told: Told) => {
      worker.off('exit', ended)
      done.set(index, { plan, told })
      hand(worker)
      wake()
    })
    worker.send(plan)
  }

  const workers = Array.from({ length: jobs }, () => fork(WORKER, [sources, ...(story ? ['story'] : [])]))
  try {
    for (const worker of workers) hand(worker)
    for (;;) {
      const ready = done.get(next)
      if (ready !== undefined) {
        done.delete(next)
        next++
        for (const worker of idle.splice(0)) hand(worker)
        yield ready
      } else if (failure !== undefined) {
        throw failure
      } else if (over && next === handedOut) {
        return
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
  }
}
