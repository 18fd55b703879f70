/**
 * stdout is data, stderr is for people. Written straight to the descriptors: all of it before the process exits, and a
 * reader that went away (EPIPE, a closed terminal) takes nothing of ours down with it.
 */
import { writeSync } from 'node:fs'

export const PROGRAM = 'agentmux-relay'

const STDOUT = 1
const STDERR = 2

/** One line of data. */
export function print(line: string): void {
  write(STDOUT, `${line}\n`)
}

/** One line to the person. */
export function say(message: string): void {
  write(STDERR, `${PROGRAM}: ${message}\n`)
}

/** Text that is complete as it is. */
export function writeOut(text: string): void {
  write(STDOUT, text)
}

/** The same for stderr. */
export function writeError(text: string): void {
  write(STDERR, text)
}

const FULL_PAUSE_MS = 5
const pauseCell = new Int32Array(new SharedArrayBuffer(4))

function write(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(descriptor, bytes, done)
    } catch (error) {
      if (!isFull(error)) return
      // Somebody we share it with made it non-blocking: wait as a blocking write would.
      Atomics.wait(pauseCell, 0, 0, FULL_PAUSE_MS)
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}
