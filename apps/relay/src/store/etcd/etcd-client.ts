/**
 * etcd, as the store asks it: reads and transactions with a time limit each, never repeated behind our back, since a
 * transaction whose answer was lost may have happened. A member that does not answer is left alone for a while.
 */
import {
  Etcd3,
  GRPCDeadlineExceededError,
  type ICompare,
  type IKeyValue,
  type IRequestOp,
  type ITxnResponse
} from 'etcd3'
import { StoreUnavailable, type UnavailableBecause } from '../store-unavailable.js'
import { askOnce, memberPolicy } from './member-policy.js'

const CALL_MS = 1_500
const LATE_MS = 500

export interface Transaction {
  readonly compare: readonly ICompare[]
  readonly success: readonly IRequestOp[]
  readonly failure?: readonly IRequestOp[]
}

export interface Page {
  readonly limit: number
  /** Only keys after this one. */
  readonly after?: string
}

export class EtcdClient {
  readonly raw: Etcd3
  #closed = false

  constructor(hosts: readonly string[]) {
    this.raw = new Etcd3({
      hosts: [...hosts],
      faultHandling: { global: askOnce, host: () => memberPolicy() },
      defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + CALL_MS }),
      grpcOptions: { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 3_000 }
    })
  }

  async txn({ compare, success, failure = [] }: Transaction): Promise<ITxnResponse> {
    return this.call(() =>
      this.raw.kv.txn({ compare: [...compare], success: [...success], failure: [...failure] })
    )
  }

  async get(key: string): Promise<IKeyValue | undefined> {
    const { kvs } = await this.call(() => this.raw.kv.range({ key: bytes(key) }))
    return kvs[0]
  }

  async page(prefix: string, { limit, after = prefix }: Page): Promise<IKeyValue[]> {
    const key = after === prefix ? bytes(prefix) : Buffer.concat([bytes(after), Buffer.of(0)])
    const { kvs } = await this.call(() => this.raw.kv.range({ key, range_end: endOf(prefix), limit }))
    return kvs
  }

  async count(prefix: string): Promise<number> {
    const range = { key: bytes(prefix), range_end: endOf(prefix), count_only: true }
    const { count } = await this.call(() => this.raw.kv.range(range))
    return Number(count)
  }

  /** The id of a new lease of etcd. */
  async grant(ttlMs: number): Promise<string> {
    const { ID } = await this.call(() => this.raw.leaseClient.leaseGrant({ TTL: Math.ceil(ttlMs / 1_000) }))
    return ID
  }

  /** Nobody needs it any more; if this fails it runs out by itself. */
  revoke(id: string | undefined): void {
    if (id === undefined || id === '0') return
    this.raw.leaseClient.leaseRevoke({ ID: id }).catch(() => {})
  }

  /** @throws StoreUnavailable for whatever goes wrong with etcd */
  async call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreUnavailable('closed')
    try {
      return await inTime(work())
    } catch (error) {
      throw error instanceof StoreUnavailable ? error : new StoreUnavailable(this.#codeOf(error), error)
    }
  }

  close(): void {
    this.#closed = true
    this.raw.close()
  }

  #codeOf(error: unknown): UnavailableBecause {
    if (this.#closed) return 'closed'
    return error instanceof GRPCDeadlineExceededError ? 'timeout' : 'unreachable'
  }
}

/** The lease of a key in etcd is gone: it was not there any more when something was to hang on it. */
export function isLeaseGone(error: unknown): boolean {
  return error instanceof StoreUnavailable && /lease not found/.test(String(error.cause))
}

export function bytes(text: string): Buffer {
  return Buffer.from(text)
}

/** The first key after all that begin with the prefix. */
export function endOf(prefix: string): Buffer {
  const end = bytes(prefix)
  end[end.length - 1] = (end.at(-1) ?? 0) + 1
  return end
}

/** Whatever the client makes of its own time limit when it loses a connection: nobody waits here for ever. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable('timeout')), CALL_MS + LATE_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
