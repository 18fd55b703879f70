/**
 * The file by which a daemon is found: where it listens and the key to it (PROTOCOL 1). It is believed only if it is ours
 * and closed to everybody else, so that nobody can send us, and our key, elsewhere.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loopbackOrigin, removeQuietly, replacePrivateFile, stem } from '@agentmux/host-admission'
import { createFolder } from '@agentmux/lease-store'

export interface DaemonFile {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly authKey: string
  readonly pid: number
  readonly version: string
  /** Unix milliseconds. */
  readonly startedAtMs: number
}

export type DaemonFileLook =
  | { readonly kind: 'found'; readonly daemon: DaemonFile }
  | { readonly kind: 'missing' }
  /** `why`: in a few words. */
  | { readonly kind: 'ignored'; readonly why: string }

const MODE = 0o600
const MAX_BYTES = 16 * 1024
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** What may stand in a header. */
const KEY = /^[\x21-\x7e]{1,256}$/

export function daemonFolder(sharedRoot: string): string {
  return join(sharedRoot, 'agents', 'srv')
}

export function daemonFilePath(sharedRoot: string, channel: string): string {
  return join(daemonFolder(sharedRoot), `${stem(channel)}.json`)
}

/** Never throws. Whether that daemon still runs is another question. */
export function readDaemonFile(path: string): DaemonFileLook {
  let descriptor: number
  try {
    descriptor = openSync(path, READ)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'missing' }
      : { kind: 'ignored', why: `it cannot be opened (${code})` }
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > MAX_BYTES) return { kind: 'ignored', why: 'it is no such file' }
    const us = process.geteuid?.()
    if (us !== undefined && stats.uid !== us) return { kind: 'ignored', why: 'it belongs to another user' }
    if (us !== undefined && (stats.mode & 0o077) !== 0) {
      return { kind: 'ignored', why: 'others may read or write it' }
    }
    const daemon = parseDaemonFile(readFileSync(descriptor, 'utf8'))
    return daemon === undefined ? { kind: 'ignored', why: 'it cannot be read' } : { kind: 'found', daemon }
  } catch {
    return { kind: 'ignored', why: 'it cannot be read' }
  } finally {
    closeSync(descriptor)
  }
}

/** Replaces whatever is there. @throws LeaseFault `io`; what node:fs throws. */
export function writeDaemonFile(path: string, daemon: DaemonFile): void {
  createFolder(dirname(path), { durable: false })
  const text = JSON.stringify({
    url: daemon.url,
    auth_key: daemon.authKey,
    pid: daemon.pid,
    version: daemon.version,
    started_at: daemon.startedAtMs
  })
  replacePrivateFile(path, `${text}\n`, { mode: MODE, temporary: `${path}.tmp` })
}

/** Only the one that this daemon has written. */
export function removeDaemonFile(path: string, { url, authKey }: Pick<DaemonFile, 'url' | 'authKey'>): void {
  const look = readDaemonFile(path)
  if (look.kind === 'found' && look.daemon.url === url && look.daemon.authKey === authKey) removeQuietly(path)
}

function parseDaemonFile(text: string): DaemonFile | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { url, auth_key, pid, version, started_at } = value as Readonly<Record<string, unknown>>
  if (typeof url !== 'string' || typeof auth_key !== 'string' || !KEY.test(auth_key)) return undefined
  const origin = loopbackOrigin(url)
  if (origin === undefined || !Number.isSafeInteger(pid)) return undefined
  return {
    url: origin,
    authKey: auth_key,
    pid: pid as number,
    version: typeof version === 'string' ? version : '',
    startedAtMs: typeof started_at === 'number' ? started_at : 0
  }
}
