/** Whether we run on a terminal, and how to give one back that a killed program left in a mess. */
import { spawnSync } from 'node:child_process'

/** With any end of ours on a terminal its keys reach our whole process group, the child included. */
export function onTerminal(): boolean {
  return Boolean(process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY)
}

/** Leave the alternate screen, show the cursor, end bracketed paste and mouse reports. */
const RESET = '\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l'

/** After a program was killed in the middle of drawing. A program that ended by itself has tidied up. */
export function restoreTerminal(): void {
  if (process.stdin.isTTY) spawnSync('stty', ['sane'], { stdio: ['inherit', 'ignore', 'ignore'] })
  if (process.stderr.isTTY) process.stderr.write(RESET)
}
