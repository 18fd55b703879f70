/** A daemon's panes behind its real HTTP server, listening on loopback, with everything it logs kept to be looked at. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  EarlyCheck,
  HostAdmission,
  InstanceClient,
  OtherInstances,
  ReactiveRegistry,
  SharedRecord
} from '@agentmux/host-admission'
import { createSystemClock, leaseTimings } from '@agentmux/lease-model'
import { createInstanceIdentity } from '@agentmux/lease-store'
import { AdmissionLog } from '../../src/daemon/admission-log.js'
import type { HandOver } from '../../src/daemon/release-answer.js'
import type { TakeOverPane } from '../../src/daemon/take-over-answer.js'
import type { HttpLimits } from '../../src/http/http-limits.js'
import { createHttpServer } from '../../src/http/server.js'
import { createLog, type DaemonLog } from '../../src/log/log.js'
import { LeaseMetrics } from '../../src/metrics/lease-metrics.js'
import { Metrics } from '../../src/metrics/metrics.js'
import { Panes } from '../../src/panes/panes.js'
import { type Answer, HttpClient } from './http-client.js'
import { type Scene, test } from './scene.js'

export interface HttpHouseOptions {
  readonly channel?: string
  readonly limits?: Partial<HttpLimits>
  readonly handOver?: HandOver
  readonly takeOverPane?: TakeOverPane
}

export const FULL_KEY = 'f'.repeat(32) + '0123456789abcdef'.repeat(2)
export const LAN_KEY = '11111111-2222-4333-8444-55555555555566666666-7777-4888-8999-aaaaaaaaaaaa'
export const WRONG_KEY = 'e'.repeat(64)
export const VERSION = '1.0.0'

export class HttpHouse {
  readonly scene: Scene
  readonly admission: HostAdmission
  readonly registry: ReactiveRegistry
  readonly record: SharedRecord
  readonly panes: Panes
  readonly app: ReturnType<typeof createHttpServer>
  readonly client: HttpClient
  readonly #log: DaemonLog
  readonly #logFile: string
  readonly #logDescriptor: number
  #localUrl = ''

  static async open(scene: Scene, options: HttpHouseOptions = {}): Promise<HttpHouse> {
    const house = new HttpHouse(scene, options)
    await house.app.listen({ host: '127.0.0.1', port: 0 })
    house.#localUrl = `http://127.0.0.1:${house.port}`
    house.client.port = house.port
    return house
  }

  private constructor(scene: Scene, { channel = 'stable', limits = {}, ...options }: HttpHouseOptions) {
    this.scene = scene
    this.#logFile = scene.newPath('log')
    this.#logDescriptor = openSync(this.#logFile, 'a')
    this.#log = createLog({ level: 'debug', descriptor: this.#logDescriptor, secrets: [FULL_KEY, LAN_KEY] })
    const clock = createSystemClock()
    const { ttlMs, renewIntervalMs } = leaseTimings()
    const instance = createInstanceIdentity({ channel, version: VERSION })
    this.record = new SharedRecord(scene.shared, { clock })
    const registryRoot = join(scene.shared, 'agents', 'registry')
    this.admission = new HostAdmission({ registryRoot, instance, clock, ttlMs, record: this.record })
    const { store, holds } = this.admission
    this.registry = new ReactiveRegistry(scene.shared, { clock, host: store.host })
    const client = new InstanceClient({ clock })
    const others = new OtherInstances({ registry: this.registry, client, hostname: store.host.hostname })
    const { admission, registry, record } = this
    const metrics = new Metrics()
    const leaseMetrics = new LeaseMetrics(metrics, { held: () => admission.held, clock, renewIntervalMs })
    const { log } = this.#log
    this.panes = new Panes({
      admission,
      early: new EarlyCheck({ store, holds, others, clock }),
      record,
      registry,
      clock,
      ttlMs,
      server: () => ({ channel, localUrl: this.#localUrl, authKey: FULL_KEY }),
      onNotice: new AdmissionLog({ log, metrics: leaseMetrics, claimant: admission.claimant }).note
    })
    this.app = createHttpServer(
      {
        panes: this.panes,
        handOver: options.handOver ?? { release: async () => ({ released: 0 }) },
        takeOverPane: options.takeOverPane ?? (async () => ({ kind: 'no-such-pane' })),
        admission,
        metrics,
        log,
        clock,
        version: VERSION
      },
      { key: FULL_KEY, lanKey: LAN_KEY, limits }
    )
    this.client = new HttpClient(FULL_KEY)
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port
  }

  /** A pane whose agent reads its input and says nothing. */
  async openPane(more: Record<string, unknown> = {}): Promise<{ blockId: string; key: string; pid: number }> {
    const answer = await this.client.post('/api/v1/agents', this.opening(more))
    const { block_id: blockId, pid } = openedIn(answer)
    return { blockId, pid, key: keyOf(pid) }
  }

  opening(more: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      uid: this.scene.uid,
      agent: 'Agent3',
      command: [process.execPath, '-e', 'process.stdin.resume()'],
      cwd: this.scene.folder,
      env: { AGENTMUX_TEST_SCENE: this.scene.folder },
      ...more
    }
  }

  /** Everything it has logged. */
  async logged(): Promise<string> {
    await this.#log.flush()
    return readFileSync(this.#logFile, 'utf8')
  }

  async close(): Promise<void> {
    await this.panes.closeAll({ graceMs: 0 })
    await this.app.close()
    await this.admission.close({ graceMs: 0 })
    this.registry.close()
    await this.#log.flush()
    closeSync(this.#logDescriptor)
  }
}

function openedIn({ status, body }: Answer): { block_id: string; pid: number } {
  if (status !== 201) throw new Error(`not opened: ${status} ${body}`)
  return JSON.parse(body)
}

/** As only the processes of the pane know it. */
function keyOf(pid: number): string {
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  const variable = environment.find((one) => one.startsWith('AGENTMUX_AUTH_KEY='))
  if (variable === undefined) throw new Error('the pane has no key')
  return variable.slice('AGENTMUX_AUTH_KEY='.length)
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
