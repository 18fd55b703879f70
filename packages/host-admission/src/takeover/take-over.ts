/**
 * Takes an agent over from whoever drives it on this computer: finds the holder, asks it to let go, waits until it has,
 * and keeps the agent for us, so that whoever restarts the old holder does not win it back. Only where a person has
 * confirmed it (R5). Whatever else it comes to, it leaves nothing behind.
 */
import { type Holder, unnamedHolder } from '@agentmux/lease-model'
import { LeaseFault, type LookResult, leaseKey } from '@agentmux/lease-store'
import { type FreedHow, type TakeOverFailure, takeOverMessage, unknownRefusal } from '@agentmux/refusals'
import type { InstanceEndpoint } from '../instance/instance-endpoint.js'
import { LinkedAbort } from '../linked-abort.js'
import { refusalOfFault } from '../refusal-of.js'
import { askToLetGo, type LetGo } from './ask-to-let-go.js'
import { answerOrFree, freeInAMoment, mayHaveLetGo, type NotLetGo, whyNotLetGo } from './holder-answer.js'
import { type Located, locateHolder } from './locate-holder.js'
import type { Reservation, ReservedOr } from './reservation.js'
import type { TakeOverPorts, TakeOverRequest, TakeOverResult } from './take-over-answers.js'
import { type WaitResult, waitUntilFree } from './wait-until-free.js'

type Found = Extract<Located, { kind: 'found' | 'unknown' }>

/** From beginning to end. */
export const TAKE_OVER_TIMEOUT_MS = 25_000

/**
 * After `free` and `released` the agent is kept for us for 30 s: claim it, others are turned away.
 *
 * @throws the signal's reason when aborted; TypeError or RangeError for what cannot be a UID.
 */
export async function takeOver(request: TakeOverRequest, ports: TakeOverPorts): Promise<TakeOverResult> {
  leaseKey(request.agent.uid)
  const { clock } = ports
  const bound = new LinkedAbort(request.signal)
  const ranOut = new Error('it was not free in time')
  const timeoutMs = request.timeoutMs ?? TAKE_OVER_TIMEOUT_MS
  const cancelTimer = clock.after(timeoutMs, () => bound.abort(ranOut))
  const takeOver = new TakeOver(request, ports, { signal: bound.signal, timeoutMs })
  let result: TakeOverResult | undefined
  try {
    result = await takeOver.run()
    request.signal?.throwIfAborted()
    return result
  } catch (error) {
    result = undefined
    if (error === ranOut) return takeOver.ranOut()
    if (error instanceof LeaseFault) return takeOver.unreadable(error)
    throw error
  } finally {
    cancelTimer()
    bound.unlink()
    if (result?.kind !== 'free' && result?.kind !== 'released') takeOver.leaveNothing()
  }
}

class TakeOver {
  readonly #request: TakeOverRequest
  readonly #ports: TakeOverPorts
  readonly #signal: AbortSignal
  readonly #timeoutMs: number
  readonly #reservation: Reservation
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
      if (placed.kind === 'outrun') return this.#outrunBy(placed)
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
        return this.#failed('another-computer', located.holder)
      default:
        return this.#takeFrom(located)
    }
  }

  ranOut(): TakeOverResult {
    const holder = this.#holder
    const message = this.#message('ran-out', { holder, waitedMs: this.#timeoutMs })
    return holder === undefined ? { kind: 'ran-out', message } : { kind: 'ran-out', holder, message }
  }

  unreadable(fault: LeaseFault): TakeOverResult {
    return { kind: 'unknown', message: refusalOfFault(this.#request.agent, fault).message }
  }

  /** Takes back the hold that is for us, the holder's as well. */
  leaveNothing(): void {
    this.#reservation.withdraw()
  }

  async #takeFrom(found: Found): Promise<TakeOverResult> {
    const { holder, endpoints } = found
    this.#holder = holder
    if (endpoints.length === 0) return this.#notLetGo(found, 'not-running')
    // Before anybody lets go: whoever waits for the agent would be faster than we.
    const placed = this.#reservation.place()
    if (placed.kind === 'outrun') return this.#outrunBy(placed)
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
        if (!over) return this.#notLetGo(found, whyNotLetGo(letGo), letGo)
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
    if (confirmed.kind === 'outrun') return this.#outrunBy(confirmed)
    if (this.#isFree()) return result
    // Claimed while nothing stood there for us: by another take-over that was kept for its process alone.
    const located = await this.#locate()
    if (located.kind === 'this-process') return { kind: 'this-process', blockId: located.lease.blockId }
    return located.kind === 'nobody' ? result : this.#failed('outrun', located.holder)
  }

  #outrunBy({ by }: Extract<ReservedOr, { kind: 'outrun' }>): TakeOverResult {
    const { host } = this.#ports.store
    const { channel, version } = by
    return this.#failed('outrun', {
      ...unnamedHolder('this-host'),
      hostname: host.hostname,
      channel,
      version
    })
  }

  #notLetGo(found: Found, why: NotLetGo, letGo?: LetGo): TakeOverResult {
    const { holder } = found
    if (found.kind === 'found') return this.#failed(why, holder, letGo)
    const { agent } = this.#request
    const { retryAfterMs } = found
    const named = holder.hostname !== '' || holder.pid > 0
    const known = named ? { holder } : { reason: 'unreadable' as const }
    const { advice, clock } = this.#ports
    const { message } = unknownRefusal(agent, retryAfterMs, clock.wallMs(), { ...advice, ...known })
    return { kind: 'unknown', message, retryAfterMs }
  }

  #failed(kind: NotLetGo | 'another-computer' | 'outrun', holder: Holder, letGo?: LetGo): TakeOverResult {
    const said = letGo?.answer.kind === 'refused' ? letGo.answer.error : undefined
    return { kind, holder, message: this.#message(kind, { holder, said }) }
  }

  #message(failure: TakeOverFailure, options: Parameters<typeof takeOverMessage>[3]): string {
    const { advice, clock } = this.#ports
    return takeOverMessage(this.#request.agent, failure, clock.wallMs(), { ...advice, ...options })
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
