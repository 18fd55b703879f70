/**
 * Asks the daemon of this channel over HTTP. Goes straight to loopback: no proxy, no redirect, no kept connection. The
 * key is sent to the daemon and shown nowhere (R16).
 */
import { type ClientRequest, type IncomingMessage, request as send } from 'node:http'
import type { DaemonFile } from '../daemon/daemon-file.js'

export interface Question {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal: AbortSignal
  /** From the first packet to the last byte, milliseconds. */
  readonly timeoutMs: number
}

export type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  /** `message`: for people. */
  | { readonly kind: 'no-answer'; readonly message: string }

export type Stream =
  | { readonly kind: 'stream'; readonly lines: AsyncIterable<string> }
  | Exclude<Answer, { kind: 'answered'; status: 200 }>

const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** A line of a record is under this. */
const MAX_LINE_LENGTH = 1024 * 1024

export class DaemonClient {
  readonly #daemon: DaemonFile
  readonly #noDaemon: string

  /** `noDaemon`: the sentence for when nothing listens there any more. */
  constructor(daemon: DaemonFile, noDaemon: string) {
    this.#daemon = daemon
    this.#noDaemon = noDaemon
  }

  /** @throws the signal's reason when aborted. */
  async ask(question: Question): Promise<Answer> {
    const bound = AbortSignal.any([question.signal, AbortSignal.timeout(question.timeoutMs)])
    try {
      const response = await this.#respond(question, bound)
      return { kind: 'answered', status: response.statusCode ?? 0, body: await bodyOf(response) }
    } catch (error) {
      question.signal.throwIfAborted()
      return { kind: 'no-answer', message: this.#whyNot(error, bound.aborted) }
    }
  }

  /** Lines for as long as the daemon sends some, or until the signal: that ends them, and is no error. */
  async stream({ path, signal }: Pick<Question, 'path' | 'signal'>): Promise<Stream> {
    try {
      const response = await this.#respond({ method: 'GET', path }, signal)
      if (response.statusCode === 200) return { kind: 'stream', lines: linesOf(response, signal) }
      return { kind: 'answered', status: response.statusCode ?? 0, body: await bodyOf(response) }
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'no-answer', message: this.#whyNot(error, false) }
    }
  }

  #respond(
    { method, path, body }: Pick<Question, 'method' | 'path' | 'body'>,
    signal: AbortSignal
  ): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const { url, authKey } = this.#daemon
    return new Promise((resolve, reject) => {
      const request: ClientRequest = send(new URL(path, withoutNames(url)), {
        method,
        agent: false,
        signal,
        headers: {
          'x-authkey': authKey,
          ...(payload === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': payload.length })
        }
      })
      request.on('error', reject)
      request.on('response', resolve)
      request.end(payload)
    })
  }

  #whyNot(error: unknown, isLate: boolean): string {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ECONNREFUSED') return this.#noDaemon
    const { url, pid } = this.#daemon
    const why = isLate ? 'did not answer in time' : 'broke off'
    return `the daemon at ${url} (pid ${pid}) ${why}; \`agentmux-srv doctor\` looks closer`
  }
}

/** What localhost means is not for a name service to say. */
function withoutNames(url: string): string {
  return url.replace('//localhost', '//127.0.0.1')
}

async function bodyOf(response: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof body === 'object' && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}

async function* linesOf(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MAX_LINE_LENGTH) throw new Error('a line is too long')
      yield* lines
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
