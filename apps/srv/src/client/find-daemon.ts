/** The daemon of our channel, by its file; or what to do where there is none. */
import { plainText } from '@agentmux/refusals'
import { type CommonFlags, compose } from '../compose.js'
import { daemonFilePath, readDaemonFile } from '../daemon/daemon-file.js'
import { PROGRAM } from '../output.js'
import { DaemonClient } from './daemon-client.js'

export type FoundDaemon =
  | { readonly kind: 'found'; readonly client: DaemonClient }
  /** `message`: for people. */
  | { readonly kind: 'none'; readonly message: string }

export function findDaemon(flags: CommonFlags): FoundDaemon {
  const { sharedRoot, channel } = compose(flags, process.env)
  const path = daemonFilePath(sharedRoot, channel)
  const look = readDaemonFile(path)
  switch (look.kind) {
    case 'found':
      return { kind: 'found', client: new DaemonClient(look.daemon, noDaemon(channel, '')) }
    case 'missing':
      return { kind: 'none', message: noDaemon(channel, '') }
    case 'ignored':
      return {
        kind: 'none',
        message: noDaemon(channel, ` (${plainText(path, 200)} is not believed: ${look.why})`)
      }
  }
}

function noDaemon(channel: string, why: string): string {
  return `no daemon of channel ${plainText(channel, 64)} runs on this shared folder${why}: start one with \`${PROGRAM} serve\``
}
