/**
 * The relay, for a `run`, which has none of its own: the daemon of its channel is asked, if one runs. It detects and fails open
 * within a bound (R7). Without a daemon file nothing is loaded and nothing asked. A `run` itself is not held at the relay.
 */
import { existsSync } from 'node:fs'
import type { ElsewhereTier, HeldElsewhere } from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import { daemonFilePath } from './daemon/daemon-file.js'

/** The claim waits no longer. */
const TIMEOUT_MS = 2_000

export class RelayOfDaemon implements ElsewhereTier {
  readonly name = 'relay'
  readonly #where: { readonly sharedRoot: string; readonly channel: string }

  constructor(where: { readonly sharedRoot: string; readonly channel: string }) {
    this.#where = where
  }

  async heldElsewhere({ uid, name }: AgentRef, signal: AbortSignal): Promise<HeldElsewhere> {
    const { sharedRoot, channel } = this.#where
    if (name === undefined || !existsSync(daemonFilePath(sharedRoot, channel))) return { kind: 'free' }
    const { askRelayOfDaemon } = await import('./relay-question.js')
    const said = await askRelayOfDaemon({ uid, name, sharedRoot, channel, signal, timeoutMs: TIMEOUT_MS })
    if (said.holder !== undefined) return { kind: 'held', holder: said.holder }
    return said.state === 'unknown' ? { kind: 'unknown', why: said.how } : { kind: 'free' }
  }
}
