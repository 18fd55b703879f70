/**
 * The messages of one agent on their way from the relay to its pane. Each is claimed, then delivered, one after the other:
 * whoever dies in between loses that one and no other, and none is delivered twice. A claim whose answer was lost is asked
 * again with the same key until it is known; what could not be delivered goes back.
 */
import { randomUUID } from 'node:crypto'
import type { Clock, Holder } from '@agentmux/lease-model'
import type { RelayMessage } from './message-answers.js'
import type { RelayMessages } from './relay-messages.js'
import { concernsAll, refusedForGood } from './unknown-why.js'

export interface InboxPorts {
  readonly agent: string
  readonly messages: RelayMessages
  readonly clock: Clock
  /** Whether the agent is driven here, and messages are still wanted. */
  readonly isWanted: () => boolean
  /** Gives the message to the pane as a turn; false, or a fault, if that failed. */
  readonly deliver: (message: RelayMessage) => Promise<boolean>
  readonly onNotHolder: (holder: Holder) => void
}

/**
 * How a look ended: `failed` has messages that could not be delivered just now; `failed-later` too, but some before them
 * were.
 */
export type Look = 'done' | 'not-known' | 'not-holder' | 'failed' | 'failed-later'

interface Claim {
  readonly message: RelayMessage
  readonly requestKey: string
  readonly beganMs: number
}

/** A relay remembers keys for so long at least. What it would not answer until then must not keep back the rest for ever. */
const KEYS_KNOWN_FOR_MS = 3_600_000

interface Return {
  readonly id: string
  readonly ackedAtMs: number
  readonly requestKey: string
  readonly beganMs: number
}

export class Inbox {
  readonly #ports: InboxPorts
  /** Claims whose answer is not known. At most one for each look. */
  readonly #claims = new Map<string, Claim>()
  /** Ours, not delivered, and not given back yet. */
  readonly #returns = new Map<string, Return>()

  constructor(ports: InboxPorts) {
    this.#ports = ports
  }

  /** Whether something of the agent's is still between the relay and here. */
  get unsettled(): boolean {
    return this.#claims.size > 0 || this.#returns.size > 0
  }

  /** Looks until there is nothing more. Not to be called again before it has ended. */
  async look(): Promise<Look> {
    // What is open from before comes first: it is older than what the relay has now.
    const settled = await this.#settle()
    if (settled !== 'done') return settled
    let delivered = 0
    for (;;) {
      if (!this.#ports.isWanted()) return 'done'
      const pending = await this.#ports.messages.pending(this.#ports.agent)
      if (pending.kind === 'not-holder') return this.#notHolder(pending)
      if (pending.kind === 'unknown') return 'not-known'
      let won = 0
      for (const message of pending.messages) {
        if (!this.#ports.isWanted()) return 'done'
        const look = await this.#claim({
          message,
          requestKey: randomUUID(),
          beganMs: this.#ports.clock.bootMs()
        })
        if (look === 'won') won += 1
        else if (look === 'failed' && delivered + won > 0) return 'failed-later'
        else if (look !== 'lost') return look
      }
      delivered += won
      // A relay that lists what cannot be claimed would keep us here for ever.
      if (won === 0) return 'done'
    }
  }

  /**
   * At the end: gives back what is open, once. A claim without an answer may be ours: the relay knows. False if the relay
   * did not confirm all of it.
   */
  abandon(): Promise<boolean> {
    for (const id of this.#claims.keys()) this.#owe(id)
    this.#claims.clear()
    return this.#giveBackAll()
  }

  async #settle(): Promise<Look> {
    if (!(await this.#giveBackAll())) return 'not-known'
    const { clock } = this.#ports
    for (const claim of [...this.#claims.values()]) {
      if (clock.bootMs() - claim.beganMs > KEYS_KNOWN_FOR_MS) {
        this.#claims.delete(claim.message.id)
        continue
      }
      const look = await this.#claim(claim)
      if (look !== 'won' && look !== 'lost') return look
    }
    return 'done'
  }

  /** `won`: claimed and delivered. `lost`: somebody else's, or gone. */
  async #claim(claim: Claim): Promise<Exclude<Look, 'done' | 'failed-later'> | 'won' | 'lost'> {
    const { agent, messages } = this.#ports
    const { message, requestKey } = claim
    this.#claims.set(message.id, claim)
    const ack = await messages.ack(agent, [message.id], { requestKey })
    if (ack.kind === 'unknown' && !refusedForGood(ack.why)) {
      // Where the answer to this one made no sense, the next one's may.
      return concernsAll(ack.why) ? 'not-known' : 'lost'
    }
    this.#claims.delete(message.id)
    if (ack.kind === 'unknown') return 'lost'
    if (ack.kind === 'not-holder') return this.#notHolder(ack)
    if (ack.ids.length === 0) return 'lost'
    if (await this.#delivered(message)) return 'won'
    this.#owe(message.id)
    await this.#giveBackAll()
    return 'failed'
  }

  #owe(id: string): void {
    const { clock } = this.#ports
    const back = { id, ackedAtMs: clock.wallMs(), requestKey: randomUUID(), beganMs: clock.bootMs() }
    this.#returns.set(id, back)
  }

  async #delivered(message: RelayMessage): Promise<boolean> {
    if (!this.#ports.isWanted()) return false
    try {
      return await this.#ports.deliver(message)
    } catch {
      return false
    }
  }

  #notHolder({ holder, noted }: { holder: Holder; noted: boolean }): Look & ('not-holder' | 'not-known') {
    if (!noted) return 'not-known'
    this.#ports.onNotHolder(holder)
    return 'not-holder'
  }

  /** False if the relay did not confirm all of it. */
  async #giveBackAll(): Promise<boolean> {
    const { agent, messages, clock } = this.#ports
    for (const { id, ackedAtMs, requestKey, beganMs } of [...this.#returns.values()]) {
      const answer = await messages.giveBack(agent, { id, ackedAtMs }, { requestKey })
      const stays = answer.kind === 'unknown' && !refusedForGood(answer.why)
      if (stays && clock.bootMs() - beganMs < KEYS_KNOWN_FOR_MS) return false
      this.#returns.delete(id)
    }
    return true
  }
}
