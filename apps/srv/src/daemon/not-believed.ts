/**
 * Why a daemon file is not believed, and what to do about it: which command makes it right, or that a restart of the daemon
 * does. For a look at one; whoever shows it names the file as well.
 */
import { shellWord } from '../shell-word.js'

export interface NotBelieved {
  readonly kind: 'ignored'
  readonly why: string
  readonly wayOut: string
}

const RESTART = 'If a daemon runs, end it; starting it anew replaces the file.'

export function noDaemonFile(why: string): NotBelieved {
  return { kind: 'ignored', why, wayOut: RESTART }
}

/** `code`: what the system says. */
export function cannotBeOpened(path: string, code: string): NotBelieved {
  const why = code === 'ELOOP' ? 'it is a link' : `it cannot be opened (${code})`
  if (code !== 'EACCES' && code !== 'EPERM') return noDaemonFile(why)
  const wayOut = `If that daemon is yours, run this as its user, or give the file to this one: ${chown(path)}.`
  return { kind: 'ignored', why, wayOut }
}

export function ofAnotherUser(path: string, owner: number, us: number): NotBelieved {
  return {
    kind: 'ignored',
    why: `it belongs to user ${owner}, and we are user ${us}`,
    wayOut: `If that daemon is yours, run this as its user, or give the file to this one: ${chown(path)}. If not, remove it and start one.`
  }
}

export function openToOthers(path: string, mode: number): NotBelieved {
  return {
    kind: 'ignored',
    why: `others may read or write it (mode ${(mode & 0o777).toString(8)})`,
    wayOut: `Close it: \`chmod 600 ${shellWord(path)}\`. Whoever read it has the daemon’s key: ending the daemon and starting it anew makes another.`
  }
}

function chown(path: string): string {
  return `\`chown ${process.geteuid?.() ?? '$USER'} ${shellWord(path)}\``
}
