/**
 * The token for the relay: $AGENTMUX_RELAY_TOKEN, or the file that $AGENTMUX_RELAY_TOKEN_FILE names, which is read for every
 * request, since tokens live for minutes. Taken out of the environment, so that no child inherits it; shown nowhere (R16).
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

export function takeRelayToken(environment: NodeJS.ProcessEnv): RelayToken {
  const { [TOKEN]: text, [TOKEN_FILE]: path } = environment
  delete environment[TOKEN]
  delete environment[TOKEN_FILE]
  if (path) {
    return {
      token: () => {
        const read = readToken(path)
        return read.kind === 'token' ? read.token : undefined
      },
      secrets: [],
      problem: () => {
        const read = readToken(path)
        return read.kind === 'token' ? undefined : `the file in $${TOKEN_FILE} ${read.why}`
      }
    }
  }
  if (text) return { token: () => text, secrets: [text], problem: () => undefined }
  return {
    token: () => undefined,
    secrets: [],
    problem: () => `there is no token: set $${TOKEN}, or $${TOKEN_FILE} to a file that holds it`
  }
}

type Read =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'none'; readonly why: string }

function readToken(path: string): Read {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, READ)
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return { kind: 'none', why: 'is no file' }
    if (stats.size > MAX_BYTES) return { kind: 'none', why: `is longer than ${MAX_BYTES} bytes` }
    const token = readFileSync(descriptor, 'utf8').trim()
    return token === '' ? { kind: 'none', why: 'is empty' } : { kind: 'token', token }
  } catch (error) {
    return {
      kind: 'none',
      why: `cannot be read: ${error instanceof Error && 'code' in error ? error.code : error}`
    }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
