/**
 * What is about to be answered on one link in one family. Answers wait a little, so that several questions get one
 * packet and somebody's known answers can still make ours needless; and nothing is sent twice within a second, however
 * often it is asked for.
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'

export type AnswerKind = 'ptr' | 'srv' | 'txt' | 'addresses' | 'types'

/** The standard's: no record more often than this on a link. A defence of our name may come four times as often. */
const AGAIN_AFTER_MS = 1_000
const DEFENCE_AGAIN_AFTER_MS = 250
const MAX_ASKERS = 64

export interface PendingAnswersOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly send: (kinds: ReadonlySet<AnswerKind>) => void
}

export class PendingAnswers {
  readonly #options: PendingAnswersOptions
  readonly #kinds = new Set<AnswerKind>()
  readonly #sentMs = new Map<AnswerKind, number>()
  /** Who wants our PTR and has not said that it knows it; undefined once they are too many to tell apart. */
  #ptrAskers: Set<string> | undefined = new Set()
  #cancel: CancelTimer | undefined

  constructor(options: PendingAnswersOptions) {
    this.#options = options
  }

  /** `moreToCome`: the asker's known answers continue in another packet, which is waited for. */
  ask(kinds: Iterable<AnswerKind>, { from, moreToCome }: { from: string; moreToCome: boolean }): void {
    for (const kind of kinds) {
      this.#kinds.add(kind)
      if (kind !== 'ptr') continue
      if ((this.#ptrAskers?.size ?? 0) >= MAX_ASKERS) this.#ptrAskers = undefined
      this.#ptrAskers?.add(from)
    }
    if (this.#kinds.size === 0 || this.#cancel) return
    const { clock, random } = this.#options
    const delayMs = moreToCome ? 400 + random() * 100 : 20 + random() * 100
    this.#cancel = clock.after(delayMs, () => this.#flush(AGAIN_AFTER_MS))
  }

  /** That asker knows our PTR already. */
  known(from: string): void {
    this.#ptrAskers?.delete(from)
    if (this.#ptrAskers?.size === 0) this.#kinds.delete('ptr')
  }

  /** Somebody is about to take our name: no waiting. */
  defend(kinds: Iterable<AnswerKind>): void {
    for (const kind of kinds) this.#kinds.add(kind)
    this.#flush(DEFENCE_AGAIN_AFTER_MS)
  }

  /** These have just gone out on their own. */
  sent(kinds: Iterable<AnswerKind>): void {
    for (const kind of kinds) this.#sentMs.set(kind, this.#options.clock.bootMs())
  }

  cancel(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#kinds.clear()
    this.#ptrAskers = new Set()
  }

  #flush(againAfterMs: number): void {
    const nowMs = this.#options.clock.bootMs()
    const due = [...this.#kinds].filter(
      (kind) => nowMs - (this.#sentMs.get(kind) ?? Number.NEGATIVE_INFINITY) >= againAfterMs
    )
    this.cancel()
    if (due.length === 0) return
    this.sent(due)
    this.#options.send(new Set(due))
  }
}
