/** What this process has open, from /proc: the only way to see that nothing was left behind. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The paths behind this process's descriptors that begin with `prefix`. */
export function openFiles(prefix: string): string[] {
  const open: string[] = []
  for (const descriptor of readdirSync('/proc/self/fd')) {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`)
      if (path.startsWith(prefix)) open.push(path)
    } catch {
      // It was the one that read the list.
    }
  }
  return open.sort()
}

/** How many inotify watches this process has, on whatever. */
export function watches(): number {
  let count = 0
  for (const descriptor of readdirSync('/proc/self/fdinfo')) {
    try {
      const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
      count += info.split('\n').filter((line) => line.startsWith('inotify ')).length
    } catch {
      // It was the one that read the list.
    }
  }
  return count
}
