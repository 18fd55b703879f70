/** What transactions are made of: comparisons, reads and writes of one key. */
import type { ICompare, IKeyValue, IRequestOp, ITxnResponse } from 'etcd3'
import { bytes, endOf } from './etcd-client.js'

export function isAbsent(key: string): ICompare {
  return { target: 'Create', result: 'Equal', key: bytes(key), create_revision: 0 }
}

export function isPresent(key: string): ICompare {
  return { target: 'Create', result: 'NotEqual', key: bytes(key), create_revision: 0 }
}

export function nothingUnder(prefix: string): ICompare {
  return { ...isAbsent(prefix), range_end: endOf(prefix) }
}

/** As it was when it was read, or still absent. */
export function isUnchanged(key: string, read: IKeyValue | undefined): ICompare {
  if (read === undefined) return isAbsent(key)
  return { target: 'Mod', result: 'Equal', key: bytes(key), mod_revision: read.mod_revision }
}

export function read(key: string): IRequestOp {
  return { request_range: { key: bytes(key) } }
}

/** `lease`: it goes with that lease of etcd. */
export function write(key: string, value: unknown, lease?: string): IRequestOp {
  const put = { key: bytes(key), value: bytes(JSON.stringify(value)) }
  return { request_put: lease === undefined ? put : { ...put, lease } }
}

export function remove(key: string): IRequestOp {
  return { request_delete_range: { key: bytes(key) } }
}

/** What the reads of a transaction found, in their order. */
export function found({ responses }: ITxnResponse): (IKeyValue | undefined)[] {
  return responses.map(({ response_range }) => response_range?.kvs[0])
}

/** Only what this store wrote is under its keys. */
export function valueIn<T>(kv: IKeyValue): T {
  return JSON.parse(kv.value.toString()) as T
}
