/** What an instance sends to a relay, without any of the care that a real client takes. */

export interface Who {
  readonly token: string
  readonly instance?: string
  readonly install?: string
  readonly agent?: string
  readonly version?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what came is what the test is about
  readonly json: any
}

export class Client {
  readonly #url: string
  readonly #who: Who

  constructor(url: string, who: Who) {
    this.#url = url
    this.#who = who
  }

  get body() {
    const { instance = 'mill/stable', install = 'install-a', version = '1.0.0' } = this.#who
    const [host, channel] = instance.split('/')
    return { instance, install, host, channel, version }
  }

  claim(agent: string): Promise<Answer> {
    return this.post('/agents/lease', { agent_id: agent, ...this.body })
  }

  renew(agent: string): Promise<Answer> {
    return this.post('/agents/lease/renew', { agent_id: agent, ...this.body })
  }

  release(agent: string): Promise<Answer> {
    return this.post('/agents/lease/release', { agent_id: agent, ...this.body })
  }

  take(agent: string, key?: string): Promise<Answer> {
    return this.post('/agents/lease/take', { agent_id: agent, ...this.body }, keyHeader(key))
  }

  renewAll(agents: readonly string[]): Promise<Answer> {
    return this.post('/agents/lease/renew-batch', { agents, ...this.body })
  }

  look(agent: string): Promise<Answer> {
    return this.ask('GET', `/agents/lease/${encodeURIComponent(agent)}`)
  }

  inject(agent: string, message: string, fields: Record<string, unknown> = {}): Promise<Answer> {
    return this.post('/reactive/inject', { target_agent: agent, message, ...fields })
  }

  pending(agent: string): Promise<Answer> {
    return this.ask('GET', `/reactive/pending/${encodeURIComponent(agent)}`)
  }

  ack(agent: string, ids: readonly string[], key?: string): Promise<Answer> {
    const headers = { 'x-agent-id': agent, ...keyHeader(key) }
    return this.post('/reactive/ack', { injection_ids: ids }, headers)
  }

  giveBack(agent: string, id: string): Promise<Answer> {
    const body = { injection_id: id, delivered_at: Date.now() }
    return this.post('/reactive/release', body, { 'x-agent-id': agent })
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask('POST', path, { body: JSON.stringify(body), headers })
  }

  async ask(
    method: string,
    path: string,
    { body, headers = {} }: { body?: string; headers?: Record<string, string> } = {}
  ): Promise<Answer> {
    const { token, agent = '', instance = 'mill/stable', install = 'install-a' } = this.#who
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-agent-instance': encodeURIComponent(instance),
        'x-agent-install': install,
        ...(agent === '' ? {} : { 'x-agent-id': encodeURIComponent(agent) }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers
      },
      ...(body === undefined ? {} : { body })
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, json: isJson ? JSON.parse(text) : text }
  }
}

function keyHeader(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'idempotency-key': key }
}
