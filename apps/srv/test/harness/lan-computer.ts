/** A computer of a virtual network with a shared folder of its own and a daemon with its LAN on, used by its command line. */
import { fileURLToPath } from 'node:url'
import type { VirtualHost } from '../../../../test/net/index.js'
import type { Ended, Program } from './program.js'
import { fixture, type Scene } from './scene.js'
import { until } from './until.js'

export interface LanComputerOptions {
  readonly environment?: Record<string, string>
  readonly flags?: readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the command prints; the test says what it expects
type Printed = any

export class LanComputer {
  readonly host: VirtualHost
  readonly scene: Scene
  readonly #environment: Record<string, string>
  readonly #flags: readonly string[]
  daemon: Program | undefined

  constructor(
    host: VirtualHost,
    scene: Scene,
    { environment = {}, flags = ['--lan'] }: LanComputerOptions = {}
  ) {
    this.host = host
    this.scene = scene
    this.#environment = environment
    this.#flags = flags
  }

  get name(): string {
    return this.host.hostname
  }

  /** Resolves once it answers. */
  async serve(): Promise<this> {
    this.daemon = this.#start(['serve', '--json', ...this.#flags])
    await this.daemon.prints(/\}\n/)
    return this
  }

  /** Runs the command line to its end. */
  cli(...args: readonly string[]): Promise<Ended> {
    return this.#start(args).ended
  }

  async json(...args: readonly string[]): Promise<Printed> {
    const { code, stdout, stderr } = await this.cli(...args, '--json')
    if (stdout === '') throw new Error(`${args.join(' ')} printed nothing (${code}): ${stderr}`)
    return JSON.parse(stdout)
  }

  /** An agent that writes to the audit file of this computer's scene all the time. */
  open(uid: string): Promise<Ended> {
    const agent = this.scene.agent(this.name)
    return this.cli('open', '--uid', uid, '--agent', 'Agent3', '--', ...agent)
  }

  /** Once it sees so many others. */
  async sees(count: number): Promise<void> {
    await until(
      `${this.name} sees ${count} others`,
      async () => (await this.json('lan')).peer_count === count
    )
  }

  async panes(): Promise<Printed[]> {
    return (await this.json('agents')).agents
  }

  async pane(): Promise<Printed> {
    return (await this.panes()).at(-1)
  }

  /** Everything in its record, as `follow` shows it. */
  async recordOf(block: string): Promise<string> {
    return (await this.cli('follow', block, '--once', '--json')).stdout
  }

  logged(event: string): Printed[] {
    const lines = (this.daemon?.stderr ?? '').split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event)
  }

  logs(event: string): Promise<Printed> {
    return until(`${this.name} logs ${event}`, () => this.logged(event)[0])
  }

  #start(args: readonly string[]): Program {
    const [command, prefix] = this.host.command(process.execPath)
    const via = [command, ...prefix.slice(0, -1)]
    return this.scene.start(this.scene.words(args, { via }), { environment: this.#environment })
  }
}

/** A peer that is found and takes connections, and does with them as it is told: `silent`, or `junk`. */
export async function strangePeer(host: VirtualHost, does: 'silent' | 'junk'): Promise<void> {
  const child = host.spawn(process.execPath, [fixture('strange-peer.mjs'), does], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit']
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('close', () => reject(new Error('the strange peer ended')))
  })
}
