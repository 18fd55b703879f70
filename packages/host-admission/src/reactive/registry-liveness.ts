/**
 * Whose an entry of the registry is, and whether its writer still runs. A pid tells only where all pids can be seen: in
 * a container the same number is somebody else's, and there a fresh heartbeat outweighs it.
 */
import type { Clock, HostIdentity } from '@agentmux/lease-model'
import { processState } from '@agentmux/lease-store'
import type { RegistryEntry } from './registry-entry.js'

export const HEARTBEAT_MS = 20_000
/** Refreshed within three heartbeats: its writer was there a moment ago, wherever its pid counts. */
const FRESH_MS = 3 * HEARTBEAT_MS
const STALE_MS = 4 * 3_600_000

export interface LivenessOptions {
  readonly host: HostIdentity
  readonly clock: Clock
  /** Our own process. */
  readonly pid: number
}

export class RegistryLiveness {
  /** The nonces of what this process has registered. */
  readonly ownNonces = new Set<number>()
  readonly #options: LivenessOptions

  constructor(options: LivenessOptions) {
    this.#options = options
  }

  /** Whether this process wrote it, or one before it that had its pid. */
  isOwn(entry: RegistryEntry): boolean {
    if (this.ownNonces.has(entry.nonce)) return true
    return this.#options.host.initialPidNs && entry.pid === this.#options.pid
  }

  /** Whether it is worth asking its writer: a process of another namespace looks dead from here. */
  mayAnswer(entry: RegistryEntry): boolean {
    return this.#runs(entry) || this.#ageMs(entry) < FRESH_MS
  }

  /** Those of which `mayAnswer` is true. An instance has an entry for every agent, and its process is looked at once. */
  answering(entries: readonly RegistryEntry[]): RegistryEntry[] {
    const runs = new Map<number, boolean>()
    return entries.filter((entry) => {
      const known = runs.get(entry.pid) ?? this.#runs(entry)
      runs.set(entry.pid, known)
      return known || this.#ageMs(entry) < FRESH_MS
    })
  }

  /** Whether a start-up sweep drops it. */
  isStale(entry: RegistryEntry): boolean {
    if (this.ownNonces.has(entry.nonce)) return false
    if (this.#ageMs(entry) >= STALE_MS) return true
    if (this.#options.host.initialPidNs) return entry.pid === this.#options.pid || !this.#runs(entry)
    return !this.mayAnswer(entry)
  }

  #runs(entry: RegistryEntry): boolean {
    return entry.pid === 0 || processState(entry.pid).kind === 'alive'
  }

  /** A time to come counts as now: clocks are stepped. */
  #ageMs(entry: RegistryEntry): number {
    return Math.max(0, this.#options.clock.wallMs() - entry.updatedAtMs)
  }
}
