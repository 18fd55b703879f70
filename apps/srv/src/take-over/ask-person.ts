/**
 * Asks the person at the terminal, and nobody else: the question and the answer go through the controlling terminal,
 * wherever stdout and stderr point.
 */
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { isatty, ReadStream, WriteStream } from 'node:tty'

const TERMINAL = '/dev/tty'

/** Whether somebody can be asked: stdin is a terminal, and it is the one that controls us. */
export function isPersonThere(): boolean {
  if (!isatty(0)) return false
  try {
    closeSync(openSync(TERMINAL, 'r+'))
    return true
  } catch {
    return false
  }
}

/** Only a plain yes is one; the end of the input is a no. @throws the signal's reason when aborted. */
export async function askPerson(question: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted()
  const input = new ReadStream(openSync(TERMINAL, 'r'))
  const output = new WriteStream(openSync(TERMINAL, 'w'))
  const lines = createInterface({ input, output, terminal: false })
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), ended])
    return /^\s*y(es)?\s*$/i.test(answer)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    lines.close()
    input.destroy()
    output.destroy()
  }
}
