/** Reads the wake stream event by event. */
import { until } from './until.js'

export interface WakeEvent {
  readonly event: string
  readonly data: unknown
}

export class WakeReader {
  readonly contentType: string
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #read = 0
  /** All that came so far. */
  text = ''

  private constructor(response: Response) {
    if (!response.ok || response.body === null) throw new Error(`the wake stream answers ${response.status}`)
    this.contentType = response.headers.get('content-type') ?? ''
    this.#reader = response.body.getReader()
  }

  static async open(url: string, token: string): Promise<WakeReader> {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
    return new WakeReader(await fetch(`${url}/reactive/wake`, { headers }))
  }

  static openWhenThereIsRoom(url: string, token: string): Promise<WakeReader> {
    return until('there is room for a stream', () => WakeReader.open(url, token))
  }

  async next(): Promise<WakeEvent> {
    for (;;) {
      const end = this.text.indexOf('\n\n', this.#read)
      if (end === -1) {
        await this.#more()
        continue
      }
      const block = this.text.slice(this.#read, end)
      this.#read = end + 2
      const event = /^event: (.+)$/m.exec(block)?.[1]
      if (event !== undefined) return { event, data: JSON.parse(/^data: (.+)$/m.exec(block)?.[1] ?? '') }
    }
  }

  async signOfLife(): Promise<void> {
    while (!this.text.includes('\n\n:\n\n')) await this.#more()
  }

  /** Resolves once the relay has ended it. */
  async ended(): Promise<void> {
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // Cut off is ended, too.
    }
  }

  async close(): Promise<void> {
    await this.#reader.cancel()
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#reader.read()
    if (done) throw new Error('the wake stream has ended')
    this.text += this.#decoder.decode(value, { stream: true })
  }
}
