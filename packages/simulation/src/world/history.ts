/** What happened, who did it and when. Its hash tells two histories apart; its last lines are the story of a failure. */
import { createHash } from 'node:crypto'

export interface Happening {
  readonly atUs: number
  readonly who: string
  readonly what: string
}

export interface Violation {
  readonly rule: string
  readonly what: string
  readonly atUs: number
}

export class History {
  readonly happenings: Happening[] = []
  violation: Violation | undefined
  readonly #hash = createHash('sha256')
  readonly #nowUs: () => number

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  note(who: string, what: string): void {
    const happening = { atUs: this.#nowUs(), who, what }
    this.happenings.push(happening)
    this.#hash.update(`${happening.atUs} ${who} ${what}\n`)
  }

  /** Only the first counts: what comes after it may be its consequence. */
  violate(rule: string, what: string): void {
    if (this.violation !== undefined) return
    this.violation = { rule, what, atUs: this.#nowUs() }
    this.note(rule, `VIOLATED: ${what}`)
  }

  digest(): string {
    return this.#hash.copy().digest('hex')
  }
}
