/** A seeded source of chance. Everything that is random in a world comes from one of these, so that a seed is a history. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, stream = 0) {
    this.#a = seed >>> 0
    this.#b = Math.floor(seed / 2 ** 32) >>> 0
    this.#c = (stream ^ 0x9e3779b9) >>> 0
    for (let round = 0; round < 15; round++) this.#next()
  }

  /** 0 up to 1, 1 excluded. */
  float(): number {
    return this.#next() / 2 ** 32
  }

  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.float() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.float() < probability
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.int(0, values.length - 1)]
    if (value === undefined) throw new RangeError('nothing to pick from')
    return value
  }

  /** A version 4 UUID. */
  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.#next().toString(16).padStart(8, '0')).join('')
    const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
  }

  /** sfc32. */
  #next(): number {
    const sum = (((this.#a + this.#b) >>> 0) + this.#counter) >>> 0
    this.#counter = (this.#counter + 1) >>> 0
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0
    this.#b = (this.#c + (this.#c << 3)) >>> 0
    this.#c = ((((this.#c << 21) | (this.#c >>> 11)) >>> 0) + sum) >>> 0
    return sum
  }
}
