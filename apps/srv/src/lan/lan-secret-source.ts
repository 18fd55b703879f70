/**
 * Where the LAN secret comes from: $AGENTMUX_LAN_SECRET, or the file that $AGENTMUX_LAN_SECRET_FILE names. It is taken out
 * of the environment, so that no child inherits it, and shown nowhere (R16).
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { LanSecret } from '@agentmux/lan-tier'
import { lanSecretFaultMessage, plainText } from '@agentmux/refusals'

export type LanSecretSource =
  | { readonly kind: 'none' }
  | { readonly kind: 'secret'; readonly secret: LanSecret; readonly text: string }
  /** `message`: for people. */
  | { readonly kind: 'fault'; readonly message: string }

const SECRET = 'AGENTMUX_LAN_SECRET'
const SECRET_FILE = 'AGENTMUX_LAN_SECRET_FILE'
const MAX_BYTES = 4_096
/** A pipe in its place must not hang the start. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

export function takeLanSecret(environment: NodeJS.ProcessEnv): LanSecretSource {
  const { [SECRET]: text, [SECRET_FILE]: path } = environment
  delete environment[SECRET]
  delete environment[SECRET_FILE]
  if (text) return path ? fault(`$${SECRET} and $${SECRET_FILE} are both set; unset one`) : secretOf(text)
  if (!path) return { kind: 'none' }
  const shown = plainText(path, 300)
  try {
    const read = readSecretFile(path)
    return typeof read === 'string' ? secretOf(read) : fault(`the LAN secret in ${shown} ${read.why}`)
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read'
    return fault(`the LAN secret cannot be read from ${shown}: ${why}`)
  }
}

function readSecretFile(path: string): string | { readonly why: string } {
  const descriptor = openSync(path, READ)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return { why: 'is no file' }
    if (stats.size > MAX_BYTES) return { why: `is longer than ${MAX_BYTES} bytes` }
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
      return { why: `can be read by others: run chmod 600 ${plainText(path, 300)}` }
    }
    // The line break is the editor's.
    return readFileSync(descriptor, 'utf8').replace(/\r?\n$/, '')
  } finally {
    closeSync(descriptor)
  }
}

function secretOf(text: string): LanSecretSource {
  try {
    return { kind: 'secret', secret: new LanSecret(text), text }
  } catch {
    return fault(lanSecretFaultMessage())
  }
}

function fault(message: string): LanSecretSource {
  return { kind: 'fault', message }
}
