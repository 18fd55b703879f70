/** Discovery in a process of its own on a virtual host: what it said so far, and waiting for what it will say. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { VirtualHost } from '../../../../test/net/index.js'
import type { DiscoveryState, DiscoveryTimings, Peer } from '../../src/index.js'

const PROGRAM = fileURLToPath(new URL('discoverer.mjs', import.meta.url))
const GIVE_UP_MS = 40_000

export interface Said {
  readonly kind: string
  readonly peer?: Peer
  readonly peers?: readonly Peer[]
  readonly state?: DiscoveryState
  readonly fault?: string
  readonly interface?: string
  readonly interfaces?: readonly string[]
  readonly label?: string
  readonly host?: string
  readonly bytes?: number
}

export interface DiscovererOptions {
  readonly port?: number
  readonly instanceId?: string
  readonly lanKey?: string
  readonly timings?: Partial<DiscoveryTimings>
}

export class DiscoveringHost {
  readonly host: VirtualHost
  readonly process: ChildProcess
  readonly said: Said[] = []
  readonly #waiting = new Set<() => void>()
  #stderr = ''

  private constructor(host: VirtualHost, options: DiscovererOptions) {
    this.host = host
    this.process = host.spawn(process.execPath, ['--expose-gc', PROGRAM, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'pipe']
    })
    const { stdout, stderr } = this.process
    if (!stdout || !stderr) throw new Error('no pipes')
    createInterface({ input: stdout }).on('line', (line) => {
      this.said.push(JSON.parse(line) as Said)
      for (const wake of this.#waiting) wake()
    })
    stderr.on('data', (chunk) => {
      this.#stderr += chunk
    })
  }

  static async start(host: VirtualHost, options: DiscovererOptions): Promise<DiscoveringHost> {
    const started = new DiscoveringHost(host, options)
    await started.waitFor(({ kind }) => kind === 'started')
    return started
  }

  /** The first line that fits, of those said already (from `since` on) or to come. */
  waitFor(fits: (said: Said) => boolean, since = 0): Promise<Said> {
    return new Promise((resolve, reject) => {
      let looked = since
      const look = () => {
        for (; looked < this.said.length; looked++) {
          const said = this.said[looked]
          if (said && fits(said)) return settle(() => resolve(said))
        }
      }
      const settle = (outcome: () => void) => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        this.process.off('close', ended)
        outcome()
      }
      const fail = (why: string) =>
        settle(() => reject(new Error(`${why}; said ${JSON.stringify(this.said)}; ${this.#stderr}`)))
      const ended = () => fail('it ended')
      const timer = setTimeout(() => fail('never said'), GIVE_UP_MS)
      this.#waiting.add(look)
      this.process.once('close', ended)
      look()
    })
  }

  /** The peers it lists once they satisfy the condition; asks again whenever something happens, and every 100 ms. */
  async peersOnce(satisfy: (peers: readonly Peer[]) => boolean): Promise<readonly Peer[]> {
    const giveUpAt = Date.now() + GIVE_UP_MS
    for (;;) {
      const peers = await this.peers()
      if (satisfy(peers)) return peers
      if (Date.now() > giveUpAt) throw new Error(`never so: ${JSON.stringify(peers)}; ${this.#stderr}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async peers(): Promise<readonly Peer[]> {
    const since = this.said.length
    this.tell('peers')
    return (await this.waitFor(({ kind }) => kind === 'peers', since)).peers ?? []
  }

  async state(): Promise<DiscoveryState> {
    const since = this.said.length
    this.tell('state')
    const { state } = await this.waitFor(({ kind }) => kind === 'state', since)
    if (!state) throw new Error('no state')
    return state
  }

  async heapBytes(): Promise<number> {
    const since = this.said.length
    this.tell('heap')
    return (await this.waitFor(({ kind }) => kind === 'heap', since)).bytes ?? 0
  }

  tell(command: 'peers' | 'state' | 'heap' | 'withdraw' | 'close'): void {
    this.process.stdin?.write(`${command}\n`)
  }

  /** Closes discovery; resolves with the exit code once the process has ended by itself. */
  async close(): Promise<number | null> {
    const ended = once(this.process, 'close')
    this.tell('close')
    const [code] = (await ended) as [number | null]
    return code
  }
}

/** The instance ids, sorted. */
export const idsOf = (peers: readonly Peer[]): string[] => peers.map(({ instanceId }) => instanceId).sort()
