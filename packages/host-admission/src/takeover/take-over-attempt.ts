/**
 * One take-over under way: whom it has found, what it has reserved, and what comes of it. Keeps true that the agent is
 * reserved before its holder is asked, so that nobody who waits for it is faster.
 */
import type { Holder } from '@agentmux/lease-model'
import type { LeaseFault, LookResult } from '@agentmux/lease-store'
import type { FreedHow } from '@agentmux/refusals'
import type { InstanceEndpoint } from '../instance/instance-endpoint.js'
import { LinkedAbort } from '../linked-abort.js'
import { askToLetGo, type LetGo } from './ask-to-let-go.js'
import { answerOrFree, freeInAMoment, mayHaveLetGo } from './holder-answer.js'
import { type Located, locateHolder } from './locate-holder.js'
import type { Reservation } from './reservation.js'
import type { TakeOverPorts, TakeOverRequest, TakeOverResult } from './take-over-answers.js'
import { TakeOverFailures } from './take-over-failures.js'
import { type WaitResult, waitUntilFree } from './wait-until-free.js'

type Found = Extract<Located, { kind: 'found' | 'unknown' }>

export class TakeOverAttempt {
  readonly #request: TakeOverRequest
  readonly #ports: TakeOverPorts
  readonly #signal: AbortSignal
  readonly #timeoutMs: number
  readonly #reservation: Reservation
  readonly #failures: TakeOverFailures
  /** Who had it when last seen. */
  #holder: Holder | undefined

  constructor(
    request: TakeOverRequest,
    ports: TakeOverPorts,
    { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }
  ) {
    this.#request = request
    this.#ports = ports
    this.#signal = signal
    this.#timeoutMs = timeoutMs
    this.#failures = new TakeOverFailures(request.agent, ports)
    const { channel, version } = ports.instance
    const { ownerBootId } = ports.store.instance
    const alone = request.reserveFor === 'this-process'
    const successor = { channel, version, ...(alone ? { ownerBootId } : {}) }
    this.#reservation = ports.holds.newReservation(request.agent.uid, successor)
  }

  async run(): Promise<TakeOverResult> {
    let located = await this.#locate()
    if (located.kind === 'nobody') {
      const placed = this.#reservation.place()
      if (placed.kind === 'outrun') return this.#failures.keptFor(placed.by)
      if (this.#isFree()) return this.#confirmed({ kind: 'free' })
      // Somebody claimed it before the reservation stood.
      located = await this.#locate()
    }
    switch (located.kind) {
      case 'nobody':
        return this.#confirmed({ kind: 'free' })
      case 'this-process':
        return { kind: 'this-process', blockId: located.lease.blockId }
      case 'another-computer':
        return this.#failures.anotherComputer(located.holder)
      default:
        return this.#takeFrom(located)
    }
  }

  ranOut(): TakeOverResult {
    return this.#failures.ranOut(this.#holder, this.#timeoutMs)
  }

  unreadable(fault: LeaseFault): TakeOverResult {
    return this.#failures.unreadable(fault)
  }

  /** Takes back the hold that is for us, the holder's as well. */
  leaveNothing(): void {
    this.#reservation.withdraw()
  }

  async #takeFrom(found: Found): Promise<TakeOverResult> {
    const { holder, endpoints } = found
    this.#holder = holder
    if (endpoints.length === 0) return this.#failures.notThere(found)
    // Before anybody lets go: whoever waits for the agent would be faster than we.
    const placed = this.#reservation.place()
    if (placed.kind === 'outrun') return this.#failures.keptFor(placed.by)
    const asking = new LinkedAbort(this.#signal)
    const watching = new LinkedAbort(this.#signal)
    try {
      const asked = this.#ask(found, asking.signal)
      const free = this.#whenFree(watching.signal)
      const patience = { clock: this.#ports.clock, signal: asking.signal }
      const letGo = await answerOrFree(asked, free, patience)
      if (letGo !== undefined && !mayHaveLetGo(letGo, found)) {
        const over =
          letGo.answer.kind === 'no-answer'
            ? await freeInAMoment(free, patience)
            : (await this.#locate()).kind === 'nobody'
        if (!over) return this.#failures.notLetGo(found, letGo)
      }
      if ((await free).kind === 'ran-out') return this.ranOut()
      const { answer, endpoint } = letGo ?? {}
      const letGoForUs = answer?.kind === 'released' && answer.count > 0
      const fromChannel = holder.channel || endpoint?.channel || ''
      const how = this.#freedHow(answer?.kind === 'released')
      return this.#confirmed({ kind: 'released', fromChannel, holder, how }, letGoForUs)
    } finally {
      for (const abort of [asking, watching]) {
        abort.unlink()
        abort.abort(new Error('the take-over has ended'))
      }
    }
  }

  #ask({ holder, endpoints }: Found, signal: AbortSignal): Promise<LetGo | undefined> {
    const { channel, version } = this.#ports.instance
    const { uid, name } = this.#request.agent
    const request = {
      uid,
      ...(name === undefined ? {} : { agent: name }),
      requestedByChannel: channel,
      requestedByVersion: version
    }
    const onAsking = (endpoint: InstanceEndpoint) => {
      this.#request.onProgress?.({ kind: 'asking', holder, endpoint })
    }
    return askToLetGo(endpoints, request, { client: this.#ports.client, signal, onAsking })
  }

  #whenFree(signal: AbortSignal): Promise<WaitResult> {
    const { store, others, clock } = this.#ports
    return waitUntilFree(this.#uid, {
      store,
      others,
      clock,
      signal,
      timeoutMs: this.#timeoutMs,
      onStillHeld: (holder) => {
        this.#holder = holder
        this.#request.onProgress?.({ kind: 'waiting', holder })
      }
    })
  }

  /** `saidSo`: the holder has answered that it let go. */
  #freedHow(saidSo: boolean): FreedHow {
    const look = this.#look()
    if (look.kind === 'over') return look.why === 'dead' ? 'died' : 'ran-out'
    return saidSo ? 'let-go' : 'ended'
  }

  /** Anew: it is kept for 30 s from here on. Whoever has been faster is left alone. */
  async #confirmed(
    result: Extract<TakeOverResult, { kind: 'free' | 'released' }>,
    letGoForUs = false
  ): Promise<TakeOverResult> {
    const confirmed = this.#reservation.confirm({ letGoForUs })
    if (confirmed.kind === 'outrun') return this.#failures.keptFor(confirmed.by)
    if (this.#isFree()) return result
    // Claimed by now: by whom it was kept for, if that is our channel, or while nothing stood there for us.
    const located = await this.#locate()
    if (located.kind === 'nobody') return result
    if (located.kind === 'this-process') return { kind: 'this-process', blockId: located.lease.blockId }
    return this.#isOurs(located.holder) ? result : this.#failures.outrunBy(located.holder)
  }

  /** Whether it has gone to whom we have kept it for. */
  #isOurs({ channel, version }: Holder): boolean {
    const { instance } = this.#ports
    const anyOfOurs = this.#request.reserveFor !== 'this-process'
    return anyOfOurs && channel === instance.channel && version === instance.version
  }

  #locate(): Promise<Located> {
    const { store, held, others } = this.#ports
    return locateHolder(this.#uid, { store, held, others, signal: this.#signal })
  }

  #isFree(): boolean {
    const look = this.#look()
    return look.kind === 'free' || look.kind === 'over'
  }

  #look(): LookResult {
    const { store } = this.#ports
    return store.liveHolderOtherThan(this.#uid, store.instance.ownerBootId)
  }

  get #uid(): string {
    return this.#request.agent.uid
  }
}
