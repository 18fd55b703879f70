/** The hosts of one history with everything on them: daemons in their slots, a network, a relay. It starts what is to run. */
import type { Peer } from '@agentmux/lan-tier'
import { Host, type HostOptions } from '../kernel/host.js'
import { launch } from '../kernel/launch.js'
import { Process } from '../kernel/process.js'
import type { SandboxPool } from '../kernel/sandbox.js'
import type { Thread } from '../kernel/thread.js'
import type { MoreModules } from '../node/modules.js'
import { RelayDisk } from '../node/sqlite.js'
import { undici } from '../node/undici.js'
import { ElsewhereRules } from '../rules/elsewhere-rules.js'
import { MessageRules } from '../rules/message-rules.js'
import { Observer } from '../rules/observer.js'
import { OlderRules } from '../rules/older-rules.js'
import type { NetPipe } from '../world/net-pipe.js'
import { Network } from '../world/network.js'
import { World } from '../world/world.js'
import type { Bundles } from './bundles.js'
import { emptySeat, type Seat } from './daemon-seat.js'
import { hangUp } from './hang-up.js'
import type { Plan } from './plan.js'
import { Senders } from './senders.js'
import { SHARED_ROOT, systemOf } from './system-of.js'

export interface RunParts {
  readonly bundles: Bundles
  readonly pool: SandboxPool
  /** Where what the relay depends on is installed. */
  readonly relayPackage: string
}

/** The agent that programs without an admission share. */
const STORE_AGENT = 'shared-by-stores'

export class Stage {
  readonly plan: Plan
  readonly bundles: Bundles
  readonly pool: SandboxPool
  readonly world: World
  readonly observer: Observer
  readonly hosts: Host[]
  readonly seats: Seat[]
  readonly network: Network
  readonly elsewhere: ElsewhereRules
  readonly messages: MessageRules
  readonly senders: Senders
  readonly relayHost: Host
  readonly relayDisk: RelayDisk | undefined
  relay: Process | undefined
  readonly peers = new Map<Seat, Peer>()
  healed = false

  constructor(plan: Plan, { bundles, pool, relayPackage }: RunParts) {
    this.plan = plan
    this.bundles = bundles
    this.pool = pool
    this.world = new World(plan.seed)
    this.observer = new Observer(this.world)
    const world = this.world
    this.network = new Network(world)
    this.hosts = plan.hosts.map(({ drift, skewMs }, index) => {
      const address = `192.168.${Math.floor(index / 200)}.${10 + (index % 200)}`
      return this.#hostAt({ name: hostName(index), address, drift, skewMs }, SHARED_ROOT)
    })
    const relay = { name: 'relayhost', address: '10.0.0.1', drift: 0, skewMs: 0 }
    this.relayHost = this.#hostAt(relay, '/home/u/relay')
    this.network.name('relay.example', this.relayHost)
    this.relayDisk = plan.tier === 'relay' ? new RelayDisk(relayPackage) : undefined
    const agents = Array.from({ length: plan.shape.agents }, (_each, index) => `agent${index}`)
    this.elsewhere = new ElsewhereRules({
      world,
      network: this.network,
      hosts: this.hosts,
      tier: plan.tier,
      relayHost: this.relayHost,
      accountOf: (host) => this.#accountOf(host),
      seatOf: (host, uid) => this.observer.seat(host, uid),
      hostsDriving: (uid) => this.observer.drivers.hostsDriving(uid),
      agents
    })
    if (plan.shape.older !== undefined) {
      new OlderRules({
        world,
        hosts: this.hosts,
        agents,
        seatOf: (host, uid) => this.observer.seat(host, uid),
        quietSinceUs: (host) => this.elsewhere.quietSinceUs([host])
      })
    }
    this.seats = plan.slots.map((_slot, index) => emptySeat(index))
    this.senders = new Senders(this)
    this.messages = new MessageRules({
      world,
      accountOf: (process) => (process.host === this.relayHost ? '' : this.#accountOf(process.host)),
      holderOf: (account, agent) => this.elsewhere.holderAtRelay(account, agent)
    })
  }

  #hostAt(facts: HostOptions, folder: string): Host {
    const host = new Host(this.world, { pool: this.pool, observer: this.observer }, facts)
    host.disk.lay(folder)
    this.network.name(facts.address, host)
    return host
  }

  #accountOf(host: Host): string {
    return this.plan.tier === 'relay' ? (this.plan.accounts[this.hosts.indexOf(host)] ?? '') : ''
  }

  hostOf(seat: Seat): Host {
    return this.hosts[this.plan.slots[seat.index]?.host ?? 0] as Host
  }

  start(seat: Seat): void {
    const slot = this.plan.slots[seat.index]
    const host = this.hostOf(seat)
    if (slot === undefined || seat.process?.alive === true || !host.up) return
    const process: Process = new Process(host, {
      name: `${slot.channel}${seat.index}`,
      environment: { HOME: '/home/u' },
      ...(this.plan.shape.older === undefined ? {} : { onExit: () => hangUp(process) })
    })
    seat.process = process
    seat.orders = {}
    seat.answer = undefined
    this.world.history.note(process.label, `starts, pid ${process.pid}`)
    seat.thread = launch(
      process,
      {
        program: slot.older === true ? 'older-build' : 'daemon',
        system: (thread) => {
          const system = systemOf(this, thread, {
            channel: slot.channel,
            version: slot.version,
            port: 20_000 + seat.index,
            seat
          })
          seat.orders = system.orders
          // Whoever restarts it opens what was open.
          thread.after(100_000, () => {
            for (const uid of seat.wants) seat.orders.open?.(uid)
          })
          return system
        }
      },
      {
        bundles: this.bundles,
        more: this.modules
      }
    )
  }

  startRelay(): void {
    if (this.relayDisk === undefined || this.relay?.alive === true) return
    const pipes: NetPipe[] = []
    const process = new Process(this.relayHost, {
      name: 'relay',
      environment: {},
      onExit: () => {
        for (const pipe of pipes) pipe.serverDied()
      }
    })
    this.relay = process
    this.world.history.note('relay', 'starts')
    this.elsewhere.relayDisturbedUs = this.world.nowUs
    launch(
      process,
      {
        program: 'relay',
        system: (thread) => systemOf(this, thread, { channel: 'relay', version: '1', port: 443, pipes })
      },
      { bundles: this.bundles, more: this.modules }
    )
  }

  startStoreUser(host: Host, name: string): void {
    const process = new Process(host, { name, environment: {} })
    launch(
      process,
      {
        program: 'store-user',
        system: (thread) => {
          const system = systemOf(this, thread, { channel: name, version: '1', port: 1 })
          thread.after(1_000, () => system.orders.open?.(STORE_AGENT))
          return system
        }
      },
      {
        bundles: this.bundles,
        more: this.modules
      }
    )
  }

  /** Everything that runs is gone, and nothing of it is heard of again. */
  end(): void {
    this.world.end()
    for (const host of [...this.hosts, this.relayHost]) {
      for (const process of [...host.processes.values()]) process.vanish()
    }
    this.relayDisk?.dispose()
    this.pool.reclaim()
  }

  get modules(): MoreModules {
    return (thread: Thread) => ({
      undici: undici(thread, this.network),
      'better-sqlite3': this.relayDisk?.module('')
    })
  }
}

function hostName(index: number): string {
  return `host${String(index).padStart(2, '0')}`
}
