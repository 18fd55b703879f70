/**
 * The token for the relay: $AGENTMUX_RELAY_TOKEN, or the file that $AGENTMUX_RELAY_TOKEN_FILE names, which is read for every
 * request, since tokens live for minutes. Taken out of the environment, so that no child inherits it; shown nowhere (R16). A
 * file that others may read is not used.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

export interface RelayToken {
  /** The one of this moment; undefined if there is none, and then the relay is not asked. */
  readonly token: () => string | undefined
  /** What must never be shown. */
  readonly secrets: readonly string[]
  /** For people; undefined if nothing is the matter. */
  readonly problem: () => string | undefined
}

const TOKEN = 'AGENTMUX_RELAY_TOKEN'
const TOKEN_FILE = 'AGENTMUX_RELAY_TOKEN_FILE'
const MAX_BYTES = 16 * 1024
/** A pipe in its place must not hang us. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
const GROUP_AND_OTHERS = 0o077
/** What can stand in a header. */
const SENDABLE = /^[\x21-\x7e]+$/

export function takeRelayToken(environment: NodeJS.ProcessEnv): RelayToken {
  const { [TOKEN]: text, [TOKEN_FILE]: path } = environment
  delete environment[TOKEN]
  delete environment[TOKEN_FILE]
  if (text && path) return none(`$${TOKEN} and $${TOKEN_FILE} are both set: unset one`, [text])
  if (path) {
    const read = () => readToken(path)
    return {
      token: () => read().token,
      secrets: [],
      problem: () => {
        const { why } = read()
        return why === undefined ? undefined : `the file that $${TOKEN_FILE} names ${why}`
      }
    }
  }
  if (!text) return none(`there is no token: set $${TOKEN}, or $${TOKEN_FILE} to a file that holds it`)
  if (!SENDABLE.test(text))
    return none(`$${TOKEN} can be no token: it must be visible ASCII characters`, [text])
  return { token: () => text, secrets: [text], problem: () => undefined }
}

function none(problem: string, secrets: readonly string[] = []): RelayToken {
  return { token: () => undefined, secrets, problem: () => problem }
}

interface Read {
  readonly token?: string
  readonly why?: string
}

function readToken(path: string): Read {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, READ)
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return { why: 'is no file' }
    if (stats.size > MAX_BYTES) return { why: `is longer than ${MAX_BYTES} bytes` }
    if (process.platform !== 'win32' && (stats.mode & GROUP_AND_OTHERS) !== 0) {
      return { why: 'is open to others: run chmod 600 on it' }
    }
    const token = readFileSync(descriptor, 'utf8').trim()
    if (token === '') return { why: 'is empty' }
    return SENDABLE.test(token)
      ? { token }
      : { why: 'can hold no token: it must be visible ASCII characters' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no more is known'
    return { why: `cannot be read: ${code}` }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
