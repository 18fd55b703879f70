/**
 * The network between simulated hosts: it carries requests and answers late, twice or never, and can be cut. What runs on it is
 * HTTP as a client sees it: an answer, a fault, or silence until the client gives up.
 */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import type { Thread } from '../kernel/thread.js'
import type { NetPipe } from './net-pipe.js'
import type { World } from './world.js'

export interface NetRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface NetResponse {
  readonly status: number
  readonly body: string
  /** Where the answer goes on. */
  readonly pipe?: NetPipe
  readonly isLost?: () => boolean
}

export type NetOutcome = NetResponse | { readonly fault: string }

/** A promise of the realm of the one who answers, who is not told what only the rules may know: which process asked. */
export type Handler = (request: NetRequest, asker: Process) => PromiseLike<NetResponse>

interface Server {
  readonly thread: Thread
  readonly handle: Handler
}

/** One route, whatever the agent. */
const OF_AN_AGENT = /^(\/agents\/lease|\/reactive\/pending)\/[^/]+$/

export class Network {
  readonly #world: World
  readonly #servers = new Map<string, Server>()
  readonly #addresses = new Map<string, Host>()
  readonly #cutUntilUs = new Map<string, number>()
  #badUntilUs = 0
  #badness = 0
  requests = 0
  /** By method and route. */
  readonly requestsTo = new Map<string, number>()
  #lastCutUntilUs = 0

  constructor(world: World) {
    this.#world = world
  }

  name(address: string, host: Host): void {
    this.#addresses.set(address, host)
  }

  serve(address: string, thread: Thread, handle: Handler): void {
    this.#servers.set(address, { thread, handle })
  }

  cut(one: Host, other: Host, forUs: number): void {
    this.#world.history.note(
      'network',
      `${one.name} and ${other.name} are cut off from each other for ${Math.round(forUs / 1_000)} ms`
    )
    this.#cutUntilUs.set(pair(one, other), this.#world.nowUs + forUs)
    this.#lastCutUntilUs = Math.max(this.#lastCutUntilUs, this.#world.nowUs + forUs)
  }

  turnBad(badness: number, forUs: number): void {
    this.#world.history.note(
      'network',
      `loses ${Math.round(badness * 100)} % for ${Math.round(forUs / 1_000)} ms`
    )
    this.#badUntilUs = this.#world.nowUs + forUs
    this.#badness = badness
  }

  heal(): void {
    const { nowUs } = this.#world
    for (const [between, untilUs] of this.#cutUntilUs) this.#cutUntilUs.set(between, Math.min(untilUs, nowUs))
    this.#badUntilUs = Math.min(this.#badUntilUs, nowUs)
  }

  /** Since when nothing stands between two hosts: the end of the last cut or bad time, or now. */
  soundSinceUs(one: Host, other: Host): number {
    const untilUs = Math.max(this.#cutUntilUs.get(pair(one, other)) ?? 0, this.#badUntilUs)
    return Math.min(untilUs, this.#world.nowUs)
  }

  /** `done` is called once at most, in a turn of the asking thread. */
  send(
    from: Thread,
    to: { host: string; port: string },
    request: NetRequest,
    done: (outcome: NetOutcome) => void
  ): void {
    const world = this.#world
    const { random } = world
    this.#count(request)
    const asker = from.process.host
    const host = this.#addresses.get(to.host)
    const answer = (outcome: NetOutcome, delayUs: number) => from.after(delayUs, () => done(outcome))
    if (host === undefined) return void answer({ fault: 'ENOTFOUND' }, random.int(1_000, 20_000))
    const bad = this.#badUntilUs > world.nowUs
    const delayUs = () =>
      bad && random.chance(0.3) ? random.int(500_000, 12_000_000) : random.int(200, 30_000)
    const lost = () => this.#isCut(asker, host) || (bad && random.chance(this.#badness))
    if (lost()) {
      // Told at once by some networks; by others never.
      if (random.chance(0.5)) answer({ fault: 'EHOSTUNREACH' }, random.int(100, 3_000_000))
      return
    }
    const twice = bad && random.chance(0.2)
    let answered = false
    for (let copy = 0; copy < (twice ? 2 : 1); copy++) {
      world.after(delayUs(), () => {
        if (!host.up || this.#isCut(asker, host)) return
        const server = this.#servers.get(`${to.host}:${to.port}`)
        if (server === undefined || !server.thread.alive)
          return void answer({ fault: 'ECONNREFUSED' }, random.int(200, 5_000))
        server.thread.turn(() => {
          const reply = (response: NetOutcome) => {
            if (answered) return
            answered = true
            if (!lost()) answer('pipe' in response ? { ...response, isLost: lost } : response, delayUs())
            else if (random.chance(0.5)) answer({ fault: 'ECONNRESET' }, delayUs())
          }
          const { inside } = server.thread.sandbox
          const failed = () => reply({ status: 500, body: '{}' })
          server.handle(request, from.process).then(inside(reply), inside(failed))
        })
      })
    }
  }

  #count({ method, path }: NetRequest): void {
    this.requests++
    const query = path.indexOf('?')
    const plain = query < 0 ? path : path.slice(0, query)
    const route = `${method} ${method === 'GET' ? plain.replace(OF_AN_AGENT, '$1/:agent') : plain}`
    this.requestsTo.set(route, (this.requestsTo.get(route) ?? 0) + 1)
  }

  #isCut(one: Host, other: Host): boolean {
    if (this.#lastCutUntilUs <= this.#world.nowUs) return false
    return (this.#cutUntilUs.get(pair(one, other)) ?? 0) > this.#world.nowUs
  }
}

function pair(one: Host, other: Host): string {
  return [one.name, other.name].sort().join(' ')
}
