/** A simulated computer: its clocks, its disk, its processes, its network card. It can sleep, lose its power and boot again. */
import { Disk } from '../disk/disk.js'
import type { Observer } from '../rules/observer.js'
import type { World } from '../world/world.js'
import type { Process } from './process.js'
import type { SandboxPool } from './sandbox.js'

export interface HostOptions {
  readonly name: string
  /** On the network. */
  readonly address: string
  /** By how much its clocks run fast, as a share. */
  readonly drift: number
  /** How wrong its wall clock is at the beginning, milliseconds. */
  readonly skewMs: number
}

/** When the simulated world began, Unix milliseconds. */
const BEGINNING_MS = 1_780_000_000_000

export class Host {
  readonly world: World
  readonly pool: SandboxPool
  readonly observer: Observer
  readonly name: string
  readonly address: string
  readonly disk = new Disk()
  readonly processes = new Map<number, Process>()
  bootId = ''
  up = true
  #drift: number
  #wallAheadUs: number
  #bootedAtUs: number
  #sleptUs = 0
  #asleepUntilUs = 0
  /** When it last woke up, or lost its power. */
  disturbedUs = 0
  #waiting: (() => void)[] = []
  #nextPid = 300

  constructor(world: World, parts: { pool: SandboxPool; observer: Observer }, options: HostOptions) {
    this.world = world
    this.pool = parts.pool
    this.observer = parts.observer
    this.name = options.name
    this.address = options.address
    this.#drift = options.drift
    this.#wallAheadUs = BEGINNING_MS * 1_000 + options.skewMs * 1_000
    this.#bootedAtUs = world.nowUs - world.random.int(20_000_000, 900_000_000)
    this.bootId = world.random.uuid()
  }

  /** Since boot, sleep included. */
  get bootUs(): number {
    return Math.floor((this.world.nowUs - this.#bootedAtUs) * (1 + this.#drift))
  }

  /** Since boot, without what it slept. */
  get monotonicUs(): number {
    return this.bootUs - this.#sleptUs
  }

  get wallMs(): number {
    return Math.floor((this.world.nowUs * (1 + this.#drift) + this.#wallAheadUs) / 1_000)
  }

  get asleep(): boolean {
    return this.#asleepUntilUs > this.world.nowUs
  }

  stepWall(ms: number): void {
    this.#wallAheadUs += ms * 1_000
    this.world.history.note(this.name, `the wall clock is stepped by ${ms} ms`)
  }

  /** Nothing runs; the boot clock goes on, the monotonic one does not. */
  sleep(forUs: number): void {
    if (!this.up || this.asleep) return
    this.world.history.note(this.name, `sleeps for ${Math.round(forUs / 1_000)} ms`)
    this.#asleepUntilUs = this.world.nowUs + forUs
    this.#sleptUs += Math.floor(forUs * (1 + this.#drift))
    this.world.after(forUs, () => {
      this.disturbedUs = this.world.nowUs
      this.world.history.note(this.name, 'wakes up')
      for (const run of this.#waiting.splice(0)) this.world.after(0, run)
    })
  }

  /** For what would have happened while it sleeps. */
  whenAwake(run: () => void): void {
    this.#waiting.push(run)
  }

  losePower(): void {
    if (!this.up) return
    this.world.history.note(this.name, 'loses its power')
    this.up = false
    for (const process of [...this.processes.values()]) process.vanish()
    this.processes.clear()
    this.disk.loseWhatWasNotSynced(this.world.random)
    this.observer.powerLost(this)
  }

  boot(): void {
    if (this.up) return
    this.up = true
    this.#bootedAtUs = this.world.nowUs
    this.#sleptUs = 0
    this.#asleepUntilUs = 0
    this.#waiting = []
    this.bootId = this.world.random.uuid()
    this.#nextPid = 300
    this.world.history.note(this.name, 'boots')
  }

  newPid(): number {
    return this.#nextPid++
  }
}
