/** A relay as it is built, on a computer of a virtual network, over TLS with a certificate of its own. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { VirtualHost } from '../../../../test/net/index.js'
import type { Program } from './program.js'
import type { Scene } from './scene.js'

const CLI = fileURLToPath(new URL('../../../relay/dist/cli.js', import.meta.url))
const PORT = '47880'

export class RelayServer {
  readonly token: string
  /** What its clients have to trust. */
  readonly certificate: string
  readonly #host: VirtualHost
  readonly #scene: Scene
  readonly #data: string
  readonly #key: string
  readonly #ttl: string
  #program: Program | undefined

  /** `ttl`: of the leases there, `6s`. */
  constructor(host: VirtualHost, scene: Scene, { ttl }: { ttl: string }) {
    this.#host = host
    this.#scene = scene
    this.#ttl = ttl
    const folder = scene.newPath('relay')
    mkdirSync(folder, { mode: 0o700 })
    this.#data = join(folder, 'data')
    this.certificate = join(folder, 'relay.crt')
    this.#key = join(folder, 'relay.key')
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const files = ['-keyout', this.#key, '-out', this.certificate, '-days', '2', '-subj', '/CN=relay']
    const named = ['-addext', `subjectAltName=IP:${host.address}`]
    execFileSync('openssl', [...made, ...files, ...named], { stdio: 'ignore' })
    const adding = [CLI, 'token', 'add', '--account', 'acme', '--data', this.#data]
    this.token = execFileSync(process.execPath, adding, { encoding: 'utf8', stdio: 'pipe' }).trim()
  }

  get url(): string {
    return `https://${this.#host.address}:${PORT}`
  }

  /** What a daemon has to be started with. */
  get environment(): Record<string, string> {
    return { AGENTMUX_RELAY_TOKEN: this.token, NODE_EXTRA_CA_CERTS: this.certificate }
  }

  /** Resolves once it answers. */
  async start(): Promise<this> {
    const where = ['--host', this.#host.address, '--port', PORT, '--data', this.#data, '--ttl', this.#ttl]
    const tls = ['--tls-cert', this.certificate, '--tls-key', this.#key]
    const command = this.#host.command(process.execPath, [CLI, 'serve', ...where, ...tls])
    this.#program = this.#scene.start([command[0], ...command[1]])
    await this.#program.prints(/https:/)
    return this
  }

  async stop(): Promise<void> {
    this.#program?.signal('SIGTERM')
    await this.#program?.ended
  }
}
