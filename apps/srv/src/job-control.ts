/**
 * Suspending a command that handles Ctrl-Z itself: it stops itself alone, and the shell, which waits for us, would not
 * notice. So when it has stopped, our group stops as the terminal's Ctrl-Z would have stopped it. `fg` continues us all.
 */
import { readFileSync } from 'node:fs'
import { inForeground } from './terminal.js'

/** With Ctrl-Z the whole group stops and continues by itself: only who is still stopped after this long stopped alone. */
const ALONE_AFTER_MS = 50

/** For a command that shares our group. Returns a function that ends it. */
export function stopWhenStopped(pid: number): () => void {
  let timer: NodeJS.Timeout | undefined
  const onChildChange = () => {
    clearTimeout(timer)
    if (isStopped(pid)) timer = setTimeout(stopGroup, ALONE_AFTER_MS, pid)
  }
  process.on('SIGCHLD', onChildChange)
  return () => {
    clearTimeout(timer)
    process.off('SIGCHLD', onChildChange)
  }
}

/** SIGTSTP: the kernel drops it where nobody is there to continue us. */
function stopGroup(pid: number): void {
  if (isStopped(pid) && inForeground()) process.kill(0, 'SIGTSTP')
}

function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2] === 'T'
  } catch {
    return false
  }
}
