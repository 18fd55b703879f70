/**
 * Where another instance on this computer answers, and the key it wants to see. The key is kept out of whatever prints
 * or serialises an endpoint (R16).
 */
import { loopbackOrigin } from './loopback-url.js'

export interface EndpointOptions {
  readonly authKey: string
  /** The server's process; 0 if unknown. */
  readonly pid: number
  /** Empty if unknown. */
  readonly channel: string
}

/** What may stand in a header; anything else was never a key. */
const KEY = /^[\x21-\x7e]{0,256}$/

export class InstanceEndpoint {
  /** An origin on loopback: `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly pid: number
  readonly channel: string
  readonly #authKey: string

  private constructor(url: string, options: EndpointOptions) {
    this.url = url
    this.pid = options.pid
    this.channel = options.channel
    this.#authKey = options.authKey
  }

  /** Undefined if the address is not on loopback or the key cannot be one. */
  static at(address: string, options: EndpointOptions): InstanceEndpoint | undefined {
    const url = loopbackOrigin(address)
    if (url === undefined || !KEY.test(options.authKey)) return undefined
    return new InstanceEndpoint(url, options)
  }

  /** Empty if the instance published none. */
  get authKey(): string {
    return this.#authKey
  }
}
