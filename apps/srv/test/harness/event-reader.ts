/** Reads an event stream as a client would. */
import type { IncomingMessage } from 'node:http'
import type { HttpClient } from './http-client.js'
import { until } from './until.js'

export interface ReadEvent {
  readonly id: number
  readonly event: string
  readonly data: Record<string, unknown>
}

export class EventReader {
  readonly response: IncomingMessage
  readonly events: ReadEvent[] = []
  heartbeats = 0
  ended = false
  #rest = ''

  static async open({ client }: { readonly client: HttpClient }): Promise<EventReader> {
    const asked = { method: 'GET', path: '/api/v1/agents/events', headers: client.keyed }
    return new EventReader(await client.begin(asked))
  }

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text) => this.#take(text))
    response.on('end', () => {
      this.ended = true
    })
    // Cut off by the server: `ended` stays false.
    response.on('error', () => {})
  }

  kinds(): string[] {
    return this.events.map(({ event }) => event)
  }

  shows(event: string, matches: (data: Record<string, unknown>) => boolean = () => true): Promise<ReadEvent> {
    return until(`the event stream shows ${event}`, () =>
      this.events.find((one) => one.event === event && matches(one.data))
    )
  }

  #take(text: string): void {
    const parts = (this.#rest + text).split('\n\n')
    this.#rest = parts.pop() ?? ''
    for (const part of parts) this.#read(part.split('\n'))
  }

  #read(lines: readonly string[]): void {
    if (lines.includes(':')) this.heartbeats += 1
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    const event = field('event')
    if (event === undefined) return
    this.events.push({ id: Number(field('id')), event, data: JSON.parse(field('data') ?? '') })
  }
}
