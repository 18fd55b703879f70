/** Whether a folder could be made, and files in it, told without making anything: by what stands on the way to it (R6). */
import { accessSync, constants, lstatSync, type Stats, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { plainText } from '@agentmux/refusals'

export interface CannotBeMade {
  readonly seen: string
  readonly todo: string
}

const PATH_LENGTH = 300
const ANOTHER = 'choose another with --shared-dir'
/** File systems of the kernel's own: nothing can be made there, whatever the permissions say. By their statfs type. */
const KERNEL_TYPES = new Map([
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
  [0x27e0eb, 'cgroup'],
  [0x63677270, 'cgroup2'],
  [0x64626720, 'debugfs'],
  [0x74726163, 'tracefs'],
  [0x73636673, 'securityfs'],
  [0x1cd1, 'devpts']
])

/** Undefined if nothing speaks against it. */
export function whyNotMade(folder: string): CannotBeMade | undefined {
  const there = nearest(folder)
  const shown = plainText(there, PATH_LENGTH)
  const stats = lookAt(there, statSync)
  if (stats === undefined) return { seen: `${shown} is a link that leads nowhere`, todo: mendOr('Remove it') }
  if (!stats.isDirectory())
    return { seen: `${shown} is not a folder`, todo: mendOr('Move what stands there') }
  const kind = kernelType(there)
  if (kind !== undefined) {
    return { seen: `nothing can be made in ${shown} (${kind})`, todo: `C${ANOTHER.slice(1)}.` }
  }
  try {
    accessSync(there, constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const todo =
      code === 'EROFS' ? 'Make that file system writable' : 'Give this user the right to write there'
    return { seen: `we may not write in ${shown} (${code})`, todo: mendOr(todo) }
  }
  return undefined
}

function mendOr(todo: string): string {
  return `${todo}, or ${ANOTHER}.`
}

/** The folder itself, or the last thing on the way to it that is there: a link counts, wherever it leads. */
function nearest(path: string): string {
  return lookAt(path, lstatSync) !== undefined || dirname(path) === path ? path : nearest(dirname(path))
}

/** Undefined also where we may not look, or a file stands in the way. */
function lookAt(path: string, look: (path: string) => Stats): Stats | undefined {
  try {
    return look(path)
  } catch {
    return undefined
  }
}

function kernelType(path: string): string | undefined {
  try {
    return KERNEL_TYPES.get(statfsSync(path).type)
  } catch {
    return undefined
  }
}
