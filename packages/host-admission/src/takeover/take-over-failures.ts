/** The answers of a take-over that did not come about, each with the sentence for the person who wanted it. */
import { type AgentRef, type Holder, unnamedHolder } from '@agentmux/lease-model'
import type { LeaseFault } from '@agentmux/lease-store'
import { takeOverMessage, unknownRefusal } from '@agentmux/refusals'
import { refusalOfFault } from '../refusal-of.js'
import type { LetGo } from './ask-to-let-go.js'
import type { Successor } from './hold-file.js'
import { type NotLetGo, whyNotLetGo } from './holder-answer.js'
import type { Located } from './locate-holder.js'
import type { TakeOverPorts, TakeOverResult } from './take-over-answers.js'

type Found = Extract<Located, { kind: 'found' | 'unknown' }>
type Ports = Pick<TakeOverPorts, 'store' | 'clock' | 'advice'>

export class TakeOverFailures {
  readonly #agent: AgentRef
  readonly #ports: Ports

  constructor(agent: AgentRef, ports: Ports) {
    this.#agent = agent
    this.#ports = ports
  }

  /** `holder`: who had it when last seen. */
  ranOut(holder: Holder | undefined, waitedMs: number): TakeOverResult {
    const message = this.#message('ran-out', { holder, waitedMs })
    return holder === undefined ? { kind: 'ran-out', message } : { kind: 'ran-out', holder, message }
  }

  unreadable(fault: LeaseFault): TakeOverResult {
    return { kind: 'unknown', message: refusalOfFault(this.#agent, fault).message }
  }

  anotherComputer(holder: Holder): TakeOverResult {
    return this.#failed('another-computer', holder)
  }

  /** Somebody else drives it by now. */
  outrunBy(holder: Holder): TakeOverResult {
    return this.#failed('outrun', holder)
  }

  /** It is kept for somebody else by now. */
  keptFor({ channel, version }: Successor): TakeOverResult {
    const { hostname } = this.#ports.store.host
    return this.#failed('outrun', { ...unnamedHolder('this-host'), hostname, channel, version })
  }

  /** Nobody could be asked. */
  notThere(found: Found): TakeOverResult {
    return this.#notLetGo(found, 'not-running')
  }

  /** It was asked, and still has it. */
  notLetGo(found: Found, letGo: LetGo): TakeOverResult {
    return this.#notLetGo(found, whyNotLetGo(letGo), letGo)
  }

  #notLetGo(found: Found, why: NotLetGo, letGo?: LetGo): TakeOverResult {
    const { holder } = found
    if (found.kind === 'found') return this.#failed(why, holder, letGo)
    const { retryAfterMs } = found
    const { advice, clock } = this.#ports
    const named = holder.hostname !== '' || holder.pid > 0
    const options = { ...advice, ...(named ? { holder } : { reason: 'unreadable' as const }) }
    const { message } = unknownRefusal(this.#agent, retryAfterMs, clock.wallMs(), options)
    return { kind: 'unknown', message, retryAfterMs }
  }

  #failed(kind: NotLetGo | 'another-computer' | 'outrun', holder: Holder, letGo?: LetGo): TakeOverResult {
    const said = letGo?.answer.kind === 'refused' ? letGo.answer.error : undefined
    return { kind, holder, message: this.#message(kind, { holder, said }) }
  }

  #message(
    failure: Parameters<typeof takeOverMessage>[1],
    options: Parameters<typeof takeOverMessage>[3]
  ): string {
    const { advice, clock } = this.#ports
    return takeOverMessage(this.#agent, failure, clock.wallMs(), { ...advice, ...options })
  }
}
