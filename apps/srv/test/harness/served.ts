/** A daemon of its own, as a person starts it, and the way to it that its file shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HttpClient } from './http-client.js'
import type { Program } from './program.js'
import type { Scene } from './scene.js'

export class ServedDaemon {
  readonly program: Program
  readonly client: HttpClient
  readonly key: string

  static async start(scene: Scene, channel: string): Promise<ServedDaemon> {
    const program = scene.cli(['serve', '--json', '--channel', channel])
    await program.prints(/"url":/)
    const file = readFileSync(join(scene.shared, 'agents', 'srv', `${channel}.json`), 'utf8')
    const { url, auth_key: key } = JSON.parse(file)
    return new ServedDaemon(program, { url, key })
  }

  private constructor(program: Program, { url, key }: { url: string; key: string }) {
    this.program = program
    this.key = key
    this.client = new HttpClient(key)
    this.client.port = Number(new URL(url).port)
  }

  /** The line of its log about such an event. */
  async logged(event: string): Promise<Record<string, unknown>> {
    const [line] = await this.program.says(new RegExp(`^.*"event":"${event}".*$`, 'm'))
    return JSON.parse(line)
  }

  async stop(): Promise<void> {
    this.program.signal('SIGTERM')
    await this.program.ended
  }
}
