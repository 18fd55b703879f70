/** Looking at processes through /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** R, S, D, T, Z and so on; undefined if it is gone. */
export function stateOf(pid: number): string | undefined {
  return statOf(pid)?.[0]
}

/** Whether it runs, or could: neither gone nor a zombie. */
export function lives(pid: number): boolean {
  const state = stateOf(pid)
  return state !== undefined && state !== 'Z' && state !== 'X'
}

export function startTicksOf(pid: number): number {
  return Number(statOf(pid)?.[19])
}

export function parentOf(pid: number): number {
  return Number(statOf(pid)?.[1])
}

export function sessionOf(pid: number): number {
  return Number(statOf(pid)?.[3])
}

/** Whether a signal waits for a stopped process to go on. */
export function isPending(pid: number, signal: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const pending = BigInt(`0x${/^ShdPnd:\s*([0-9a-f]+)/m.exec(status)?.[1]}`)
  return ((pending >> BigInt(signal - 1)) & 1n) === 1n
}

/** How many flocks it has. */
export function locksOf(pid: number): number {
  const owner = new RegExp(`^\\d+: FLOCK +\\S+ +\\S+ ${pid} `)
  return readFileSync('/proc/locks', 'latin1')
    .split('\n')
    .filter((line) => owner.test(line)).length
}

/** The processes whose environment has exactly this variable. */
export function processesWith(variable: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => environmentOf(pid).includes(variable))
}

export function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  } catch {
    return []
  }
}

/** The inodes that a process watches with inotify. */
export function inotifyInodesOf(pid: number): number[] {
  const folder = `/proc/${pid}/fdinfo`
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      const info = readFileSync(`${folder}/${descriptor}`, 'latin1')
      return [...info.matchAll(/^inotify wd:\S+ ino:([0-9a-f]+)/gm)].map((match) =>
        Number.parseInt(match[1] ?? '', 16)
      )
    } catch {
      return []
    }
  })
}

/** Milliseconds since boot, as lease files have them. */
export function bootMs(): number {
  return Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1_000
}

function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
