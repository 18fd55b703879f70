/** A scripted relay with queues: just enough of the message routes to see who gets what. Every ack and delivery is kept. */
import type { ServerResponse } from 'node:http'
import { type Asked, json, type Script } from './scripted-relay.js'

interface Queued {
  readonly id: string
  readonly agent: string
  readonly message: string
  ackedBy: string | undefined
}

export class QueueingRelay {
  readonly messages: Queued[] = []
  readonly wakes = new Set<ServerResponse>()
  readonly givenBack: string[] = []
  /** Runs before the usual answer; true if it answered itself. */
  before: (asked: Asked, response: ServerResponse) => boolean = () => false
  /** Agents that somebody else holds. */
  readonly elsewhere = new Map<string, unknown>()
  wakeStatus = 200

  put(agent: string, message: string): void {
    this.messages.push({ id: `m${this.messages.length + 1}`, agent, message, ackedBy: undefined })
  }

  wake(agent?: string): void {
    const data = JSON.stringify(agent === undefined ? {} : { agent_id: agent })
    for (const stream of this.wakes) stream.write(`event: wake\ndata: ${data}\n\n`)
  }

  readonly script: Script = (asked, response) => {
    if (this.before(asked, response)) return
    const { path, body } = asked
    if (path === '/reactive/wake') return this.#openWake(response)
    const agent = String(asked.headers['x-agent-id'])
    if (this.elsewhere.has(agent)) {
      return json(response, 409, { error: 'not_holder', held_by: this.elsewhere.get(agent) })
    }
    if (path.startsWith('/reactive/pending/')) {
      const injections = this.messages
        .filter((each) => each.agent === agent && each.ackedBy === undefined)
        .map(({ id, message }) => ({ id, message, source_agent: 'boss' }))
      return json(response, 200, { injections })
    }
    if (path === '/reactive/ack') return json(response, 200, { acknowledged: this.ack(asked) })
    if (path === '/reactive/release') {
      this.givenBack.push(body.injection_id)
      const found = this.messages.find(({ id }) => id === body.injection_id)
      if (found !== undefined) found.ackedBy = undefined
      return json(response, 200, { ok: true })
    }
    json(response, 404, {})
  }

  /** What the request wins, the same again for the same key. */
  ack(asked: Asked): string[] {
    const key = String(asked.headers['idempotency-key'])
    const ids: string[] = asked.body.injection_ids
    return ids.filter((id) => {
      const found = this.messages.find((each) => each.id === id)
      if (found === undefined) return false
      found.ackedBy ??= key
      return found.ackedBy === key
    })
  }

  #openWake(response: ServerResponse): void {
    if (this.wakeStatus !== 200) {
      json(response, this.wakeStatus, {})
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: ready\ndata: {}\n\n')
    this.wakes.add(response)
    response.on('close', () => this.wakes.delete(response))
  }
}
