/**
 * Leases of etcd that many keys share and nobody keeps alive: what hangs on one goes by itself after the time it is to be
 * kept, or up to a quarter later.
 */
import type { EtcdClient } from './etcd-client.js'

export class Retention {
  readonly #etcd: EtcdClient
  readonly #keepMs: number
  #lease: Promise<string> | undefined
  #sinceMs = 0

  constructor(etcd: EtcdClient, keepMs: number) {
    this.#etcd = etcd
    this.#keepMs = keepMs
  }

  /** @throws StoreUnavailable */
  lease(): Promise<string> {
    if (this.#lease === undefined || performance.now() - this.#sinceMs > this.#keepMs / 4) {
      this.#sinceMs = performance.now()
      this.#lease = this.#etcd.grant(this.#keepMs * 1.25)
      this.#lease.catch(() => this.forget())
    }
    return this.#lease
  }

  /** It was not there any more. */
  forget(): void {
    this.#lease = undefined
  }
}
