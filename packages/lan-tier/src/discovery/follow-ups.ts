/**
 * Questions about peers that are not complete: each asked three times at most, a packet of them at a time, two packets a
 * second, however many names a stranger makes up.
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import { FairMap } from '../peers/fair-map.js'
import type { DnsQuestion } from './dns-message.js'

const LIMITS = { total: 256, perSource: 32 }
const MAX_TRIES = 3
const QUESTIONS_PER_PACKET = 10
const PACKET_GAP_MS = 500
const FIRST_AFTER_MS = 100

interface FollowUp {
  readonly question: DnsQuestion
  tries: number
  dueMs: number
}

export class FollowUps {
  readonly #clock: Clock
  readonly #ask: (questions: readonly DnsQuestion[]) => void
  readonly #open = new FairMap<FollowUp>(LIMITS)
  #cancel: CancelTimer | undefined

  constructor(clock: Clock, ask: (questions: readonly DnsQuestion[]) => void) {
    this.#clock = clock
    this.#ask = ask
  }

  want(questions: readonly { name: string; type: string }[], source: string): void {
    for (const { name, type } of questions) {
      const key = keyOf(name, type)
      if (this.#open.get(key)) continue
      const question = { name, type, class: 'IN' }
      this.#open.set(key, { question, tries: 0, dueMs: this.#clock.bootMs() + FIRST_AFTER_MS }, source)
    }
    this.#arm(FIRST_AFTER_MS)
  }

  /** An answer came, so nobody need be asked. */
  answered(records: readonly { readonly name: string; readonly type: string }[]): void {
    if (this.#open.size === 0) return
    for (const { name, type } of records) this.#open.delete(keyOf(name, type))
  }

  cancel(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#open.clear()
  }

  #arm(afterMs: number): void {
    if (this.#cancel || this.#open.size === 0) return
    this.#cancel = this.#clock.after(afterMs, () => {
      this.#cancel = undefined
      this.#round()
    })
  }

  #round(): void {
    const nowMs = this.#clock.bootMs()
    const due: DnsQuestion[] = []
    for (const [key, followUp] of [...this.#open.entries()]) {
      if (followUp.dueMs > nowMs) continue
      if (followUp.tries >= MAX_TRIES) {
        this.#open.delete(key)
        continue
      }
      if (due.length >= QUESTIONS_PER_PACKET) break
      due.push(followUp.question)
      followUp.tries++
      followUp.dueMs = nowMs + 1_000 * 2 ** (followUp.tries - 1)
    }
    if (due.length > 0) this.#ask(due)
    this.#arm(PACKET_GAP_MS)
  }
}

const keyOf = (name: string, type: string): string => `${type} ${name.toLowerCase()}`
