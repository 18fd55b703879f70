/**
 * Asks the daemon of a computer of a virtual network from inside that computer, over one process that stays: a question is
 * on its way within milliseconds, or at a moment that was given.
 */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { VirtualHost } from '../../../../test/net/index.js'
import type { DaemonAnswer } from './daemon.js'
import { fixture, type Scene } from './scene.js'

export interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  /** Unix milliseconds; at once unless given. */
  readonly atMs?: number
}

export class Asker {
  readonly #write: (line: string) => void
  readonly #waiting = new Map<number, (answer: DaemonAnswer) => void>()
  #asked = 0

  /** The daemon of the scene, on the channel `stable`, answers already. Ends with the host's processes. */
  constructor(host: VirtualHost, scene: Scene) {
    const file = join(scene.shared, 'agents', 'srv', 'stable.json')
    const child = host.spawn(process.execPath, [fixture('ask-daemon.mjs'), file], {
      env: scene.environment,
      stdio: ['pipe', 'pipe', 'inherit']
    })
    const { stdin, stdout } = child
    if (stdin === null || stdout === null) throw new Error('it was started with pipes')
    this.#write = (line) => void stdin.write(line)
    createInterface({ input: stdout }).on('line', (line) => {
      const { id, status, body } = JSON.parse(line)
      this.#waiting.get(id)?.({ status, body })
      this.#waiting.delete(id)
    })
    child.once('close', () => {
      for (const answer of this.#waiting.values()) answer({ status: 0, body: { error: 'the asker ended' } })
    })
  }

  ask(question: Asked): Promise<DaemonAnswer> {
    const id = this.#asked++
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#write(`${JSON.stringify({ id, ...question })}\n`)
    })
  }
}
