/**
 * The LAN as older builds see it: one question for each agent and peer, and the rule for two. Whoever beats us is yielded to at
 * once; who does not answer is nobody.
 */
import type { NetworkRequest, NetworkResponse, System } from './system.js'

interface Response {
  readonly statusCode: number
  readonly body: AsyncIterable<Uint8Array>
}
export interface HttpAgent {
  request(options: object): Promise<Response>
}

export interface Holding {
  readonly held: boolean
  readonly hostname: string
  readonly channel: string
  readonly version: string
  readonly acquired_at_ms: number
}

const TIMEOUT_MS = 1_500
const SIMULTANEOUS_MS = 10_000

export class OlderLan {
  readonly #system: System
  readonly #hostname: string
  readonly #agent: HttpAgent

  constructor(
    system: System,
    { hostname, agent, holding }: { hostname: string; agent: HttpAgent; holding: (uid: string) => Holding }
  ) {
    this.#system = system
    this.#hostname = hostname
    this.#agent = agent
    system.serve(async ({ method, path }: NetworkRequest): Promise<NetworkResponse> => {
      const uid = /^\/agentmux\/agent\/holding\?uid=(.+)$/.exec(path)?.[1]
      if (method !== 'GET' || uid === undefined) return { status: 404, body: '{"error":"not found"}' }
      return { status: 200, body: JSON.stringify(holding(decodeURIComponent(uid))) }
    })
  }

  /** Who says that it holds the agent. What has our own host name is taken for ourselves. */
  async holders(uid: string): Promise<Holding[]> {
    const answers = await Promise.all(this.#system.peers().map((peer) => this.#ask(peer, uid)))
    return answers.flatMap((each) =>
      each?.held === true && each.hostname.trim().toLowerCase() !== this.#hostname ? [each] : []
    )
  }

  /** Whom an agent that was acquired then is yielded to. */
  async winner(uid: string, acquiredAtMs: number): Promise<Holding | undefined> {
    const holders = await this.holders(uid)
    return holders.find(({ acquired_at_ms, hostname }) => {
      const apartMs = acquired_at_ms - acquiredAtMs
      return Math.abs(apartMs) < SIMULTANEOUS_MS ? hostname < this.#hostname : apartMs < 0
    })
  }

  async #ask(peer: { address: string; port: number }, uid: string): Promise<Holding | undefined> {
    try {
      const { statusCode, body } = await this.#agent.request({
        origin: `http://${peer.address}:${peer.port}`,
        method: 'GET',
        path: `/agentmux/agent/holding?uid=${encodeURIComponent(uid)}`,
        headers: {},
        body: null,
        signal: AbortSignal.timeout(TIMEOUT_MS)
      })
      if (statusCode !== 200) return undefined
      let text = ''
      for await (const piece of body) text += Buffer.from(piece).toString('utf8')
      return JSON.parse(text) as Holding
    } catch {
      return undefined
    }
  }
}
