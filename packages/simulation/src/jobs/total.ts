/** What all histories of a run come to, and what they cost; shown on stderr while it goes on. */
import type { Told } from './told.js'

const SHOWN_EVERY_MS = { terminal: 500, file: 10_000 }

const FATES = ['sent', 'delivered', 'lost', 'waiting'] as const

export class Total {
  readonly #startedMs = performance.now()
  #shownMs = this.#startedMs
  #seeds = 0
  #events = 0
  #virtualMs = 0
  #requests = 0
  #cpuMs = 0
  readonly #messages = { sent: 0, delivered: 0, lost: 0, waiting: 0 }
  #megabytes = 0
  violations = 0

  get elapsedS(): number {
    return (performance.now() - this.#startedMs) / 1_000
  }

  add({ events, virtualMs, requests, messages, cpuMs, megabytes }: Told): void {
    this.#seeds++
    this.#events += events
    this.#virtualMs += virtualMs
    this.#requests += requests
    this.#cpuMs += cpuMs
    for (const fate of FATES) this.#messages[fate] += messages?.[fate] ?? 0
    this.#megabytes = Math.max(this.#megabytes, megabytes)
  }

  get summary(): string {
    return (
      `${this.#seeds} seeds, ${this.#events} events, ${(this.#virtualMs / 86_400_000).toFixed(2)} virtual days, ` +
      `${this.violations} violations, ${Math.round(this.#events / this.elapsedS)} events/s, ` +
      `${Math.round(this.elapsedS)} s; ${Math.round(this.#virtualMs / 1_000)} virtual s, ` +
      `${this.#requests} requests, ${(this.#cpuMs / 1_000).toFixed(1)} s of CPU, ${Math.round(this.#megabytes)} MB${this.#messagesTold}`
    )
  }

  get #messagesTold(): string {
    const { sent, delivered, lost, waiting } = this.#messages
    if (sent === 0) return ''
    return `; ${sent} messages: ${delivered} delivered, ${lost} lost with who died, ${waiting} waiting`
  }

  show(): void {
    const { isTTY } = process.stderr
    if (performance.now() - this.#shownMs < (isTTY ? SHOWN_EVERY_MS.terminal : SHOWN_EVERY_MS.file)) return
    this.#shownMs = performance.now()
    process.stderr.write(isTTY ? `\r${this.summary} ` : `${this.summary}\n`)
  }

  endShow(): void {
    if (process.stderr.isTTY) process.stderr.write('\n')
  }
}
