/** A daemon in this process, listening on loopback, with everything it logs kept to be looked at. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { LanSecret } from '@agentmux/lan-tier'
import { createSystemClock } from '@agentmux/lease-model'
import { createInstanceIdentity } from '@agentmux/lease-store'
import { adviceOfDaemon } from '../../src/advice.js'
import { composeDaemon, type Daemon } from '../../src/daemon/compose-daemon.js'
import type { HttpApp } from '../../src/http/http-app.js'
import type { HttpLimits } from '../../src/http/http-limits.js'
import { createLog, type DaemonLog } from '../../src/log/log.js'
import type { RelaySetting } from '../../src/relay/relay-setting.js'
import { HttpClient } from './http-client.js'
import { type OpenedPane, openingOf, openPane } from './pane-over-http.js'
import { type Scene, test } from './scene.js'

export interface HttpHouseOptions {
  readonly channel?: string
  readonly limits?: Partial<HttpLimits>
  /** The LAN secret. */
  readonly secret?: string
  readonly relay?: RelaySetting
  /** Adds to the server before it listens. */
  readonly prepare?: (app: HttpApp) => void
}

export const FULL_KEY = 'f'.repeat(32) + '0123456789abcdef'.repeat(2)
export const LAN_KEY = '11111111-2222-4333-8444-55555555555566666666-7777-4888-8999-aaaaaaaaaaaa'
export const WRONG_KEY = 'e'.repeat(64)
export const VERSION = '1.0.0'

export class HttpHouse {
  readonly scene: Scene
  readonly daemon: Daemon
  readonly client = new HttpClient(FULL_KEY)
  readonly #log: DaemonLog
  readonly #logFile: string
  readonly #logDescriptor: number

  static async open(scene: Scene, options: HttpHouseOptions = {}): Promise<HttpHouse> {
    const house = new HttpHouse(scene, options)
    options.prepare?.(house.app)
    await house.app.listen({ host: '127.0.0.1', port: 0 })
    house.client.port = house.port
    return house
  }

  private constructor(scene: Scene, { channel = 'stable', limits = {}, secret, relay }: HttpHouseOptions) {
    this.scene = scene
    this.#logFile = scene.newPath('log')
    this.#logDescriptor = openSync(this.#logFile, 'a')
    this.#log = createLog({
      level: 'debug',
      descriptor: this.#logDescriptor,
      secrets: [FULL_KEY, LAN_KEY, secret ?? '', ...(relay?.token.secrets ?? [])]
    })
    this.daemon = composeDaemon({
      clock: createSystemClock(),
      instance: createInstanceIdentity({ channel, version: VERSION }),
      sharedRoot: scene.shared,
      registryRoot: join(scene.shared, 'agents', 'registry'),
      key: FULL_KEY,
      advice: adviceOfDaemon({}),
      log: this.#log.log,
      http: { limits },
      lan: { key: LAN_KEY, secret: secret === undefined ? undefined : new LanSecret(secret) },
      relay,
      url: () => `http://127.0.0.1:${this.port}`
    })
  }

  get app(): HttpApp {
    return this.daemon.app
  }

  get log(): DaemonLog['log'] {
    return this.#log.log
  }

  get panes(): Daemon['panes'] {
    return this.daemon.panes
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port
  }

  openPane(more: Record<string, unknown> = {}): Promise<OpenedPane> {
    return openPane(this.client, this.scene, more)
  }

  opening(more: Record<string, unknown> = {}): Record<string, unknown> {
    return openingOf(this.scene, more)
  }

  /** Everything it has logged. */
  async logged(): Promise<string> {
    await this.#log.flush()
    return readFileSync(this.#logFile, 'utf8')
  }

  async close(): Promise<void> {
    const { panes, app, registry, admission, lan, relay } = this.daemon
    await panes.closeAll({ graceMs: 0 })
    await lan.close()
    await relay?.close()
    await app.close()
    registry.close()
    await admission.close({ graceMs: 0 })
    await this.#log.flush()
    closeSync(this.#logDescriptor)
  }
}

/** A test with a scene of its own, where a house can be opened that is closed afterwards. */
export const houseTest = test.extend<{ openHouse: (options?: HttpHouseOptions) => Promise<HttpHouse> }>({
  openHouse: async ({ scene }, use) => {
    const houses: HttpHouse[] = []
    await use(async (options) => {
      const house = await HttpHouse.open(scene, options)
      houses.push(house)
      return house
    })
    await Promise.all(houses.map((house) => house.close()))
  }
})
