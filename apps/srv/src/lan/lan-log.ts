/** What happens on the LAN, as log lines. Names both parties where there are two; no key and no secret is in any (R16). */
import type { ContestOutcome, DiscoveryEvent, Peer } from '@agentmux/lan-tier'
import type { Log } from '../log/log.js'

export class LanLog {
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  // Arrows, so that they can be handed over as they are.
  readonly discovery = (event: DiscoveryEvent): void => {
    switch (event.kind) {
      case 'peer-seen':
      case 'peer-gone':
        this.#log.info(
          { event: event.kind, peer: nameOf(event.peer) },
          `LAN: ${event.kind.replace('-', ' ')}`
        )
        break
      case 'peer-changed':
        this.#log.debug({ event: event.kind, peer: nameOf(event.peer) }, 'LAN: peer changed')
        break
      case 'fault':
        this.#log.warn(
          { event: 'lan-fault', fault: event.fault, interface: event.interface, cause: wordsOf(event.cause) },
          'LAN: discovery goes on without it'
        )
        break
      default:
        this.#log.info({ ...event, event: `lan-${event.kind}` }, `LAN: ${event.kind}`)
    }
  }

  readonly outcome = (uid: string, outcome: ContestOutcome): void => {
    if (outcome.kind === 'yield') {
      const { hostname, channel, version, acquiredAtMs, peer } = outcome.to
      const to = { hostname, channel, version, acquired_at_ms: acquiredAtMs, address: peer.address }
      this.#log.warn(
        { event: 'lan-yield', uid, to },
        'LAN: the agent runs on another computer, which keeps it'
      )
    } else if (outcome.holders.length > 0) {
      const others = outcome.holders.map(({ hostname, channel }) => ({ hostname, channel }))
      this.#log.warn(
        { event: 'lan-contest', uid, outcome: outcome.kind, others },
        'LAN: another one has to yield'
      )
    } else if (outcome.kind === 'unknown') {
      this.#log.info(
        { event: 'lan-unknown', uid, because: outcome.because },
        'LAN: not known whether it runs elsewhere'
      )
    }
  }

  readonly listening = (addresses: readonly string[]): void => {
    this.#log.info({ event: 'lan-listening', addresses }, 'LAN: where other computers reach us')
  }

  readonly notListening = (address: string, fault: Error): void => {
    const cause = wordsOf(fault)
    this.#log.warn({ event: 'lan-not-listening', address, cause }, 'LAN: not reachable at one address')
  }

  readonly fault = (fault: unknown): void => {
    this.#log.error({ event: 'lan-fault', cause: wordsOf(fault) }, 'LAN: a look failed')
  }

  turned(on: boolean, signed: boolean): void {
    this.#log.info({ event: on ? 'lan-on' : 'lan-off', signed }, `LAN: turned ${on ? 'on' : 'off'}`)
  }
}

function nameOf({ instanceId, hostname, channel, version, address, port }: Peer) {
  return { instance_id: instanceId, hostname, channel, version, address, port }
}

function wordsOf(cause: unknown): string | undefined {
  if (cause === undefined) return undefined
  return cause instanceof Error ? cause.message : String(cause)
}
