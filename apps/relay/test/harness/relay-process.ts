/** The built relay as a process of its own: started, killed, stopped, and started again on the same folder and port. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A command that ends by itself. */
export function relay(args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env }
  })
  return { code: status, stdout, stderr }
}

export function newToken(store: readonly string[], more: readonly string[] = []): string {
  const { code, stdout, stderr } = relay(['token', 'add', '--account', 'acme', ...store, ...more])
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}

export class RelayProcess {
  readonly #child: ChildProcess
  readonly url: string
  #log = ''

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  /** Resolves once it answers. @throws Error with what it said if it ends instead. */
  static async start(args: readonly string[]): Promise<RelayProcess> {
    const child = spawn(process.execPath, [CLI, 'serve', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    let out = ''
    let log = ''
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      log += text
    })
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').on('data', (text) => {
        out += text
        if (out.includes('\n')) resolve(out.trim())
      })
      child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${log}`)))
    })
    const started = new RelayProcess(child, url)
    started.#log = log
    child.stderr?.on('data', (text) => {
      started.#log += text
    })
    return started
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get log(): string {
    return this.#log
  }

  get port(): string {
    return new URL(this.url).port
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Resolves with its exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode
    const gone = once(this.#child, 'close')
    this.#child.kill(signal)
    await gone
    return this.#child.exitCode ?? this.#child.signalCode
  }
}
