/** What this process has open, from /proc: the only way to see that nothing was left behind. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The paths behind this process's descriptors that begin with `prefix`. */
export function openFiles(prefix: string): string[] {
  return openFilesOf('self').filter((path) => path.startsWith(prefix))
}

export function openFilesOf(pid: number | 'self'): string[] {
  const open: string[] = []
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    try {
      open.push(readlinkSync(`/proc/${pid}/fd/${descriptor}`))
    } catch {
      // It was closed meanwhile: the one that read the list, say.
    }
  }
  return open.sort()
}

/** How many inotify watches this process has, on whatever. */
export function watches(): number {
  return watchesOf('self')
}

/** The same of another one; none once it has ended. */
export function watchesOf(pid: number | 'self'): number {
  let count = 0
  for (const descriptor of namesIn(`/proc/${pid}/fdinfo`)) {
    try {
      const info = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1')
      count += info.split('\n').filter((line) => line.startsWith('inotify ')).length
    } catch {
      // It was the one that read the list.
    }
  }
  return count
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
