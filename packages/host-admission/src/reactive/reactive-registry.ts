/**
 * What this instance tells others about its agents: one file per agent, rewritten every 20 s while it is registered and
 * removed only if it is still ours. One timer serves all. A disk that fails costs being found, never the agent.
 */
import { randomInt } from 'node:crypto'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CancelTimer, Clock, HostIdentity } from '@agentmux/lease-model'
import { createFolder, LeaseFault } from '@agentmux/lease-store'
import { loopbackOrigin } from '../instance/loopback-url.js'
import { replacePrivateFile } from '../private-file.js'
import { formatEntry, type OwnEntry, type RegistryEntry } from './registry-entry.js'
import { RegistryFolder, removeEntry } from './registry-folder.js'
import { HEARTBEAT_MS, RegistryLiveness } from './registry-liveness.js'
import { sweepRegistry } from './sweep.js'

export interface ReactiveRegistryOptions {
  readonly clock: Clock
  readonly host: HostIdentity
  /** Our process; that of this process unless given. */
  readonly pid?: number
  /** Told of files that could not be written, for the log. */
  readonly onFault?: (fault: unknown) => void
}

/** Where this instance answers. */
export interface OwnServer {
  readonly channel: string
  /** `http://127.0.0.1:PORT`. */
  readonly localUrl: string
  readonly authKey: string
}

export interface AgentRegistration {
  /** Never 0. */
  readonly nonce: number
  readonly agentName: string
  readonly blockId: string
  /** Takes the entry back. Again, it does nothing. */
  remove(): void
}

interface Registered {
  readonly path: string
  readonly entry: OwnEntry
}

/** Written without a pause; then others get their turn. */
const BATCH = 16
const MAX_NONCE = 2 ** 48 - 1

export class ReactiveRegistry {
  readonly #folder: RegistryFolder
  readonly #liveness: RegistryLiveness
  readonly #clock: Clock
  readonly #pid: number
  readonly #onFault: (fault: unknown) => void
  readonly #registered = new Map<number, Registered>()
  #cancelTimer: CancelTimer | undefined

  /** Touches nothing: folders are made by the first registration. */
  constructor(sharedRoot: string, options: ReactiveRegistryOptions) {
    this.#clock = options.clock
    this.#pid = options.pid ?? process.pid
    this.#onFault = options.onFault ?? (() => {})
    this.#folder = new RegistryFolder(sharedRoot, this.#clock)
    this.#liveness = new RegistryLiveness({ host: options.host, clock: this.#clock, pid: this.#pid })
  }

  /** To be called once, at start-up, before anything is registered. How many files were removed. */
  sweep(): number {
    return sweepRegistry(this.#folder, { liveness: this.#liveness, clock: this.#clock })
  }

  /**
   * Publishes an agent until `remove`. The newest registration of a name has the file of that name and channel.
   *
   * @throws TypeError without a name, or where the server is not on loopback.
   */
  register(server: OwnServer, agent: { agentName: string; blockId: string }): AgentRegistration {
    if (agent.agentName === '') throw new TypeError('an agent is registered by its name')
    if (loopbackOrigin(server.localUrl) === undefined) {
      throw new TypeError('an instance is registered by an http address on loopback')
    }
    const nonce = randomInt(1, MAX_NONCE)
    const path = this.#folder.fileOf(agent.agentName, server.channel)
    const { channel, localUrl, authKey } = server
    const entry = { ...agent, pid: this.#pid, channel, nonce, localUrl, authKey }
    this.#registered.set(nonce, { path, entry })
    this.#liveness.ownNonces.add(nonce)
    this.#write({ path, entry })
    this.#plan()
    return { ...agent, nonce, remove: () => this.remove(nonce) }
  }

  /** Takes back what was registered under a nonce. The entry of anybody else, and one without a nonce, stays. */
  remove(nonce: number): void {
    const registered = this.#registered.get(nonce)
    if (registered === undefined || nonce === 0) return
    this.#registered.delete(nonce)
    if (this.#registered.size === 0) this.#stop()
    const before = this.#newestByPath().get(registered.path)
    const file = this.#folder.read(registered.path)
    const isOurs = file.kind === 'entry' && file.entry.nonce === nonce
    if (isOurs && before !== undefined) this.#write(before)
    else if (isOurs) removeEntry(registered.path)
    this.#liveness.ownNonces.delete(nonce)
  }

  /** What other instances that may still run have published, read now. Never throws. */
  entriesOfOthers(): RegistryEntry[] {
    return this.#folder
      .entriesOfOthers((entry) => this.#liveness.isOwn(entry))
      .filter((entry) => this.#liveness.mayAnswer(entry))
  }

  /** Takes everything back and stops the timer. */
  close(): void {
    for (const nonce of [...this.#registered.keys()].reverse()) this.remove(nonce)
    this.#stop()
  }

  #plan(): void {
    if (this.#registered.size === 0) return
    this.#cancelTimer ??= this.#clock.after(HEARTBEAT_MS, () => {
      this.#cancelTimer = undefined
      void this.#beat()
      this.#plan()
    })
  }

  #stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  async #beat(): Promise<void> {
    let written = 0
    for (const registered of this.#newestByPath().values()) {
      if (!this.#registered.has(registered.entry.nonce)) continue
      if (!this.#belongsToAnother(registered.path)) this.#write(registered)
      if (++written % BATCH === 0) await nextTurn()
    }
  }

  /** Two instances of one channel may run agents of one name: the newer keeps the file, or they would take turns in it. */
  #belongsToAnother(path: string): boolean {
    const file = this.#folder.read(path)
    return file.kind === 'entry' && !this.#liveness.isOwn(file.entry) && this.#liveness.mayAnswer(file.entry)
  }

  #newestByPath(): Map<string, Registered> {
    const newest = new Map<string, Registered>()
    for (const registered of this.#registered.values()) newest.set(registered.path, registered)
    return newest
  }

  #write({ path, entry }: Registered): void {
    const text = formatEntry(entry, this.#clock.wallMs())
    const write = () => {
      createFolder(dirname(path), { durable: false })
      replacePrivateFile(path, text, { mode: 0o600, temporary: `${path}.tmp` })
    }
    try {
      try {
        write()
      } catch (fault) {
        // Whoever took back the last entry of the name removed its folder in between.
        if (!hasVanished(fault)) throw fault
        write()
      }
    } catch (fault) {
      this.#onFault(fault)
    }
  }
}

/** Its folder, while it was made or once it was there. */
function hasVanished(fault: unknown): boolean {
  if (fault instanceof LeaseFault) return fault.errno === 'EEXIST' || fault.errno === 'ENOENT'
  return fault instanceof Error && 'code' in fault && fault.code === 'ENOENT'
}
