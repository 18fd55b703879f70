/** What the values of flags may be. Anything else is a usage error that says what is expected. */
import { leaseKey } from '@agentmux/lease-store'
import { InvalidArgumentError } from 'commander'
import { isPrintable, nameProblem } from './agent-name.js'

/** A day: longer graces and waits are typing errors, or mean for ever. */
const MAX_SECONDS = 86_400
/** What other instances accept of a channel's name. */
const MAX_CHANNEL_BYTES = 64

export function parseUid(value: string): string {
  refuseFlag(value)
  try {
    return leaseKey(value)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

export function parseText(value: string): string {
  refuseFlag(value)
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return value
}

/** An agent's name. */
export function parseName(value: string): string {
  refuseFlag(value)
  const problem = nameProblem(value)
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`)
  return value
}

export function parseChannel(value: string): string {
  const text = parseText(value)
  if (!isChannel(text)) {
    throw new InvalidArgumentError(
      `It must be at most ${MAX_CHANNEL_BYTES} bytes long, without control or invisible characters.`
    )
  }
  return text
}

export function isChannel(name: string): boolean {
  return Buffer.byteLength(name) <= MAX_CHANNEL_BYTES && isPrintable(name)
}

/** Seconds, with a fraction if wanted, as milliseconds. */
export function parseSeconds(value: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
  if (!(seconds <= MAX_SECONDS)) {
    throw new InvalidArgumentError(
      `It must be a number of seconds from 0 to ${MAX_SECONDS}; a command goes after --.`
    )
  }
  return Math.round(seconds * 1_000)
}

export function parseExitCode(value: string): number {
  const code = /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN
  if (!(code <= 255)) throw new InvalidArgumentError('It must be a number from 0 to 255.')
  return code
}

/** A flag whose value was left out takes the next word for it, `--` included. */
function refuseFlag(value: string): void {
  if (value.startsWith('-'))
    throw new InvalidArgumentError('It looks like the next flag: the value is missing.')
}
