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

const HASHED_AT_ONCE = 16_384

export class History {
  readonly happenings: Happening[] = []
  violation: Violation | undefined
  /** Whether the story can be told: not of hours, which would not fit into memory. */
  keeps = true
  readonly #hash = createHash('sha256')
  /** Noted, and not in the hash yet. */
  #unhashed = ''
  readonly #nowUs: () => number

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  note(who: string, what: string): void {
    const happening = { atUs: this.#nowUs(), who, what }
    if (this.keeps) this.happenings.push(happening)
    this.#unhashed += `${happening.atUs} ${who} ${what}\n`
    if (this.#unhashed.length > HASHED_AT_ONCE) this.#hashAll()
  }

  /** Only the first counts: what comes after it may be its consequence. */
  violate(rule: string, what: string): void {
    if (this.violation !== undefined) return
    this.violation = { rule, what, atUs: this.#nowUs() }
    this.note(rule, `VIOLATED: ${what}`)
  }

  #hashAll(): void {
    this.#hash.update(this.#unhashed)
    this.#unhashed = ''
  }

  digest(): string {
    this.#hashAll()
    return this.#hash.copy().digest('hex')
  }
}
