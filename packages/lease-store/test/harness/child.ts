/** Real processes with a store of their own: test/children/holder.mjs, driven line by line. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const HOLDER = fileURLToPath(new URL('../children/holder.mjs', import.meta.url))

// biome-ignore lint/suspicious/noExplicitAny: answers of another process; each test says what it expects
export type Answer = any

export interface ChildOptions {
  /** Options of the child's store that survive JSON. */
  readonly store?: object
  /** What the child is started through: `['unshare', '-p', …]`. */
  readonly through?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export class Child {
  readonly process: ChildProcess
  readonly #answers: ((answer: Answer) => void)[] = []
  readonly #refusals: ((error: Error) => void)[] = []
  #errors = ''

  constructor(root: string, { store = {}, through = [], env = {} }: ChildOptions = {}) {
    const command = [...through, process.execPath, HOLDER, root, JSON.stringify(store)]
    this.process = spawn(command[0] as string, command.slice(1), {
      stdio: 'pipe',
      env: { ...process.env, ...env }
    })
    this.process.stderr?.on('data', (data) => {
      this.#errors += data
    })
    // A pipe to a process that was killed: the exit tells.
    this.process.stdin?.on('error', () => {})
    const lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      this.#refusals.shift()
      this.#answers.shift()?.(JSON.parse(line))
    })
    this.process.on('close', (code, signal) => {
      const error = new Error(`the child ended (${signal ?? code}): ${this.#errors}`)
      for (const refuse of this.#refusals.splice(0)) refuse(error)
    })
    onTestFinished(() => this.end())
  }

  get pid(): number {
    return this.process.pid as number
  }

  do(operation: string, details: object = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#answers.push(resolve)
      this.#refusals.push(reject)
      this.process.stdin?.write(`${JSON.stringify({ operation, ...details })}\n`)
    })
  }

  /** Sends a signal and waits until it has had its effect: the process is stopped, runs again, or is gone. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void> {
    process.kill(this.pid, signal)
    if (signal === 'SIGKILL') await this.ended()
    if (signal === 'SIGSTOP') {
      while (!/\) T /.test(readFileSync(`/proc/${this.pid}/stat`, 'latin1'))) {
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
  }

  async ended(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    await new Promise((resolve) => this.process.once('exit', resolve))
  }

  async end(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.ended()
  }
}
