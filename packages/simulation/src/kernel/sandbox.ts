/**
 * A realm of its own in which the code of one simulated thread runs: its own globals, its own queue of promise jobs, which is
 * worked off whenever the thread has had its turn. So one thread can run while another stands in the middle of its code.
 */
import vm from 'node:vm'

const TURN = new vm.Script('globalThis.__turn()', { filename: 'turn' })

/** What every realm has of its own and what has to be put in the place of chance and time. */
export interface Intrinsics {
  readonly Date: { now: () => number }
  readonly Math: { random: () => number }
  readonly Atomics: { wait: (cell: unknown, index: number, value: number, timeoutMs?: number) => string }
}

type Realm = vm.Context & { __turn?: (() => void) | undefined }

export class Sandbox {
  readonly realm: Realm
  readonly Promise: PromiseConstructor
  readonly Error: ErrorConstructor
  readonly intrinsics: Intrinsics

  /**
   * The same function, as one of the realm: what waits for a promise runs in the realm of the function that waits, and a promise
   * of the realm would have to wait for the world outside.
   */
  readonly inside: <F extends (...args: never[]) => unknown>(run: F) => F

  constructor() {
    // An ordinary global object: one that is kept in step with an outer one makes every name that code looks up cost far more.
    this.realm = vm.createContext(vm.constants.DONT_CONTEXTIFY, { microtaskMode: 'afterEvaluate' }) as Realm
    this.Promise = vm.runInContext('Promise', this.realm) as PromiseConstructor
    this.Error = vm.runInContext('Error', this.realm) as ErrorConstructor
    this.inside = vm.runInContext('(run) => (...args) => run(...args)', this.realm) as Sandbox['inside']
    this.intrinsics = vm.runInContext('({ Date, Math, Atomics })', this.realm) as Intrinsics
  }

  /** Runs something in there, and every promise job that it leads to. */
  turn(run: () => void): void {
    const before = this.realm.__turn
    this.realm.__turn = run
    try {
      TURN.runInContext(this.realm)
    } finally {
      this.realm.__turn = before
    }
  }

  evaluate(script: vm.Script): unknown {
    return script.runInContext(this.realm)
  }
}

/** A realm takes milliseconds to make, and code that ran in it before has no way back into the world: used again. */
export class SandboxPool {
  readonly #free: Sandbox[] = []
  readonly #used: Sandbox[] = []

  take(): Sandbox {
    const sandbox = this.#free.pop() ?? new Sandbox()
    this.#used.push(sandbox)
    return sandbox
  }

  /** At the end of a world. */
  reclaim(): void {
    this.#free.push(...this.#used.splice(0))
  }
}
