/**
 * Who we are to a relay beyond our name: a UUID kept beside the daemon file, one per channel and shared root, so that another
 * computer of the same name is another holder, and we are the same one after a restart.
 */
import { join } from 'node:path'
import { readPrivateFile, replacePrivateFile, stem } from '@agentmux/host-admission'
import { createFolder, randomUuid } from '@agentmux/lease-store'
import { daemonFolder } from '../daemon/daemon-file.js'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MODE = 0o600

/** Made at the first call. To be called by one process at a time: by the daemon, under its lock. @throws what node:fs throws. */
export function installId(sharedRoot: string, channel: string): string {
  const folder = daemonFolder(sharedRoot)
  const path = join(folder, `${stem(channel)}.install`)
  const file = readPrivateFile(path)
  const known = file.kind === 'text' ? file.text.trim() : ''
  if (UUID.test(known)) return known
  const made = randomUuid()
  createFolder(folder)
  replacePrivateFile(path, `${made}\n`, { mode: MODE, temporary: `${path}.tmp` })
  return made
}
