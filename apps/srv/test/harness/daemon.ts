/** A daemon as it is built, in a process of its own, and talking to it as its command line does. */
import { request as send } from 'node:http'
import { join } from 'node:path'
import { readDaemonFile } from '../../src/daemon/daemon-file.js'
import type { Program } from './program.js'
import { fixture, type RunOptions, type Scene } from './scene.js'
import { until } from './until.js'

export interface DaemonAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the route answers; the test says what it expects
  readonly body: any
}

export interface OpenedAgent {
  readonly block_id: string
  readonly epoch: number
  readonly pid: number
}

export class Daemon {
  readonly scene: Scene
  readonly channel: string
  readonly program: Program
  url = ''
  key = ''

  private constructor(scene: Scene, channel: string, program: Program) {
    this.scene = scene
    this.channel = channel
    this.program = program
  }

  /** Resolves once it answers. */
  static async start(scene: Scene, channel = 'stable', options: RunOptions = {}): Promise<Daemon> {
    const words = scene.words(['serve', '--channel', channel, '--json'], options)
    const { environment, spawn } = options
    const daemon = new Daemon(
      scene,
      channel,
      scene.start(words, { ...spawn, environment: { ...environment } })
    )
    await daemon.program.prints(/\}\n/)
    const look = daemon.file()
    if (look.kind !== 'found') throw new Error(`it answers and has no file: ${JSON.stringify(look)}`)
    daemon.url = look.daemon.url
    daemon.key = look.daemon.authKey
    return daemon
  }

  get path(): string {
    return join(this.scene.shared, 'agents', 'srv', `${this.channel}.json`)
  }

  file() {
    return readDaemonFile(this.path)
  }

  ask(path: string, body?: unknown): Promise<DaemonAnswer> {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const request = send(new URL(path, this.url), {
        method: payload === undefined ? 'GET' : 'POST',
        agent: false,
        headers: {
          'x-authkey': this.key,
          ...(payload === undefined ? {} : { 'content-type': 'application/json' })
        }
      })
      request.on('error', reject)
      request.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: jsonOf(text) }))
      })
      request.end(payload)
    })
  }

  /** A line-reading agent. */
  open(flags: readonly string[] = [], more: object = {}): Promise<DaemonAnswer> {
    const { uid, folder } = this.scene
    const command = [process.execPath, fixture('line-agent.mjs'), ...flags]
    return this.ask('/api/v1/agents', { uid, command, cwd: folder, ...more })
  }

  /** One that has begun. */
  async opened(flags: readonly string[] = [], more: object = {}): Promise<OpenedAgent> {
    const { status, body } = await this.open(flags, more)
    if (status !== 201) throw new Error(`not opened: ${status} ${JSON.stringify(body)}`)
    await this.says(body.block_id, `begun ${body.pid}`)
    return body
  }

  /** Tries until it is. */
  openedInTheEnd(flags: readonly string[] = [], more: object = {}): Promise<OpenedAgent> {
    return until('the agent is opened', async () => {
      const { status, body } = await this.open(flags, more)
      return status === 201 ? (body as OpenedAgent) : undefined
    })
  }

  async says(block: string, text: string): Promise<void> {
    await until(`pane ${block} says ${text}`, async () => {
      const { body } = await this.ask(`/api/v1/agents/${block}/record?from=0`)
      return outputOf(body).includes(text)
    })
  }

  turn(block: string, text: string): Promise<DaemonAnswer> {
    return this.ask(`/api/v1/agents/${block}/turns`, { text })
  }

  // biome-ignore lint/suspicious/noExplicitAny: a pane in the words of the wire
  async pane(block: string): Promise<any> {
    const { body } = await this.ask('/api/v1/agents')
    return body.agents.find((one: { block_id: string }) => one.block_id === block)
  }
}

/** Lines of JSON come as a list. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const lines = text.split('\n').filter((line) => line !== '')
    try {
      return lines.map((line) => JSON.parse(line))
    } catch {
      return text
    }
  }
}

function outputOf(items: unknown): string {
  return (Array.isArray(items) ? items : [items])
    .map((item) => item?.text ?? item?.event?.text ?? '')
    .join('')
}
