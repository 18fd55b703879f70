/**
 * The rules for messages of the relay: nobody but the holder reads or claims one, none is delivered that was not claimed, none
 * twice, and none is let go by whoever has it. What became of each is known at the end.
 */
import type { Process } from '../kernel/process.js'
import type { MessageReport } from '../programs/message-reports.js'
import type { World } from '../world/world.js'

export type MessageCall = Extract<MessageReport, { kind: 'message-call' }>

export interface Message {
  readonly id: string
  readonly account: string
  readonly agent: string
  readonly text: string
  /** Who claimed it, by which call; undefined while it waits. */
  won: { readonly holder: string; readonly requestKey: string; readonly process: Process } | undefined
  /** The call by which it was last given back. */
  givenBackKey: string | undefined
  delivered: boolean
}

export interface MessageRulesParts {
  readonly world: World
  readonly accountOf: (process: Process) => string
  /** Who holds an agent at the relay, by what it has told the rules. */
  readonly holderOf: (account: string, agent: string) => string | undefined
}

export class MessageRules {
  readonly #parts: MessageRulesParts
  readonly #byId = new Map<string, Message>()
  readonly #byText = new Map<string, Message>()
  /** What senders were told the relay has. */
  readonly #sent = new Map<string, string>()

  constructor(parts: MessageRulesParts) {
    this.#parts = parts
  }

  get all(): Iterable<Message> {
    return this.#byId.values()
  }

  textOf(id: string): string {
    return this.#byId.get(id)?.text ?? ''
  }

  /** Text by id. */
  get promised(): ReadonlyMap<string, string> {
    return this.#sent
  }

  called(call: MessageCall): void {
    if (call.status !== 200) return
    if (call.call === 'inject') this.#injected(call)
    else if (call.call === 'pending') this.#onlyTheHolder(call, 'reads')
    else if (call.call === 'ack') for (const id of call.ids) this.#won(id, call)
    else for (const id of call.ids) this.#givenBack(id, call)
  }

  sent(process: Process, { id, text }: { id: string; text: string }): void {
    this.#parts.world.history.note(process.label, `is told that the relay has ${text}`)
    this.#sent.set(id, text)
  }

  delivered(process: Process, { text, uid }: { text: string; uid: string }): void {
    const { history } = this.#parts.world
    history.note(process.label, `delivers ${text}`)
    const message = this.#byText.get(text)
    const wrong = this.#whyNot(process, uid, message)
    if (wrong !== undefined) history.violate('messages', `${process.label} delivers ${text}, ${wrong}`)
    if (message !== undefined) message.delivered = true
  }

  #whyNot(process: Process, uid: string, message: Message | undefined): string | undefined {
    if (message === undefined) return 'which the relay never had'
    if (message.agent !== uid) return `to ${uid}`
    if (message.account !== this.#parts.accountOf(process))
      return `which is of the account ${message.account}`
    if (message.delivered) return 'which has been delivered before'
    return message.won?.process === process ? undefined : 'which it has not claimed'
  }

  #injected({ ids, account, agent, text }: MessageCall): void {
    const [id = ''] = ids
    const before = this.#byText.get(text)
    const { history } = this.#parts.world
    if (before !== undefined) {
      if (before.id !== id) history.violate('messages', `the relay keeps ${text} twice`)
      return
    }
    history.note('relay', `has ${text}`)
    const message = {
      id,
      account,
      agent,
      text,
      won: undefined,
      givenBackKey: undefined,
      delivered: false
    }
    this.#byId.set(id, message)
    this.#byText.set(text, message)
  }

  /** The answer to a call that was made before is given again, to whom it was given; nothing else is. */
  #won(id: string, call: MessageCall): void {
    const { history } = this.#parts.world
    const message = this.#byId.get(id)
    if (message === undefined) {
      history.violate('messages', `the relay gives out ${id}, which nobody sent`)
      return
    }
    const { won } = message
    if (won !== undefined) {
      if (won.holder === call.holder && won.requestKey === call.requestKey) return
      history.violate('messages', `the relay gives ${message.text} to two`)
    }
    this.#onlyTheHolder(call, 'claims')
    const process = call.asker as Process
    message.won = { holder: call.holder, requestKey: call.requestKey, process }
    history.note('relay', `gives ${message.text} to ${process.label}`)
  }

  #givenBack(id: string, { holder, requestKey, asker }: MessageCall): void {
    const { history } = this.#parts.world
    const message = this.#byId.get(id)
    if (message?.won === undefined || message.givenBackKey === requestKey) return
    const who = (asker as Process).label
    if (message.won.holder !== holder)
      history.violate('messages', `${who} gives back ${message.text}, which another has`)
    if (message.delivered)
      history.violate('messages', `${who} gives back ${message.text}, which was delivered`)
    history.note('relay', `has ${message.text} back from ${who}`)
    message.won = undefined
    message.givenBackKey = requestKey
  }

  #onlyTheHolder({ account, agent, holder, asker }: MessageCall, what: string): void {
    const now = this.#parts.holderOf(account, agent)
    if (now === holder) return
    this.#parts.world.history.violate(
      'messages',
      `${(asker as Process).label} ${what} messages of ${agent}, which ${now ?? 'nobody'} holds`
    )
  }
}
