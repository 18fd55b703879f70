/** Server-sent events out of the pieces in which they arrive. Bounded: what never ends is a fault. */

export interface ServerEvent {
  /** `message` unless the server named it. */
  readonly name: string
  readonly data: string
}

/** One event, with its field names. Ours have a name of at most 256 characters in it. */
const MAX_EVENT_LENGTH = 64 * 1024

export class SseEvents {
  readonly #decoder = new TextDecoder()
  #rest = ''
  #name = ''
  #data: string[] = []
  #length = 0

  /** The events that are complete with this piece. @throws RangeError if one is longer than it may be. */
  push(piece: Uint8Array): ServerEvent[] {
    const text = this.#rest + this.#decoder.decode(piece, { stream: true })
    const lines = text.split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop() ?? ''
    const events: ServerEvent[] = []
    for (const line of lines) this.#take(line, events)
    if (this.#length + this.#rest.length > MAX_EVENT_LENGTH) throw new RangeError('an event is too long')
    return events
  }

  #take(line: string, events: ServerEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ name: this.#name || 'message', data: this.#data.join('\n') })
      this.#name = ''
      this.#data = []
      this.#length = 0
      return
    }
    this.#length += line.length
    if (this.#length > MAX_EVENT_LENGTH) throw new RangeError('an event is too long')
    const [, field, value = ''] = /^([^:]*):? ?(.*)$/su.exec(line) ?? []
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#name = value
  }
}
