/** Mounts that only one child and its children see, and that go with them. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const isRoot = process.getuid?.() === 0
const unshare = isRoot ? ['unshare', '-m'] : ['unshare', '--user', '--map-root-user', '-m']

/** What a child is started through, with a mount of its own over `folder`, which the script knows as $1. */
export function mounted(script: string, folder: string): string[] {
  return [...unshare, 'sh', '-c', `${script} && shift && exec "$@"`, 'sh', folder]
}

/** Whether that can be done here: it takes root or user namespaces, loop devices, programs. */
export function canMount(scriptFor: (folder: string) => string): boolean {
  const parent = mkdtempSync(join(tmpdir(), 'can-mount-'))
  try {
    const folder = join(parent, 'm')
    mkdirSync(folder)
    const [command, ...args] = mounted(scriptFor(folder), folder)
    return spawnSync(command as string, [...args, 'true'], { stdio: 'ignore' }).status === 0
  } finally {
    rmSync(parent, { recursive: true })
  }
}

/** A file system of its own in a file beside the folder, made by `mkfs`. */
export const image = (mkfs: string, folder: string) =>
  `truncate -s 400M "${folder}.img" && ${mkfs} "${folder}.img" >/dev/null && mount -o loop "${folder}.img" "$1"`

/** A path as a process in another mount namespace sees it. */
export const seenBy = (pid: number, path: string) => `/proc/${pid}/root${path}`
