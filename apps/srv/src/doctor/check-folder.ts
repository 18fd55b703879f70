/** The shared folder: whose it is, who may write there, and whether its file system deserves trust. Creates nothing. */
import { type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { doubtsAbout } from '@agentmux/lease-store'
import { plainText } from '@agentmux/refusals'
import { whyNotMade } from './can-be-made.js'
import type { Check } from './check.js'

const PATH_LENGTH = 300
const OTHERS_WRITE = 0o022

/** `leases`: the folder of the lease files. Whoever may write there may name processes to be ended (R15). */
export function checkFolder(sharedRoot: string, leases: string): Check[] {
  return [checkOwner(sharedRoot, leases), checkFileSystem(sharedRoot)]
}

function checkOwner(sharedRoot: string, leases: string): Check {
  const name = 'shared folder'
  const shown = plainText(sharedRoot, PATH_LENGTH)
  const unusable = whyNotMade(leases)
  if (unusable !== undefined) return { name, level: 'fail', ...unusable }
  const stats = statOf(leases) ?? statOf(sharedRoot)
  if (stats === undefined) {
    return { name, level: 'ok', seen: `${shown} is not there yet: the first agent makes it` }
  }
  const us = process.geteuid?.()
  if (us === undefined) return { name, level: 'ok', seen: shown }
  if (stats.uid !== us && stats.uid !== 0) {
    const seen = `${shown} belongs to user ${stats.uid}: processes that a dead holder left are not ended on its word`
    return { name, level: 'warn', seen, todo: 'Use a folder of your own.' }
  }
  if ((stats.mode & OTHERS_WRITE) !== 0) {
    const seen = `others may write to ${shown}: processes that a dead holder left are not ended on its word`
    return { name, level: 'warn', seen, todo: `Close it: chmod -R go-w '${shown}'.` }
  }
  return { name, level: 'ok', seen: `${shown} is ours` }
}

function checkFileSystem(sharedRoot: string): Check {
  const name = 'file system'
  const doubts = doubtsAbout(existing(sharedRoot))
  if (doubts === undefined) return { name, level: 'warn', seen: 'its kind could not be read' }
  if (doubts === '') return { name, level: 'ok', seen: 'a local one' }
  return {
    name,
    level: 'warn',
    seen: `${doubts}: leases there are judged only by watching them`,
    todo: 'Choose a local folder with --shared-dir or $AGENTMUX_SHARED_DIR.'
  }
}

/** The folder itself, or the one that it would be made in. */
function existing(folder: string): string {
  return statOf(folder) !== undefined || dirname(folder) === folder ? folder : existing(dirname(folder))
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
