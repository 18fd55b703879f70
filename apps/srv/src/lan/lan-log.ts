/**
 * What happens on the LAN, as log lines. Names both parties where there are two; no key and no secret is in any (R16). What
 * strangers can make happen is told so often a minute and no more, and what stays as it is, once.
 */
import type { ContestOutcome, DiscoveryEvent, Peer } from '@agentmux/lan-tier'
import type { Clock } from '@agentmux/lease-model'
import type { Log } from '../log/log.js'

const MINUTE_MS = 60_000
/** Peers that come and go. */
const PEER_LINES_A_MINUTE = 60
/** Of the others in one line. */
const MAX_SHOWN = 8
/** Agents of which the last outcome is remembered. */
const MAX_OUTCOMES = 10_000

export class LanLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #outcomes = new Map<string, string>()
  #minute = 0
  #peerLines = 0

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  // Arrows, so that they can be handed over as they are.
  readonly discovery = (event: DiscoveryEvent): void => {
    switch (event.kind) {
      case 'peer-seen':
      case 'peer-gone':
        this.#peer(event.kind, event.peer)
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
      this.#outcomes.delete(uid)
      this.#log.warn(
        { event: 'lan-yield', uid, to },
        'LAN: the agent runs on another computer, which keeps it'
      )
    } else if (!this.#isNews(uid, outcome)) {
      return
    } else if (outcome.holders.length > 0) {
      const others = outcome.holders
        .slice(0, MAX_SHOWN)
        .map(({ hostname, channel, peer: { address } }) => ({ hostname, channel, address }))
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

  /** A look says the same as the one before, most of the time. */
  #isNews(uid: string, outcome: ContestOutcome): boolean {
    const others = 'holders' in outcome ? outcome.holders.map(({ peer: { address } }) => address).sort() : []
    const said = JSON.stringify([outcome.kind, 'because' in outcome ? outcome.because : '', others])
    const isNews = this.#outcomes.get(uid) !== said
    this.#outcomes.delete(uid)
    this.#outcomes.set(uid, said)
    const [oldest] = this.#outcomes.keys()
    if (this.#outcomes.size > MAX_OUTCOMES && oldest !== undefined) this.#outcomes.delete(oldest)
    return isNews
  }

  #peer(kind: 'peer-seen' | 'peer-gone', peer: Peer): void {
    const minute = Math.floor(this.#clock.bootMs() / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#peerLines = 0
    }
    this.#peerLines += 1
    if (this.#peerLines > PEER_LINES_A_MINUTE) return
    this.#log.info({ event: kind, peer: nameOf(peer) }, `LAN: ${kind.replace('-', ' ')}`)
    if (this.#peerLines === PEER_LINES_A_MINUTE) {
      this.#log.warn({ event: 'lan-busy' }, 'LAN: more peers come and go in this minute than are told')
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
