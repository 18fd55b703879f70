/**
 * That this relay serves, for the others and for the leases: a key that is there for as long as it is kept alive. Keeps true
 * that a holder changes only through a relay whose key is there, and that after a time in which no relay had one, the
 * grace key is there for one TTL: then only last holders may claim. A time shorter than the key lives (5 s) goes unseen.
 */
import { randomUUID } from 'node:crypto'
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import type { ICompare } from 'etcd3'
import { StoreUnavailable } from '../store-unavailable.js'
import type { EtcdClient } from './etcd-client.js'
import { KEYS } from './etcd-keys.js'
import type { KeepAlives } from './keep-alives.js'
import { isPresent, nothingUnder, write } from './txn-parts.js'

const PRESENCE_MS = 5_000
const BEAT_MS = 1_500

export class Presence {
  readonly key = KEYS.serving(randomUUID())
  readonly #etcd: EtcdClient
  readonly #keepAlives: KeepAlives
  readonly #clock: Pick<Clock, 'after'>
  readonly #ttlMs: number
  #lease: string | undefined
  #registering: Promise<void> | undefined
  #cancel: CancelTimer | undefined
  #closed = false

  constructor(
    etcd: EtcdClient,
    keepAlives: KeepAlives,
    options: { clock: Pick<Clock, 'after'>; ttlMs: number }
  ) {
    this.#etcd = etcd
    this.#keepAlives = keepAlives
    this.#clock = options.clock
    this.#ttlMs = options.ttlMs
  }

  /** @throws StoreUnavailable */
  async start(): Promise<void> {
    await this.register()
    this.#arm()
  }

  /** To stand in every transaction that changes who holds something. */
  get condition(): ICompare {
    return isPresent(this.key)
  }

  /** Says anew that we serve; for when the condition did not hold. @throws StoreUnavailable */
  register(): Promise<void> {
    this.#registering ??= this.#register().finally(() => {
      this.#registering = undefined
    })
    return this.#registering
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancel?.()
    const lease = this.#lease
    if (lease === undefined) return
    await this.#etcd.call(() => this.#etcd.raw.leaseClient.leaseRevoke({ ID: lease })).catch(() => {})
  }

  async #register(): Promise<void> {
    if (this.#closed) throw new StoreUnavailable('closed')
    const [lease, graceLease] = await Promise.all([
      this.#etcd.grant(PRESENCE_MS),
      this.#etcd.grant(this.#ttlMs)
    ])
    const us = write(this.key, {}, lease)
    const { succeeded } = await this.#etcd.txn({
      compare: [nothingUnder(KEYS.servings)],
      success: [us, write(KEYS.grace, {}, graceLease)],
      failure: [us]
    })
    if (!succeeded) this.#etcd.revoke(graceLease)
    this.#lease = lease
  }

  #arm(): void {
    if (this.#closed) return
    this.#cancel = this.#clock.after(BEAT_MS, () => {
      // What fails now is tried again at the next beat, and by whoever finds the condition broken.
      this.#beat()
        .catch(() => {})
        .finally(() => this.#arm())
    })
  }

  async #beat(): Promise<void> {
    const alive = this.#lease !== undefined && (await this.#keepAlives.renew(this.#lease))
    if (!alive && !this.#closed) await this.register()
  }
}
