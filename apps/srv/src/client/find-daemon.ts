/** The daemon of our channel, by its file; or what to do where there is none. */
import { type CommonFlags, compose } from '../compose.js'
import { noDaemon, noDaemonToAsk } from '../daemon/about-daemon.js'
import { lookForDaemon } from '../daemon/daemon-file.js'
import { DaemonClient } from './daemon-client.js'

export type FoundDaemon =
  | { readonly kind: 'found'; readonly client: DaemonClient }
  /** `message`: for people. */
  | { readonly kind: 'none'; readonly message: string }

export function findDaemon(flags: CommonFlags): FoundDaemon {
  const { sharedRoot, channel } = compose(flags, process.env)
  const look = lookForDaemon(sharedRoot, channel)
  if (look.kind === 'found') {
    return { kind: 'found', client: new DaemonClient(look.daemon, noDaemon(channel)) }
  }
  return { kind: 'none', message: noDaemonToAsk(sharedRoot, channel, look) }
}
