/**
 * Other computers, for a `run`, which has no LAN of its own: the daemon of its channel is asked, if one runs with its LAN on.
 * It detects and fails open within a bound (R7). Without a daemon file nothing is loaded and nothing asked.
 */
import { existsSync } from 'node:fs'
import type { ElsewhereTier, HeldElsewhere } from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import { daemonFilePath } from './daemon/daemon-file.js'

/** The claim waits no longer: the daemon itself gives the network 1.5 s. */
const TIMEOUT_MS = 2_000

export class LanOfDaemon implements ElsewhereTier {
  readonly name = 'lan'
  readonly #where: { readonly sharedRoot: string; readonly channel: string }

  constructor(where: { readonly sharedRoot: string; readonly channel: string }) {
    this.#where = where
  }

  async heldElsewhere({ uid }: AgentRef, signal: AbortSignal): Promise<HeldElsewhere> {
    const { sharedRoot, channel } = this.#where
    if (!existsSync(daemonFilePath(sharedRoot, channel))) return { kind: 'free' }
    const { askLanOfDaemon } = await import('./lan-question.js')
    const said = await askLanOfDaemon({ uid, sharedRoot, channel, signal, timeoutMs: TIMEOUT_MS })
    if (said.holder !== undefined) return { kind: 'held', holder: said.holder }
    const isDoubt = said.state === 'unknown' || said.state === 'partly'
    return isDoubt ? { kind: 'unknown', why: said.how } : { kind: 'free' }
  }
}
