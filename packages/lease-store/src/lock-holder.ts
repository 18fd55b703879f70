/** Names the process that has a lock, from /proc/locks: the one thing that can hold an agent up without a bound (R3). */
import { readFileSync, statSync } from 'node:fs'

/** `pid 123 (name), which is stopped`; empty where it cannot be told. */
export function describeLockHolder(path: string): string {
  try {
    const pid = flockOwner(readFileSync('/proc/locks', 'latin1'), statSync(path).ino)
    if (pid === undefined) return ''
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    const stopped = 'Tt'.includes(stat[stat.lastIndexOf(')') + 2] ?? '-')
    const wayOut = stopped ? `, which is stopped: continue it (kill -CONT ${pid}) or end it` : ''
    return `pid ${pid} (${name.replace(/[^\x20-\x7e]/g, '?')})${wayOut}`
  } catch {
    return ''
  }
}

/**
 * The pid that has an exclusive flock on an inode. Lines read `1: FLOCK ADVISORY WRITE 812 fe:00:131 0 EOF`; those
 * of waiters have `->` after the number. Inodes repeat across devices: rare, and this is for a message.
 */
export function flockOwner(locks: string, inode: number): number | undefined {
  for (const line of locks.split('\n')) {
    const match = /^\d+: FLOCK +\S+ +WRITE +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) /.exec(line)
    if (match !== null && Number(match[2]) === inode && Number(match[1]) > 0) return Number(match[1])
  }
  return undefined
}
