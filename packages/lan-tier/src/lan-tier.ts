/**
 * The LAN as the admission of an agent sees it: asked before a spawn, it says who drives the agent on another computer.
 * It detects and fails open (R7): what it could not find out is `unknown`, with the reason, never "free" (R8).
 */
import type { AgentRef } from '@agentmux/lease-model'
import { LanHoldings, type LanHoldingsOptions } from './holdings/lan-holdings.js'
import type { LanHolder, SilentPeer } from './holdings/lan-look.js'
import { type LanVerdict, verdictOf } from './holdings/verdict.js'

export type HeldOnLan =
  | { readonly kind: 'held'; readonly holder: LanHolder }
  | { readonly kind: 'free' }
  /** `why`: in a few words, for the log. */
  | { readonly kind: 'unknown'; readonly why: string }

/** For `doctor` and the log. */
export interface LanState {
  readonly peers: number
  /** Whether only signed answers count. Without a secret a stranger on the network can stop agents. */
  readonly signed: boolean
  /** Peers that are not seen because they do not sign: older builds, and strangers. Of the last round to everybody. */
  readonly unsigned: number
}

export interface LanTierOptions extends LanHoldingsOptions {
  /** Asked through this one, which the re-check shares; its own unless given. Whoever gives it closes it. */
  readonly holdings?: LanHoldings
}

export class LanTier {
  readonly name = 'lan'
  readonly holdings: LanHoldings
  readonly #options: LanTierOptions
  readonly #ownHoldings: boolean

  constructor(options: LanTierOptions) {
    this.#options = options
    this.#ownHoldings = options.holdings === undefined
    this.holdings = options.holdings ?? new LanHoldings(options)
  }

  /** Whoever holds it keeps it, whenever he started: a newcomer yields (R2). Reads only. */
  async heldElsewhere(agent: AgentRef, signal: AbortSignal): Promise<HeldOnLan> {
    const verdict = await this.verdict(agent.uid, signal)
    switch (verdict.kind) {
      case 'held':
        return { kind: 'held', holder: verdict.holder }
      case 'free':
        return { kind: 'free' }
      default:
        return { kind: 'unknown', why: whyUnknown(verdict) }
    }
  }

  /** The same in full, for `who`. */
  async verdict(uid: string, signal?: AbortSignal): Promise<LanVerdict> {
    return verdictOf(await this.holdings.lanHolders(uid, signal))
  }

  state(): LanState {
    const { peers, secret } = this.#options
    return { peers: peers().length, signed: secret !== undefined, unsigned: this.holdings.unsigned }
  }

  async close(): Promise<void> {
    if (this.#ownHoldings) await this.holdings.close()
  }
}

function whyUnknown({ silent, ...of }: Extract<LanVerdict, { kind: 'partly' | 'unknown' }>): string {
  const total = silent.length + (of.kind === 'partly' ? of.answered : 0)
  return `${silent.length} of ${total} peers gave no answer that counts (${reasonsOf(silent)})`
}

function reasonsOf(silent: readonly SilentPeer[]): string {
  const counts = new Map<string, number>()
  for (const { why } of silent) counts.set(why, (counts.get(why) ?? 0) + 1)
  return Array.from(counts, ([why, count]) => `${count} ${why}`).join(', ')
}
