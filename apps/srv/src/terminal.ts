/** Whether we run on a terminal and are in front on it, and how to give it back after a program was killed on it. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { writeError } from './output.js'

/** Whether the keys of a terminal reach our process group, and so a child that shares it. */
export function onTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor)) && hasControllingTerminal()
}

/** A terminal that does not control us (after setsid, say) sends us no signals. */
function hasControllingTerminal(): boolean {
  if (process.platform === 'win32') return true
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

/** What the kernel knows of our place on the terminal; undefined where it cannot be read. */
function standing(): { pid: number; group: number; session: number; foreground: number } | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const [, , group, session, , foreground] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ', 6)
      .map(Number)
    return { pid: process.pid, group: group ?? 0, session: session ?? 0, foreground: foreground ?? 0 }
  } catch {
    return undefined
  }
}

/** Whether the terminal is our group's now, not the shell's or another job's. */
export function inForeground(): boolean {
  const us = standing()
  return us === undefined || us.foreground === us.group
}

/** Whether we lead the session: when the terminal closes, the kernel tells the leader alone. */
export function leadsSession(): boolean {
  const us = standing()
  return us !== undefined && us.session === us.pid
}

/** Leave the alternate screen, show the cursor, end bracketed paste and mouse reports. */
const RESET = '\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l'

/**
 * After a program was killed in the middle of drawing. A program that ended by itself has tidied up. From the background
 * the terminal is somebody else's, and changing it would stop us.
 */
export function restoreTerminal(): void {
  if (!inForeground()) return
  if (isatty(0)) spawnSync('stty', ['sane'], { stdio: ['inherit', 'ignore', 'ignore'] })
  if (isatty(2)) writeError(RESET)
}
