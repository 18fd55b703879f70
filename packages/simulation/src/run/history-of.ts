/** One history: the hosts and their daemons, the deeds of a plan, until all has healed and settled. */
import { undici } from '../node/undici.js'
import { RelayDisk } from '../node/sqlite.js'
import { ElsewhereRules } from '../rules/elsewhere-rules.js'
import { Network } from '../world/network.js'
import type { Bundles } from './bundles.js'
import { Host } from '../kernel/host.js'
import { launch } from '../kernel/launch.js'
import { Process } from '../kernel/process.js'
import type { SandboxPool } from '../kernel/sandbox.js'
import type { Thread } from '../kernel/thread.js'
import type { Answer, Question, Report, System } from '../programs/system.js'
import { Observer } from '../rules/observer.js'
import type { Violation } from '../world/history.js'
import type { History } from '../world/history.js'
import { World } from '../world/world.js'
import type { Peer } from '@agentmux/lan-tier'
import { startDriver } from './driver-behaviour.js'
import type { Deed, Plan } from './plan.js'

export const SHARED_ROOT = '/home/u/shared'
/** The agent that programs without an admission share. */
const STORE_AGENT = 'shared-by-stores'

export interface Outcome {
  readonly violation: Violation | undefined
  readonly history: History
  readonly events: number
  readonly virtualMs: number
  readonly digest: string
}

interface Seat {
  readonly index: number
  process: Process | undefined
  orders: System['orders']
  answer: ((question: Question) => Promise<Answer>) | undefined
  thread: Thread | undefined
  readonly wants: Set<string>
}

export interface RunParts {
  readonly bundles: Bundles
  readonly pool: SandboxPool
  /** Where what the relay depends on is installed. */
  readonly relayPackage: string
}

export function runHistory(plan: Plan, parts: RunParts): Outcome {
  return new Run(plan, parts).run()
}

class Run {
  readonly #plan: Plan
  readonly #bundles: Bundles
  readonly #pool: SandboxPool
  readonly #world: World
  readonly #observer: Observer
  readonly #hosts: Host[]
  readonly #seats: Seat[]
  readonly #network: Network
  readonly #elsewhere: ElsewhereRules
  readonly #relayHost: Host
  readonly #relayDisk: RelayDisk | undefined
  #relay: Process | undefined
  readonly #peers = new Map<Seat, Peer>()
  #healed = false

  constructor(plan: Plan, { bundles, pool, relayPackage }: RunParts) {
    this.#plan = plan
    this.#bundles = bundles
    this.#pool = pool
    this.#world = new World(plan.seed)
    this.#observer = new Observer(this.#world)
    const world = this.#world
    this.#network = new Network(world)
    this.#hosts = plan.hosts.map(({ drift, skewMs }, index) => {
      const address = `192.168.${Math.floor(index / 200)}.${10 + (index % 200)}`
      const host = new Host(world, { pool, observer: this.#observer }, { name: hostName(index), address, drift, skewMs })
      host.disk.lay(SHARED_ROOT)
      this.#network.name(address, host)
      return host
    })
    this.#relayHost = new Host(world, { pool, observer: this.#observer }, { name: 'relayhost', address: '10.0.0.1', drift: 0, skewMs: 0 })
    this.#relayHost.disk.lay('/home/u/relay')
    this.#network.name('relay.example', this.#relayHost)
    this.#relayDisk = plan.tier === 'relay' ? new RelayDisk(relayPackage) : undefined
    this.#elsewhere = new ElsewhereRules({
      world,
      network: this.#network,
      hosts: this.#hosts,
      tier: plan.tier,
      relayHost: this.#relayHost,
      accountOf: (host) => (plan.tier === 'relay' ? (plan.accounts[this.#hosts.indexOf(host)] ?? '') : ''),
      seatOf: (host, uid) => this.#observer.seat(host, uid),
      agents: Array.from({ length: plan.shape.agents }, (_each, index) => `agent${index}`)
    })
    this.#seats = plan.slots.map((_slot, index) => ({
      index,
      process: undefined,
      orders: {},
      answer: undefined,
      thread: undefined,
      wants: new Set()
    }))
  }

  run(): Outcome {
    const world = this.#world
    for (const seat of this.#seats) world.after(world.random.int(0, 2_000_000), () => this.#start(seat))
    this.#startRelay()
    if (this.#hosts.length === 1) {
      for (const host of this.#hosts) for (const name of ['user-a', 'user-b']) this.#startStoreUser(host, name)
    }
    for (const { atMs, deed } of this.#plan.deeds) world.after(atMs * 1_000, () => this.#do(deed))
    world.after(this.#plan.healMs * 1_000, () => this.#heal())
    world.runUntil(this.#plan.endMs * 1_000)
    if (!world.ended) this.#everybodyRuns()
    world.end()
    for (const host of [...this.#hosts, this.#relayHost]) for (const process of [...host.processes.values()]) process.vanish()
    this.#relayDisk?.dispose()
    this.#pool.reclaim()
    const { history, events, nowUs } = world
    return { violation: history.violation, history, events, virtualMs: nowUs / 1_000, digest: history.digest() }
  }

  #hostOf(seat: Seat): Host {
    return this.#hosts[this.#plan.slots[seat.index]?.host ?? 0] as Host
  }

  #start(seat: Seat): void {
    const slot = this.#plan.slots[seat.index]
    const host = this.#hostOf(seat)
    if (slot === undefined || seat.process?.alive === true || !host.up) return
    const process = new Process(host, { name: `${slot.channel}${seat.index}`, environment: { HOME: '/home/u' } })
    seat.process = process
    seat.orders = {}
    seat.answer = undefined
    this.#world.history.note(process.label, `starts, pid ${process.pid}`)
    seat.thread = launch(
      process,
      {
        program: 'daemon',
        system: (thread) => {
          const system = this.#system(thread, {
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
      { bundles: this.#bundles, more: (thread) => ({ undici: undici(thread, this.#network), 'better-sqlite3': this.#relayDisk?.module('') }) }
    )
  }

  #startRelay(): void {
    if (this.#relayDisk === undefined || this.#relay?.alive === true) return
    const process = new Process(this.#relayHost, { name: 'relay', environment: {} })
    this.#relay = process
    this.#world.history.note('relay', 'starts')
    this.#elsewhere.relayDisturbedUs = this.#world.nowUs
    launch(
      process,
      { program: 'relay', system: (thread) => this.#system(thread, { channel: 'relay', version: '1', port: 443 }) },
      { bundles: this.#bundles, more: () => ({ 'better-sqlite3': this.#relayDisk?.module('') }) }
    )
  }

  #startStoreUser(host: Host, name: string): void {
    if (!host.up) return
    const process = new Process(host, { name, environment: {} })
    launch(
      process,
      {
        program: 'store-user',
        system: (thread) => {
          const system = this.#system(thread, { channel: name, version: '1', port: 1 })
          thread.after(1_000, () => system.orders.open?.(STORE_AGENT))
          return system
        }
      },
      { bundles: this.#bundles, more: (thread) => ({ undici: undici(thread, this.#network), 'better-sqlite3': this.#relayDisk?.module('') }) }
    )
  }

  #system(thread: Thread, who: { channel: string; version: string; port: number; seat?: Seat }): System {
    const world = this.#world
    const { process } = thread
    const { channel, version, port, seat } = who
    return {
      config: {
        sharedRoot: SHARED_ROOT,
        channel,
        version,
        port,
        lan: this.#plan.tier === 'lan' && seat !== undefined,
        relay: this.#plan.tier === 'relay' && seat !== undefined ? this.#relayFor(seat) : undefined
      },
      serve: (handler) => {
        const isRelay = process.host === this.#relayHost
        this.#network.serve(isRelay ? 'relay.example:' : `${process.host.address}:${port}`, thread, handler)
      },
      peers: () => this.#peersOf(process.host),
      nowUs: () => world.nowUs,
      random: () => world.random.float(),
      writes: () => process.writes,
      tell: (report) => this.#told(process, report, { channel, version }),
      orders: {},
      spawn: ({ uid, claimId, environment }, onExit) => {
        return startDriver(
          {
            uid,
            claimId,
            environment,
            parent: process,
            onExit: () => thread.after(world.random.int(100, 3_000), onExit),
            restless: () => !this.#healed
          },
          world
        )
      },
      ask: (pid, question, timeoutMs) => this.#ask(thread, { pid, question, timeoutMs }),
      answer: (handler) => {
        if (seat !== undefined) seat.answer = handler
      },
      others: () =>
        this.#seats.flatMap((other) => {
          const slot = this.#plan.slots[other.index]
          const { process: its } = other
          if (slot === undefined || its === process || its?.host !== process.host || !its.alive) return []
          return [{ pid: its.pid, channel: slot.channel, port: 20_000 + other.index }]
        })
    }
  }

  #relayFor(seat: Seat): { url: string; token: string; install: string } {
    const hex = (seat.index + 1).toString(16).padStart(12, '0')
    const account = this.#plan.accounts[this.#plan.slots[seat.index]?.host ?? 0] ?? ''
    return { url: 'https://relay.example', token: account, install: `00000000-0000-4000-8000-${hex}` }
  }

  /** Discovery is not simulated: everybody has seen everybody once. */
  #peersOf(host: Host): Peer[] {
    return this.#seats.flatMap((seat) => {
      const slot = this.#plan.slots[seat.index]
      const its = this.#hostOf(seat)
      if (slot === undefined || its === host || seat.process === undefined) return []
      const known = this.#peers.get(seat)
      if (known !== undefined) return [known]
      const peer: Peer = {
        instanceId: `instance-${seat.index}`,
        hostname: its.name,
        version: slot.version,
        channel: slot.channel,
        address: its.address,
        addresses: [its.address],
        port: 20_000 + seat.index,
        authKey: 'k',
        agents: [],
        firstSeenMs: 0,
        lastSeenMs: 0
      }
      this.#peers.set(seat, peer)
      return [peer]
    })
  }

  /** Over loopback: there soon, and lost only with the one who answers. */
  #ask(
    thread: Thread,
    { pid, question, timeoutMs }: { pid: number; question: Question; timeoutMs: number }
  ): Promise<Answer | undefined> {
    const world = this.#world
    return new thread.sandbox.Promise<Answer | undefined>((resolve) => {
      const late = thread.after(timeoutMs * 1_000, () => resolve(undefined))
      const asked = this.#seats.find(({ process }) => process?.pid === pid && process.host === thread.process.host)
      const { answer, thread: its } = asked ?? {}
      if (answer === undefined || its === undefined) return
      its.after(world.random.int(100, 5_000), () => {
        const tell = (answered: Answer) => {
          thread.after(world.random.int(100, 5_000), () => {
            late.cancelled = true
            resolve(answered)
          })
        }
        void answer(question).then(its.sandbox.inside(tell))
      })
    })
  }

  #told(process: Process, report: Report, who: { channel: string; version: string }): void {
    const { history } = this.#world
    const { host } = process
    const { leases } = this.#observer
    switch (report.kind) {
      case 'instance':
        return leases.introduce(report.owner, { process, endsPrevious: report.endsPrevious, ...who })
      case 'granted':
        history.note(process.label, `is granted ${report.uid}, epoch ${report.epoch}`)
        return leases.granted(process, this.#observer.seat(host, report.uid), report)
      case 'answered':
        return leases.answered(process, this.#observer.seat(host, report.uid), report)
      case 'turn':
        history.note(process.label, `begins a turn of ${report.uid}`)
        return leases.answered(process, this.#observer.seat(host, report.uid), { ...report, what: 'take a turn' })
      case 'lost':
        return history.note(process.label, `loses ${report.uid}: ${report.why}`)
      case 'refused':
        history.note(process.label, `is refused ${report.uid}: ${report.why}`)
        if (report.idle && report.writes > 0 && report.why !== 'io' && report.why !== 'lost') {
          history.violate('R9', `${process.label} was refused ${report.uid} and had written ${report.writes} times`)
        }
        return
      case 'yields':
        return this.#elsewhere.yielded(process, report.uid, report)
      case 'held-at-relay':
        return this.#elsewhere.heldAtRelay(process, report.uid)
      case 'relay':
        return this.#elsewhere.relay(report)
      case 'note':
        return history.note(process.label, report.text)
      case 'wrong':
        return history.violate(report.rule, `${process.label}: ${report.text}`)
    }
  }

  #do(deed: Deed): void {
    const world = this.#world
    if (this.#healed) return
    if ('slot' in deed) {
      const seat = this.#seats[deed.slot]
      if (seat !== undefined) this.#doTo(seat, deed)
      return
    }
    if (deed.kind === 'bad-network') return this.#network.turnBad(deed.badness, deed.forMs * 1_000)
    if (deed.kind === 'relay-down') {
      world.history.note('relay', 'is killed')
      this.#relay?.exit()
      world.after(deed.forMs * 1_000, () => this.#startRelay())
      return
    }
    const host = this.#hosts[deed.host]
    if (host === undefined || !host.up) return
    if (deed.kind === 'cut') {
      const other = deed.other === -1 ? this.#relayHost : this.#hosts[deed.other]
      if (other !== undefined) this.#network.cut(host, other, deed.forMs * 1_000)
      return
    }
    switch (deed.kind) {
      case 'step-wall':
        return host.stepWall(deed.byMs)
      case 'sleep':
        return host.sleep(deed.forMs * 1_000)
      case 'power-cut':
        host.losePower()
        world.after(deed.forMs * 1_000, () => this.#boot(host))
        return
      case 'bad-disk':
        world.history.note(host.name, `the disk says ${deed.fault} for ${deed.forMs} ms`)
        host.disk.fault = deed.fault
        world.after(deed.forMs * 1_000, () => {
          host.disk.fault = undefined
        })
        return
      case 'stuck-disk':
        world.history.note(host.name, `the disk is stuck for ${deed.forMs} ms`)
        host.disk.stuckUntilUs = world.nowUs + deed.forMs * 1_000
    }
  }

  #doTo(seat: Seat, deed: Extract<Deed, { slot: number }>): void {
    const world = this.#world
    const { process, thread } = seat
    if ('agent' in deed) {
      const uid = `agent${deed.agent}`
      world.history.note(process?.label ?? 'nobody', `a person asks: ${deed.kind} ${uid}`)
      if (deed.kind === 'close') seat.wants.delete(uid)
      else seat.wants.add(uid)
      this.#elsewhere.moved(uid)
      const order = { open: 'open', close: 'close', 'take-over': 'takeOver', 'take-at-relay': 'takeAtRelay' } as const
      thread?.after(0, () => seat.orders[order[deed.kind]]?.(uid))
      return
    }
    if (process === undefined || !process.alive) return
    switch (deed.kind) {
      case 'kill':
        process.diesAfterCalls = deed.afterCalls
        world.after(deed.restartMs * 1_000, () => {
          if (!process.alive) this.#start(seat)
          else process.diesAfterCalls = Number.POSITIVE_INFINITY
        })
        return
      case 'stop':
        world.history.note(process.label, `is stopped for ${deed.forMs} ms`)
        process.stop()
        world.after(deed.forMs * 1_000, () => {
          if (process.stopped) world.history.note(process.label, 'is continued')
          process.proceed()
        })
        return
      case 'pause':
        process.pause = { afterCalls: deed.afterCalls, forUs: deed.forMs * 1_000, whole: deed.whole }
    }
  }

  #boot(host: Host): void {
    if (host.up) return
    host.boot()
    for (const seat of this.#seats) {
      if (this.#hostOf(seat) === host) this.#world.after(this.#world.random.int(500_000, 4_000_000), () => this.#start(seat))
    }
  }

  /** Whatever was done is undone; what has died is started again. */
  #heal(): void {
    this.#healed = true
    this.#world.history.note('world', 'all faults have healed')
    this.#network.heal()
    this.#startRelay()
    for (const host of this.#hosts) {
      host.disk.fault = undefined
      host.disk.stuckUntilUs = 0
      this.#boot(host)
    }
    for (const seat of this.#seats) {
      const { process } = seat
      if (process === undefined) continue
      process.proceed()
      process.pause = undefined
      process.diesAfterCalls = Number.POSITIVE_INFINITY
      if (!process.alive) this.#world.after(1_000_000, () => this.#start(seat))
    }
  }

  /** Liveness: each agent that somebody wants is driven; on one host where they know of each other. */
  #everybodyRuns(): void {
    const { tier, accounts } = this.#plan
    const groups = new Map<string, Host[]>()
    for (const [index, host] of this.#hosts.entries()) {
      const group = tier === 'none' ? host.name : tier === 'lan' ? 'the LAN' : `the account ${accounts[index]}`
      groups.set(group, [...(groups.get(group) ?? []), host])
    }
    for (const [group, hosts] of groups) this.#runsOnceIn(group, hosts)
  }

  #runsOnceIn(group: string, hosts: readonly Host[]): void {
    const { history } = this.#world
    const wanted = new Set(this.#seats.filter((seat) => hosts.includes(this.#hostOf(seat))).flatMap(({ wants }) => [...wants]))
    for (const uid of wanted) {
      const driving = hosts.filter((host) => this.#observer.seat(host, uid).drivers.size > 0)
      if (driving.length === 0) history.violate('R3', `nobody drives ${uid} on ${group}, long after all healed`)
      if (driving.length > 1) {
        history.violate('R7', `${uid} is driven on ${driving.map(({ name }) => name).join(' and ')}, long after all healed`)
      }
    }
  }
}

/** In another order than their numbers: the first to start is not the first by name. */
function hostName(index: number): string {
  return `host${String(index).padStart(2, '0')}`
}
