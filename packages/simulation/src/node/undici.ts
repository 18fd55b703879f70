/** undici, as far as the packages use it: requests over the simulated network. */
import type { Thread } from '../kernel/thread.js'
import type { Network } from '../world/network.js'
import { eventStream } from './event-stream.js'

interface RequestOptions {
  readonly origin?: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | null
  readonly signal?: AbortSignal
}

export function undici(thread: Thread, network: Network) {
  const { sandbox } = thread

  function request(origin: string, options: RequestOptions): Promise<unknown> {
    const { method, path, headers, body = null, signal } = options
    return new sandbox.Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => reject(signal?.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      const { hostname, port } = new URL(origin)
      network.send(thread, { host: hostname, port }, { method, path, headers, body }, (outcome) => {
        signal?.removeEventListener('abort', onAbort)
        if ('fault' in outcome)
          reject(Object.assign(new sandbox.Error(outcome.fault), { code: outcome.fault }))
        else {
          const { status, pipe, isLost } = outcome
          const headers = pipe === undefined ? {} : { 'content-type': 'text/event-stream' }
          const answered =
            pipe === undefined || isLost === undefined
              ? bodyOf(thread, outcome.body)
              : eventStream(thread, { pipe, isLost })
          resolve({ statusCode: status, headers, body: answered })
        }
      })
    })
  }

  class Agent {
    request(options: RequestOptions): Promise<unknown> {
      return request(options.origin ?? '', options)
    }
    destroy(): Promise<void> {
      return sandbox.Promise.resolve()
    }
  }

  class Pool extends Agent {
    readonly #origin: string
    constructor(origin: string) {
      super()
      this.#origin = origin
    }
    override request(options: RequestOptions): Promise<unknown> {
      return request(this.#origin, options)
    }
  }
  return { Agent, Pool, EnvHttpProxyAgent: Agent }
}

function bodyOf({ sandbox }: Thread, text: string) {
  let read = false
  const body = {
    on: () => body,
    destroy: () => body,
    dump: () => sandbox.Promise.resolve(),
    [Symbol.asyncIterator]: () => ({
      next: () => {
        const result = read ? { done: true, value: undefined } : { done: false, value: Buffer.from(text) }
        read = true
        return sandbox.Promise.resolve(result)
      },
      return: () => sandbox.Promise.resolve({ done: true, value: undefined })
    })
  }
  return body
}
