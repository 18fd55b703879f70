/** What is said of the daemon that is, or is not, there: one wording for whoever asks it, starts one, or looks. */
import { describeLockHolder } from '@agentmux/lease-store'
import { plainText } from '@agentmux/refusals'
import { PROGRAM } from '../output.js'
import { type DaemonFile, type DaemonFileLook, daemonFilePath, daemonLockPath } from './daemon-file.js'

const MAX_CHANNEL = 64
const MAX_PATH = 300
export const START_DAEMON = `\`${PROGRAM} serve\``
export const OTHER_CHANNEL =
  'Choose a channel whose name differs in more than letter case and special characters (--channel).'

type Unusable = Exclude<DaemonFileLook, { kind: 'found' }>

export function noDaemon(channel: string): string {
  return `no daemon of channel ${shown(channel)} runs on this shared folder: start one with ${START_DAEMON}`
}

/** For whoever wants to ask it. */
export function noDaemonToAsk(sharedRoot: string, channel: string, look: Unusable): string {
  switch (look.kind) {
    case 'missing':
      return noDaemon(channel)
    case 'ignored':
      return `the daemon of channel ${shown(channel)} cannot be asked: ${notBelieved(sharedRoot, channel, look.why)}. ${look.wayOut}`
    case 'other-channel':
      return `${sharedFile(look.daemon, channel)}. ${OTHER_CHANNEL}`
  }
}

/** For whoever wants to start one, and cannot have the lock. */
export function alreadyRuns(sharedRoot: string, channel: string, look: DaemonFileLook): string {
  const runs = `a daemon of channel ${shown(channel)} runs already on this shared folder`
  switch (look.kind) {
    case 'found':
      return `${runs}: it answers at ${whereOf(look.daemon)}`
    case 'other-channel':
      return `${sharedFile(look.daemon, channel)}. ${OTHER_CHANNEL}`
    case 'ignored':
      return `${runs}${lockedBy(sharedRoot, channel)}, but ${notBelieved(sharedRoot, channel, look.why)}. ${look.wayOut}`
    case 'missing':
      return `${runs}${lockedBy(sharedRoot, channel)}: it is about to start or to end. If it stays so, its file was removed: end it and start it anew`
  }
}

export function notBelieved(sharedRoot: string, channel: string, why: string): string {
  return `its file ${plainText(daemonFilePath(sharedRoot, channel), MAX_PATH)} is not believed: ${why}`
}

export function sharedFile(daemon: DaemonFile, channel: string): string {
  return `the daemon at ${whereOf(daemon)} is that of channel ${shown(daemon.channel)}, which has its files under the same name as channel ${shown(channel)} would`
}

function whereOf({ url, pid }: DaemonFile): string {
  return `${url} (pid ${pid})`
}

function lockedBy(sharedRoot: string, channel: string): string {
  const holder = describeLockHolder(daemonLockPath(sharedRoot, channel))
  return holder === '' ? '' : ` (${holder})`
}

function shown(channel: string): string {
  return plainText(channel, MAX_CHANNEL)
}
