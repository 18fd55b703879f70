/**
 * The command while it runs: the process that drives the agent. Keeps true that its end is reported once, and that
 * nothing is sent to its pid after that.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { plainText } from '@agentmux/refusals'
import { exitStatus } from './exit-status.js'
import { say } from './output.js'

export interface DriverCommand {
  /** What to start, as found. */
  readonly path: string
  /** How the person called it: its argv[0], and its name in messages. */
  readonly name: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Its own session and process group; otherwise it shares ours, and our terminal. */
  readonly ownGroup: boolean
}

const SHOWN_LENGTH = 200
const CANNOT_RUN = 126
const NOT_FOUND = 127
export class Driver {
  /** Resolves with the exit code, as a shell would report it; 126 or 127 if it could not be started. */
  readonly ended: Promise<number>
  /** Undefined if it could not be started. */
  readonly pid: number | undefined
  readonly #ownGroup: boolean
  readonly #name: string
  #running: boolean

  constructor(command: DriverCommand) {
    this.#ownGroup = command.ownGroup
    this.#name = plainText(command.name, SHOWN_LENGTH)
    const child = spawnQuietly(command)
    this.pid = child instanceof Error ? undefined : child.pid
    this.#running = this.pid !== undefined
    this.ended = new Promise((resolve) => {
      if (child instanceof Error) return resolve(this.#notStarted(child))
      child.once('error', (error) => {
        if (child.pid === undefined) resolve(this.#notStarted(error))
      })
      child.once('exit', (code, signal) => {
        this.#running = false
        resolve(exitStatus(code, signal))
      })
    })
  }

  get running(): boolean {
    return this.#running
  }

  /** To it alone: what it started is its own business while it runs. */
  signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined || !this.#running) return
    try {
      process.kill(this.pid, signal)
    } catch (error) {
      // It runs as another user (sudo, say), or is gone.
      if (isNotPermitted(error))
        say(`${this.#name} (pid ${this.pid}) may not be signalled by us: no ${signal}`)
    }
  }

  /** With its group, if that is its own. */
  kill(): void {
    if (this.pid === undefined || !this.#running) return
    try {
      process.kill(this.#ownGroup ? -this.pid : this.pid, 'SIGKILL')
    } catch {
      // Gone, or not ours to kill: whoever waits for its end finds out.
    }
  }

  #notStarted(error: NodeJS.ErrnoException): number {
    say(`${this.#name} could not be started: ${error.message}`)
    return error.code === 'ENOENT' ? NOT_FOUND : CANNOT_RUN
  }
}

/** Some failures are thrown (too many arguments), others come as an event: both are answers here. */
function spawnQuietly(command: DriverCommand): ChildProcess | Error {
  const { path, name, args, environment, ownGroup } = command
  try {
    return spawn(path, args, { argv0: name, stdio: 'inherit', env: environment, detached: ownGroup })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function isNotPermitted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPERM'
}
