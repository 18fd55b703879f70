/** A process that a test has started: what it says, and how it ends. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { locksOf, stateOf } from './processes.js'
import { until } from './until.js'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export class Program {
  readonly pid: number
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    if (child.pid === undefined) throw new Error(`${child.spawnfile} could not be started`)
    this.pid = child.pid
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text
    })
    // `close` comes after the last output, but what it left running may keep the pipes open.
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        const done = () => resolve({ code, signal, stdout: this.stdout, stderr: this.stderr })
        const timer = setTimeout(done, 1_000)
        child.once('close', () => {
          clearTimeout(timer)
          done()
        })
      })
    })
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Only while it runs: its pid is ours to signal no longer than that. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) process.kill(this.pid, signal)
  }

  /**
   * Stops it, but not inside a lock that it only passes through: there it would keep everybody out, which is another test.
   * `kept`: how many locks it has all the time, a daemon one.
   */
  async stop(kept = 0): Promise<void> {
    for (;;) {
      this.signal('SIGSTOP')
      await until(`pid ${this.pid} is stopped`, () => stateOf(this.pid) === 'T')
      if (locksOf(this.pid) <= kept) return
      this.signal('SIGCONT')
      await sleep(20)
    }
  }

  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  endInput(): void {
    this.#child.stdin?.end()
  }

  /** Tells it something on descriptor 3. */
  control(line: string): void {
    const stream = this.#child.stdio[3]
    if (stream && 'write' in stream) stream.write(`${line}\n`)
  }

  /** Closes our end of its stdout and stderr: whatever it writes from now on fails. */
  closeOutput(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#shows('stderr', pattern)
  }

  prints(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#shows('stdout', pattern)
  }

  #shows(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    return until(`${stream} of pid ${this.pid} shows ${pattern}`, () => {
      const match = pattern.exec(this[stream])
      if (match === null && !this.running && this.#child.stdout?.closed) {
        throw new Error(`it ended and never showed ${pattern}: ${this.stdout}${this.stderr}`)
      }
      return match
    })
  }
}
