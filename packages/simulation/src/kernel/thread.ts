/**
 * A thread of a simulated process that runs real code. It has its turns one after the other; in the middle of one, at a system
 * call, it may be held up while the rest of the world goes on, or die.
 */
import type { Planned } from '../world/event-queue.js'
import type { Process } from './process.js'
import type { Sandbox } from './sandbox.js'

/** Thrown out of every system call of a thread that is dead, until its stack is empty. */
export class Killed extends Error {
  constructor() {
    super('this simulated process has died')
    this.name = 'Killed'
  }
}

/** Out of how many system calls one gives way to others for a moment. */
const GIVES_WAY = 0.03

const LATE_US = 200_000

export class Thread {
  readonly process: Process
  readonly sandbox: Sandbox
  readonly name: string
  terminated = false
  #busy = 0
  #waiting: (() => void)[] = []

  constructor(process: Process, sandbox: Sandbox, name: string) {
    this.process = process
    this.sandbox = sandbox
    this.name = name
    process.threads.push(this)
  }

  get world() {
    return this.process.host.world
  }

  get alive(): boolean {
    return this.process.alive && !this.terminated && !this.world.ended
  }

  /** Gives it a turn after a while, later if it cannot have one then. */
  after(delayUs: number, run: () => void): Planned {
    return this.world.after(delayUs, () => this.turn(run))
  }

  turn(run: () => void) {
    if (!this.alive) return
    const again = () => this.turn(run)
    if (this.process.host.asleep) return this.process.host.whenAwake(again)
    if (this.process.stopped) return this.process.whenContinued(again)
    if (this.#busy > 0) return void this.#waiting.push(again)
    this.#busy++
    try {
      this.sandbox.turn(run)
    } catch (error) {
      this.crash(error)
    } finally {
      this.#busy--
      for (const next of this.#waiting.splice(0)) this.world.after(0, next)
    }
  }

  /** Something was thrown that nobody caught: a real process ends there. */
  crash(error: unknown): void {
    if (error instanceof Killed || !this.alive) return
    const text =
      error instanceof Error || isErrorLike(error) ? `${error.stack ?? error.message}` : String(error)
    this.world.history.violate('crash', `${this.process.label} ${this.name}: ${text}`)
  }

  /** At the begin of every system call. */
  enter(onDisk: boolean): void {
    if (!this.alive) throw new Killed()
    const { process, world } = this
    process.calls++
    if (process.diesAfterCalls-- <= 0) {
      world.history.note(process.label, 'is killed in the middle of its work')
      process.exit()
      throw new Killed()
    }
    // A thread alone is held up by a disk or a busy event loop; the watchdog knows neither.
    const { pause } = process
    if (pause !== undefined && (pause.whole || this.name === 'main') && pause.afterCalls-- <= 0)
      this.#pause(pause)
    else if (world.random.chance(GIVES_WAY)) this.giveWay(world.random.int(1, 1_500))
    if (onDisk) {
      const stuckUs = process.host.disk.stuckUntilUs - world.nowUs
      if (stuckUs > 0) this.giveWay(stuckUs)
    }
  }

  /** The rest of the world goes on for a while, this thread does not. */
  giveWay(forUs: number): void {
    const { world } = this
    const dueUs = world.nowUs + forUs
    if (world.mayNest) world.runUntil(dueUs)
    // Somebody who gave way to us was in our way for longer than he meant: nobody's fault but that of this simulation.
    if (world.nowUs - dueUs > LATE_US) this.process.starvedUntilUs = world.nowUs
    if (!this.alive) throw new Killed()
    // A stop or a sleep that came meanwhile holds it up further.
    for (let rounds = 0; (this.process.stopped || this.process.host.asleep) && world.mayNest; rounds++) {
      world.runUntil(world.nowUs + 50_000)
      if (!this.alive || rounds > 10_000) throw new Killed()
    }
  }

  /** `whole`: with all its threads, as by SIGSTOP; else only this one, which waits for something. */
  #pause({ forUs, whole }: { forUs: number; whole: boolean }): void {
    const { process, world } = this
    process.pause = undefined
    if (!world.mayNest) return
    const ms = Math.round(forUs / 1_000)
    world.history.note(
      process.label,
      `is held up in the middle of its work for ${ms} ms${whole ? ', all of it' : ''}`
    )
    if (whole) process.stop()
    process.threadHeldUpUntilUs = world.nowUs + forUs
    world.runUntil(world.nowUs + forUs)
    if (whole) process.proceed()
    if (!this.alive) throw new Killed()
    world.history.note(process.label, 'goes on')
  }
}

function isErrorLike(error: unknown): error is Error {
  return typeof error === 'object' && error !== null && 'message' in error
}
