/** Everything below the shared folder, to be compared: contents byte for byte, and when a folder or file was last changed. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Scene } from './scene.js'

/** A renewal writes these in place, and fills up with blanks. */
const RENEWED = /("renewed_at_ms"|"renewed_boot_ms"): \d+|[ ]+(?=\n$)/g
/** A heartbeat replaces the entry for this. */
const BEATEN = /"updated_at":\d+/

/**
 * By name. What renewals and heartbeats of a holder may change is left out; of everything else the time of the last
 * change counts too, so that what came and went in between is seen.
 */
export function sharedState(scene: Scene): Record<string, string> {
  const all = readdirSync(scene.shared, { recursive: true, encoding: 'utf8' })
  // In the middle of a heartbeat.
  const names = ['.', ...all].filter((name) => !name.endsWith('.json.tmp')).sort()
  return Object.fromEntries(names.map((name) => [name, stateOf(name, join(scene.shared, name))]))
}

function stateOf(name: string, path: string): string {
  const stats = statSync(path, { bigint: true })
  const isOfRegistry = name.startsWith(join('agents', 'reactive') + sep)
  if (stats.isDirectory()) return isOfRegistry ? 'folder' : `folder ${stats.mtimeNs}`
  const text = readFileSync(path, 'latin1')
  if (isOfRegistry) return text.replace(BEATEN, '')
  if (name.endsWith('.lease.json')) return text.replace(RENEWED, '')
  return `${stats.ino} ${stats.mtimeNs} ${text}`
}
