/** stdout is data, stderr is for people. A reader that went away must not take the agent's holder down with it. */

export const PROGRAM = 'agentmux-srv'

export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** One line of data. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** One line to the person. */
export function say(message: string): void {
  process.stderr.write(`${PROGRAM}: ${message}\n`)
}
