/** The globals of a realm, bound to the thread that runs in it now: clocks, timers, chance, the process itself. */

import type { Thread } from '../kernel/thread.js'
import type { Planned } from '../world/event-queue.js'
import { USER } from './stats.js'
import { systemError } from './system-error.js'

interface Timer {
  planned: Planned | undefined
  readonly unref: () => Timer
  readonly ref: () => Timer
}

/** A pass of the event loop. */
const TURN_US = 25

export interface Timers {
  set(callback: () => void, delayMs?: number): Timer
  clear(timer: Timer | undefined): void
  setImmediate(callback: () => void): Timer
}

/** Timers run on the clock that does not count sleep, as those of Node do. */
export function timersOf(thread: Thread): Timers {
  const { host } = thread.process
  const make = (): Timer => {
    const timer: Timer = { planned: undefined, unref: () => timer, ref: () => timer }
    return timer
  }
  const arm = (timer: Timer, dueUs: number, callback: () => void) => {
    timer.planned = thread.after(Math.max(0, dueUs - host.monotonicUs), () => {
      if (timer.planned === undefined) return
      if (host.monotonicUs < dueUs) return arm(timer, dueUs, callback)
      timer.planned = undefined
      callback()
    })
  }
  return {
    set(callback, delayMs = 1) {
      const timer = make()
      const lateUs = host.world.random.chance(0.05)
        ? host.world.random.int(100, 8_000)
        : host.world.random.int(5, 300)
      arm(
        timer,
        host.monotonicUs + Math.max(1, Number.isFinite(delayMs) ? delayMs : 1) * 1_000 + lateUs,
        callback
      )
      return timer
    },
    clear(timer) {
      if (timer?.planned === undefined) return
      timer.planned.cancelled = true
      timer.planned = undefined
    },
    setImmediate(callback) {
      const timer = make()
      timer.planned = thread.after(TURN_US, () => {
        if (timer.planned === undefined) return
        timer.planned = undefined
        callback()
      })
      return timer
    }
  }
}

export function performanceOf(thread: Thread) {
  const { host } = thread.process
  const beganUs = host.monotonicUs
  return { now: () => (host.monotonicUs - beganUs) / 1_000 + 30 }
}

export function processOf(thread: Thread, modules: (name: string) => unknown) {
  const { process } = thread
  const { host } = process
  return {
    pid: process.pid,
    get ppid() {
      return process.parent?.alive === true ? process.parent.pid : 1
    },
    platform: 'linux',
    env: { ...process.environment },
    versions: { node: '20.19.0' },
    geteuid: () => USER,
    getuid: () => USER,
    emitWarning: () => {},
    hrtime: { bigint: () => BigInt(host.monotonicUs) * 1_000n },
    getBuiltinModule: modules,
    kill(pid: number, signal: string | number) {
      thread.enter(false)
      const meant = [...host.processes.values()].filter((each) =>
        pid < 0 ? each.groupId === -pid : each.pid === pid
      )
      if (meant.length === 0) throw systemError(thread, 'ESRCH', 'kill')
      if (signal === 0) return true
      for (const each of meant) host.observer.signalled(process, each, String(signal))
      for (const each of meant) each.signal(signal as 'SIGTERM')
      return true
    }
  }
}

/** What ends by itself does so on the simulated clock. */
function abortSignals(timers: Timers): typeof AbortSignal {
  const timeout = (delayMs: number) => {
    const controller = new AbortController()
    timers.set(() => controller.abort(new DOMException('it took too long', 'TimeoutError')), delayMs)
    return controller.signal
  }
  return new Proxy(AbortSignal, {
    get: (real, name) => (name === 'timeout' ? timeout : Reflect.get(real, name, real))
  })
}

/** Puts everything in its place in the realm. What was there of the thread before is gone. */
export function bindRealm(thread: Thread, modules: (name: string) => unknown): void {
  const { sandbox, process } = thread
  const { host } = process
  const { realm } = sandbox
  const timers = timersOf(thread)
  const random = host.world.random
  const own = realm as Record<string, unknown>
  const intrinsic = sandbox.intrinsics
  intrinsic.Date.now = () => host.wallMs
  intrinsic.Math.random = () => random.float()
  intrinsic.Atomics.wait = (_cell: unknown, _index: number, _value: number, timeoutMs = 1) => {
    thread.enter(false)
    thread.giveWay(timeoutMs * 1_000)
    return 'timed-out'
  }
  Object.assign(own, {
    Buffer,
    URL,
    URLSearchParams,
    TextDecoder,
    TextEncoder,
    AbortController,
    AbortSignal: abortSignals(timers),
    Event,
    EventTarget,
    DOMException,
    structuredClone,
    console: { error() {}, log() {}, warn() {} },
    performance: performanceOf(thread),
    process: processOf(thread, modules),
    setTimeout: timers.set,
    clearTimeout: timers.clear,
    setImmediate: timers.setImmediate,
    clearImmediate: timers.clear,
    queueMicrotask: (job: () => void) => void sandbox.Promise.resolve().then(job)
  })
}
