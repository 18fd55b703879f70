/** What comes of the relay, as log lines. The same trouble is said once, and once that it is over. No token is in any (R16). */
import type { Holder } from '@agentmux/lease-model'
import type { RelayTrouble } from '@agentmux/wan-client'
import type { Log } from '../log/log.js'

export class RelayLog {
  readonly #log: Log
  #trouble = ''

  constructor(log: Log) {
    this.#log = log
  }

  // Arrows, so that they can be handed over as they are.
  readonly trouble = ({ route, agent, why }: RelayTrouble): void => {
    const kind = `${route} ${why}`
    if (kind === this.#trouble) return
    this.#trouble = kind
    this.#log.warn(
      { event: 'relay-trouble', route, agent, why },
      'relay: nothing is known; what runs goes on'
    )
  }

  answered(): void {
    if (this.#trouble === '') return
    this.#trouble = ''
    this.#log.info({ event: 'relay-answers' }, 'relay: it answers again')
  }

  heldElsewhere(agent: string, { hostname, channel, version }: Holder): void {
    const holder = { hostname, channel, version }
    this.#log.warn({ event: 'relay-held-elsewhere', agent, holder }, 'relay: another computer has the agent')
  }

  undelivered(agent: string, why: string): void {
    this.#log.warn({ event: 'relay-undelivered', agent, why }, 'relay: a message goes back')
  }

  readonly fault = (fault: unknown): void => {
    const cause = fault instanceof Error ? fault.message : String(fault)
    this.#log.error({ event: 'relay-fault', cause }, 'relay: a step failed')
  }
}
