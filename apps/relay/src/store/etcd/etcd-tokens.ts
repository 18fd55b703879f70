/** Tokens in etcd, by their hashes. What was found is remembered for 5 s: that long a revoked token may still open something. */
import type { Clock } from '@agentmux/lease-model'
import { isExpired, type Token } from '../../model/token.js'
import type { TokenKeeper } from '../relay-store.js'
import { AGAIN, attempts } from './attempts.js'
import type { EtcdClient } from './etcd-client.js'
import { KEYS } from './etcd-keys.js'
import { isAbsent, isUnchanged, remove, valueIn, write } from './txn-parts.js'

interface Found {
  readonly token: Token | undefined
  readonly atMs: number
}

const REMEMBER_MS = 5_000
/** Whoever tries many wrong ones must not fill the memory. */
const REMEMBERED = 10_000
const PAGE = 500

export class EtcdTokens implements TokenKeeper {
  readonly #etcd: EtcdClient
  readonly #clock: Pick<Clock, 'wallMs' | 'bootMs'>
  readonly #found = new Map<string, Found>()

  constructor(etcd: EtcdClient, clock: Pick<Clock, 'wallMs' | 'bootMs'>) {
    this.#etcd = etcd
    this.#clock = clock
  }

  add(token: Token, hash: string): Promise<void> {
    const key = KEYS.token(hash)
    return attempts(async () => {
      await this.#etcd.txn({ compare: [isAbsent(key)], success: [write(key, token)] })
    })
  }

  async find(hash: string): Promise<Token | undefined> {
    const remembered = this.#found.get(hash)
    const fresh = remembered !== undefined && this.#clock.bootMs() - remembered.atMs < REMEMBER_MS
    const token = fresh ? remembered.token : await this.#fetch(hash)
    return token === undefined || isExpired(token, this.#clock.wallMs()) ? undefined : token
  }

  async list(): Promise<Token[]> {
    return (await this.#all()).map(({ token }) => token)
  }

  async revoke(id: string): Promise<boolean> {
    const one = (await this.#all()).find(({ token }) => token.id === id)
    if (one === undefined) return false
    return attempts(async () => {
      const kv = await this.#etcd.get(one.key)
      if (kv === undefined) return true
      const { succeeded } = await this.#etcd.txn({
        compare: [isUnchanged(one.key, kv)],
        success: [remove(one.key)]
      })
      return succeeded ? true : AGAIN
    })
  }

  async #fetch(hash: string): Promise<Token | undefined> {
    const token = await attempts(async () => {
      const kv = await this.#etcd.get(KEYS.token(hash))
      return kv === undefined ? undefined : valueIn<Token>(kv)
    })
    if (this.#found.size >= REMEMBERED) this.#found.clear()
    this.#found.set(hash, { token, atMs: this.#clock.bootMs() })
    return token
  }

  async #all(): Promise<{ readonly key: string; readonly token: Token }[]> {
    const all: { key: string; token: Token }[] = []
    for (let after: string = KEYS.tokens; ; ) {
      const page = await this.#etcd.page(KEYS.tokens, { limit: PAGE, after })
      all.push(...page.map((kv) => ({ key: kv.key.toString(), token: valueIn<Token>(kv) })))
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      after = last.key.toString()
    }
    return all.sort((one, other) => one.token.createdAtMs - other.token.createdAtMs)
  }
}
