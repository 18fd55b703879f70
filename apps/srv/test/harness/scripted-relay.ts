/**
 * A relay over real HTTP that holds leases and messages in memory, as PROTOCOL.md 7 has it, but for what a test makes it say.
 * It remembers everything it was asked.
 */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { hostname } from 'node:os'
import { hostLabel } from '@agentmux/lease-model'
import type { RelaySetting } from '../../src/relay/relay-setting.js'
import type { RelayToken } from '../../src/relay/relay-token.js'

export interface AskedOfRelay {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
  readonly body: any
}

export interface RelayHolder {
  readonly install: string
  readonly host: string
  readonly channel: string
  readonly version: string
  readonly acquired_at: number
}

/** True: it has answered, or never will. */
export type Answering = (asked: AskedOfRelay, response: ServerResponse) => boolean

export const TOKEN = 'relay-token-5e5e5e5e5e5e5e5e'
/** An instance on another computer. */
export const BARN: RelayHolder = {
  install: 'ffffffff-0000-4000-8000-000000000000',
  host: 'barn',
  channel: 'nightly',
  version: '0.44.1',
  acquired_at: Date.now() - 60_000
}

export function json(response: ServerResponse, status: number, body: unknown): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  return true
}

export class ScriptedRelay {
  readonly asked: AskedOfRelay[] = []
  readonly leases = new Map<string, RelayHolder>()
  readonly pending = new Map<string, { id: string; message: string }[]>()
  readonly #acked = new Map<string, { agent: string; message: string }>()
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #epoch = 0
  #answering: Answering = () => false
  port = 0

  /** What answers first from now on. */
  answering(answering: Answering): void {
    this.#answering = answering
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** What a daemon of this computer needs to use it. It ticks at once, and then every 20 s. */
  setting(more: Partial<RelaySetting> = {}): RelaySetting {
    const token: RelayToken = { token: () => TOKEN, secrets: [TOKEN], problem: () => undefined }
    return {
      url: this.url,
      host: hostLabel(hostname()),
      channel: 'stable',
      version: '1.0.0',
      install: '11111111-0000-4000-8000-000000000000',
      random: () => 0,
      token,
      ...more
    }
  }

  paths(pattern: RegExp): AskedOfRelay[] {
    return this.asked.filter(({ path }) => pattern.test(path))
  }

  async listen(): Promise<this> {
    const server = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request.setEncoding('utf8')) text += chunk
      const { method = '', url = '', headers } = request
      const asked = { method, path: url, headers, body: text === '' ? undefined : JSON.parse(text) }
      this.asked.push(asked)
      if (!this.#answering(asked, response)) this.#answer(asked, response)
    })
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve))
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    return this
  }

  /** Nobody listens at its address any more. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()))
  }

  #answer({ method, path, headers, body }: AskedOfRelay, response: ServerResponse): void {
    const { leases } = this
    const install = String(headers['x-agent-install'])
    const route = `${method} ${path}`
    const claim = (agent: string, takes = false) => {
      const by = leases.get(agent)
      if (by !== undefined && by.install !== body.install && !takes) {
        return { ok: false, error: 'held_by_other', held_by: by }
      }
      const { host, channel, version } = body
      leases.set(agent, { install: body.install, host, channel, version, acquired_at: Date.now() })
      this.#epoch += 1
      return { ok: true, epoch: this.#epoch }
    }
    const grant = (said: { ok: boolean }) => json(response, said.ok ? 200 : 409, said)
    if (route === 'GET /reactive/wake') return void json(response, 404, {})
    if (route.endsWith('/agents/lease/renew-batch')) {
      const results = body.agents.map((agent_id: string) => ({ agent_id, ...claim(agent_id) }))
      return void json(response, 200, { results })
    }
    if (route.endsWith('/agents/lease') || route.endsWith('/lease/renew'))
      return void grant(claim(body.agent_id))
    if (route.endsWith('/lease/take')) return void grant(claim(body.agent_id, true))
    if (route.endsWith('/lease/release')) {
      if (leases.get(body.agent_id)?.install === install) leases.delete(body.agent_id)
      return void json(response, 200, { ok: true })
    }
    const agent = decodeURIComponent(path.split('/').at(-1) ?? '')
    const by = leases.get(agent)
    if (method === 'GET' && path.startsWith('/agents/lease/')) {
      const state = by === undefined ? 'free' : by.install === install ? 'yours' : 'other'
      return void json(response, 200, { state, ...(by === undefined ? {} : { held_by: by }) })
    }
    if (path.startsWith('/reactive/pending/')) {
      if (by?.install !== install)
        return void json(response, 409, { error: 'not_holder', held_by: by ?? null })
      return void json(response, 200, { injections: this.pending.get(agent) ?? [] })
    }
    if (path === '/reactive/ack')
      return void json(response, 200, { acknowledged: this.#ack(body.injection_ids) })
    if (path === '/reactive/release') {
      const back = this.#acked.get(body.injection_id)
      if (back !== undefined) this.inject(back.agent, back.message, body.injection_id)
      this.#acked.delete(body.injection_id)
      return void json(response, 200, { ok: true })
    }
    json(response, 404, {})
  }

  inject(agent: string, message: string, id = `m${this.asked.length}-${message}`): void {
    this.pending.set(agent, [...(this.pending.get(agent) ?? []), { id, message }])
  }

  #ack(ids: readonly string[]): string[] {
    const won: string[] = []
    for (const [agent, messages] of this.pending) {
      for (const { id, message } of messages.filter((one) => ids.includes(one.id))) {
        won.push(id)
        this.#acked.set(id, { agent, message })
      }
      this.pending.set(
        agent,
        messages.filter((one) => !ids.includes(one.id))
      )
    }
    return won
  }
}
