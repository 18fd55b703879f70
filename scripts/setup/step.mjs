/**
 * One step of the set-up: a child process whose output is kept and shown only if it fails. An interruption is passed
 * on and waited for, so that the set-up never ends before what it started.
 */
import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Lines that usually say why, the telling ones first. */
const CAUSES = [
  /\berror TS\d+/,
  /FetchError|request to .* failed/,
  /gyp ERR! (stack Error|find)/,
  /\bERR_[A-Z_]+|\bE[A-Z]{4,}\b.*(registry|connect|getaddrinfo)/,
  /not found: |No such file|Cannot find|Could not resolve/,
  /\berror\b/i
]

export class StepFailed extends Error {
  constructor(step, cause, log) {
    super(`${step} failed: ${cause}`)
    this.log = log
  }
}

export class Interrupted extends Error {
  constructor(signal) {
    super(`interrupted by ${signal}`)
    this.signal = signal
  }
}

function causeOf(log, fallback) {
  const lines = log.split('\n').map((line) => line.trim())
  for (const pattern of CAUSES) {
    const line = lines.find((candidate) => pattern.test(candidate))
    if (line) return line
  }
  return lines.findLast((line) => line !== '') ?? fallback
}

/**
 * Runs a command to its end and returns what it printed.
 *
 * @param {string} name what the step does, for the message of a failure
 * @param {{ command: string, args: string[], cwd: string, env?: NodeJS.ProcessEnv, started?: (pid: number) => void }} options
 * @returns {Promise<string>}
 * @throws {StepFailed} if it cannot be started or does not exit with 0
 */
export function runStep(name, { command, args, cwd, env = process.env, started }) {
  return new Promise((resolve, reject) => {
    let log = ''
    let interruptedBy
    // npx and pnpm are .cmd files on Windows, which only a shell starts.
    const shell = process.platform === 'win32'
    const child = spawn(command, args, { cwd, env, shell, stdio: ['ignore', 'pipe', 'pipe'] })
    const forward = (signal) => {
      interruptedBy = signal
      child.kill(signal)
    }
    for (const signal of SIGNALS) process.on(signal, forward)
    const settle = (outcome) => {
      for (const signal of SIGNALS) process.off(signal, forward)
      outcome()
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        log += stripVTControlCharacters(text)
      })
    }
    child.on('spawn', () => {
      if (child.pid) started?.(child.pid)
    })
    child.on('error', (error) =>
      settle(() => reject(new StepFailed(name, `${command}: ${error.message}`, log)))
    )
    child.on('close', (code, signal) =>
      settle(() => {
        if (interruptedBy) reject(new Interrupted(interruptedBy))
        else if (code === 0) resolve(log)
        else
          reject(
            new StepFailed(name, causeOf(log, signal ? `killed by ${signal}` : `exit code ${code}`), log)
          )
      })
    )
  })
}
