/**
 * What comes of the relay, as log lines. The same trouble is said once in a while, and once that it is over. No token and no
 * message is in any (R16).
 */
import type { Clock, Holder } from '@agentmux/lease-model'
import type { RelayTrouble } from '@agentmux/wan-client'
import type { Log } from '../log/log.js'

const SAID_FOR_MS = 600_000

export class RelayLog {
  readonly #log: Log
  readonly #clock: Clock
  /** When it was said, by the boot clock. There are only so many routes and reasons. */
  readonly #said = new Map<string, number>()
  #isTroubled = false

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  trouble({ route, agent, why }: RelayTrouble): void {
    const kind = `${route} ${why}`
    const nowMs = this.#clock.bootMs()
    const saidMs = this.#said.get(kind)
    if (saidMs !== undefined && nowMs - saidMs < SAID_FOR_MS) return
    this.#said.set(kind, nowMs)
    this.#isTroubled = true
    this.#log.warn(
      { event: 'relay-trouble', route, agent, why },
      'relay: nothing is known; what runs goes on'
    )
  }

  /** It confirms what is held: whatever there was is over. */
  answered(): void {
    if (!this.#isTroubled) return
    this.#isTroubled = false
    this.#said.clear()
    this.#log.info({ event: 'relay-answers' }, 'relay: it answers')
  }

  heldElsewhere(agent: string, { hostname, channel, version }: Holder): void {
    const holder = { hostname, channel, version }
    this.#log.warn({ event: 'relay-held-elsewhere', agent, holder }, 'relay: another instance has the agent')
  }

  taken(agent: string, epoch: number): void {
    this.#log.info({ event: 'relay-taken', agent, epoch }, 'relay: taken from whoever let go')
  }

  undelivered(agent: string, why: string): void {
    this.#log.warn({ event: 'relay-undelivered', agent, why }, 'relay: a message goes back')
  }

  readonly fault = (fault: unknown): void => {
    const cause = fault instanceof Error ? fault.message : String(fault)
    this.#log.error({ event: 'relay-fault', cause }, 'relay: a step failed')
  }
}
