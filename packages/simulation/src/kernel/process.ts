/** A simulated process as the kernel sees it: its environment, what it has open, how signals and stops meet it. */
import type { Inode, OpenFile } from '../disk/inode.js'
import type { Host } from './host.js'
import type { Thread } from './thread.js'

export type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'

export interface ProcessOptions {
  readonly name: string
  readonly parent?: Process | undefined
  readonly environment: Readonly<Record<string, string>>
  /** Whether it leads a group of its own. */
  readonly ownGroup?: boolean
  /** What SIGTERM does to it; undefined: it ends at once. */
  readonly onTerminate?: () => void
  readonly onExit?: () => void
}

export class Process {
  readonly host: Host
  readonly pid: number
  readonly groupId: number
  readonly startTicks: number
  readonly environment: Readonly<Record<string, string>>
  /** The same, as /proc shows it. */
  readonly environ: Buffer
  readonly name: string
  readonly threads: Thread[] = []
  readonly files = new Map<number, OpenFile | { readonly text: Buffer; at: number }>()
  readonly watched = new Set<{ inode: Inode; close: () => void }>()
  parent: Process | undefined
  state: 'running' | 'zombie' | 'gone' = 'running'
  stopped = false
  /** It dies at the system call after so many. */
  diesAfterCalls = Number.POSITIVE_INFINITY
  /** It is stopped at the system call after so many, for a while. */
  pause: { afterCalls: number; forUs: number; whole: boolean } | undefined
  calls = 0
  /** How often it changed something on the disk. */
  writes = 0
  /** Until when one of its threads stands still, and the others need not. */
  threadHeldUpUntilUs = 0
  /** Until when it cannot have done anything by itself. */
  heldUpUntilUs = 0
  /** The same, for a thread of it, and only because the simulation runs one stack. */
  starvedUntilUs = 0
  #nextDescriptor = 20
  readonly #options: ProcessOptions
  #waiting: (() => void)[] = []

  constructor(host: Host, options: ProcessOptions) {
    this.host = host
    this.#options = options
    this.pid = host.newPid()
    this.name = options.name
    this.parent = options.parent
    this.groupId = options.ownGroup === true ? this.pid : (options.parent?.groupId ?? this.pid)
    this.startTicks = Math.floor(host.bootUs / 10_000)
    this.environment = options.environment
    this.environ = Buffer.from(
      Object.entries(options.environment)
        .map(([name, value]) => `${name}=${value}\0`)
        .join('')
    )
    host.processes.set(this.pid, this)
  }

  get label(): string {
    return `${this.host.name}/${this.name}`
  }

  get alive(): boolean {
    return this.state === 'running'
  }

  newDescriptor(): number {
    return this.#nextDescriptor++
  }

  signal(signal: Signal): void {
    if (!this.alive) return
    if (signal === 'SIGSTOP') this.stop()
    else if (signal === 'SIGCONT') this.proceed()
    else if (signal === 'SIGKILL') this.#later(() => this.exit())
    else
      this.#later(() => (this.#options.onTerminate === undefined ? this.exit() : this.#options.onTerminate()))
  }

  stop(): void {
    this.stopped = true
  }

  proceed(): void {
    if (!this.stopped) return
    this.stopped = false
    this.heldUpUntilUs = this.host.world.nowUs
    for (const run of this.#waiting.splice(0)) this.host.world.after(0, run)
  }

  whenContinued(run: () => void): void {
    this.#waiting.push(run)
  }

  /** It ends: its files are closed, its locks given up. Its parent is told. */
  exit(): void {
    if (!this.alive) return
    this.state = 'zombie'
    this.#close()
    this.host.observer.exited(this)
    this.#options.onExit?.()
    const { parent } = this
    for (const other of this.host.processes.values()) if (other.parent === this) other.parent = undefined
    // Whoever has no parent any more is reaped at once.
    if (parent === undefined || !parent.alive) this.reap()
    else this.host.world.after(this.host.world.random.int(50, 2_000), () => this.reap())
  }

  reap(): void {
    if (this.state !== 'zombie') return
    this.state = 'gone'
    this.host.processes.delete(this.pid)
  }

  /** With the whole computer. */
  vanish(): void {
    if (this.state === 'gone') return
    const lived = this.alive
    this.state = 'gone'
    this.#close()
    if (lived) this.host.observer.exited(this)
  }

  #close(): void {
    for (const file of this.files.values()) {
      if ('inode' in file && file.inode.locked === file) file.inode.locked = undefined
    }
    this.files.clear()
    for (const watch of [...this.watched]) watch.close()
  }

  /** A signal is there soon, not at once; SIGKILL ends a stopped process too. */
  #later(run: () => void): void {
    const { world } = this.host
    world.after(world.random.int(20, 3_000), () => {
      if (this.alive) run()
    })
  }
}
