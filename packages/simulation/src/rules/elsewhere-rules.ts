/**
 * The rules between computers: two that drive one agent find out and one yields within the bound of their tier; nobody yields
 * to nobody; the relay gives a lease to another only when its holder has let go, was taken from, or had its time.
 */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import type { Network } from '../world/network.js'
import type { World } from '../world/world.js'
import type { Seat } from './seat.js'

/** A re-check on the LAN, both looks, the answers' time-outs, and SIGKILL. */
const LAN_BOUND_US = 30_000_000 + 15_000_000
/** A relay TTL, a tick, a request's time-out and its repetition, and SIGKILL. */
const RELAY_BOUND_US = 60_000_000 + 20_000_000 + 25_000_000
const RELAY_TTL_US = 60_000_000
/** Starts closer than this are simultaneous, by the protocol. */
const SIMULTANEOUS_MS = 10_000
const SLACK_US = 1_500_000
const CHECK_EVERY_US = 500_000

export interface ElsewhereParts {
  readonly world: World
  readonly network: Network
  readonly hosts: readonly Host[]
  readonly tier: 'none' | 'lan' | 'relay'
  readonly accountOf: (host: Host) => string
  readonly relayHost: Host
  readonly seatOf: (host: Host, uid: string) => Seat
  readonly agents: readonly string[]
}

interface AtRelay {
  holder: string
  epoch: number
  renewedUs: number
}

export class ElsewhereRules {
  readonly #parts: ElsewhereParts
  readonly #togetherSinceUs = new Map<string, number>()
  readonly #atRelay = new Map<string, AtRelay>()
  readonly #confirmedUs = new Map<string, number>()
  relayDisturbedUs = 0
  /** Until when something that was killed is not back. */
  disturbedUs = 0
  /** When somebody last closed, took or was killed: a yield to somebody who has gone since is nobody's fault. */
  readonly lastMoveUs = new Map<string, number>()

  constructor(parts: ElsewhereParts) {
    this.#parts = parts
    if (parts.tier !== 'none' && parts.hosts.length > 1) parts.world.after(CHECK_EVERY_US, () => this.#look())
  }

  /** What nobody had renewed for a TTL by then has lapsed, and stays so. */
  relayStopped(): void {
    const { nowUs } = this.#parts.world
    for (const [key, { renewedUs }] of this.#atRelay) {
      if (nowUs - Math.max(renewedUs, this.relayDisturbedUs) >= RELAY_TTL_US - SLACK_US)
        this.#atRelay.delete(key)
    }
  }

  moved(uid: string): void {
    this.lastMoveUs.set(uid, this.#parts.world.nowUs)
  }

  yielded(process: Process, uid: string, { to, by }: { to: string; by: 'lan' | 'relay' }): void {
    const { world, hosts, seatOf, accountOf } = this.#parts
    world.history.note(process.label, `yields ${uid} to ${to}, told by the ${by}`)
    const others = hosts.filter(
      (host) => host !== process.host && accountOf(host) === accountOf(process.host)
    )
    const left = others.some((host) =>
      [...seatOf(host, uid).claims.values()].some(({ untilUs }) => untilUs > world.nowUs - 3_000_000)
    )
    const quiet =
      world.nowUs - (this.lastMoveUs.get(uid) ?? 0) > 20_000_000 &&
      this.#quietSinceUs(hosts, { network: false }) < world.nowUs - 20_000_000
    if (by === 'lan') this.#yieldsToLater(process, uid, to)
    if (by === 'lan' && !left && quiet) {
      world.history.violate(
        'R2',
        `${process.label} yields ${uid} to ${to}, and nobody is left that drives it`
      )
    }
    if (by === 'relay') this.#yieldsToItself(process, uid)
  }

  heldAtRelay(process: Process, uid: string): void {
    this.#confirmedUs.set(`${process.label} ${process.pid} ${uid}`, this.#parts.world.nowUs)
  }

  /** What the relay was asked and has answered. */
  relay(told: {
    call: string
    account: string
    agent: string
    holder: string
    status: number
    epoch: number
    heldBy: string
  }): void {
    const { world } = this.#parts
    const key = `${told.account} ${told.agent}`
    const before = this.#atRelay.get(key)
    if (told.call !== 'renew-batch' && told.call !== 'renew') {
      world.history.note(
        'relay',
        `${told.call} ${told.agent} by ${told.account} ${told.holder.slice(0, 20)}: ${told.status}${told.epoch > 0 ? `, epoch ${told.epoch}` : ''}`
      )
    }
    if (told.call === 'release') {
      if (told.status === 200 && before?.holder === told.holder) this.#atRelay.delete(key)
      return
    }
    if (told.status !== 200) {
      const [host = ''] = told.heldBy.split('/')
      const other = this.#parts.hosts.find(({ name }) => name === host)
      if (other !== undefined && this.#parts.accountOf(other) !== told.account) {
        world.history.violate('R1', `the relay tells ${told.account} of a holder of another account, ${host}`)
      }
      return
    }
    if (before !== undefined && before.holder !== told.holder && told.call !== 'take') {
      const servedUs = world.nowUs - Math.max(before.renewedUs, this.relayDisturbedUs)
      if (servedUs < RELAY_TTL_US - SLACK_US) {
        world.history.violate(
          'R3',
          `the relay gives ${told.agent} to another holder ${Math.round(servedUs / 1_000)} ms after it could have been renewed last`
        )
      }
    }
    if (
      before !== undefined &&
      (before.holder === told.holder ? told.epoch < before.epoch : told.epoch <= before.epoch)
    ) {
      world.history.violate(
        'R10',
        `the relay gives epoch ${told.epoch} of ${told.agent} after ${before.epoch}`
      )
    }
    this.#atRelay.set(key, { holder: told.holder, epoch: told.epoch, renewedUs: world.nowUs })
  }

  /** It was told that it holds the agent, the relay has not given it to anybody since, and still it is given up. */
  #yieldsToItself(process: Process, uid: string): void {
    const { world, accountOf } = this.#parts
    const confirmedUs = this.#confirmedUs.get(`${process.label} ${process.pid} ${uid}`)
    const held = this.#atRelay.get(`${accountOf(process.host)} ${uid}`)
    if (confirmedUs === undefined || held === undefined) return
    if (
      held.holder.startsWith(`${process.host.name}/${process.name.replace(/\d+$/, '')} `) &&
      confirmedUs < world.nowUs
    ) {
      world.history.violate(
        'R2',
        `${process.label} gives ${uid} up as held elsewhere, which the relay says it holds itself`
      )
    }
  }

  /** Whoever starts ten seconds or more before another keeps the agent, however many others there are. */
  #yieldsToLater(process: Process, uid: string, to: string): void {
    const { world, hosts, seatOf } = this.#parts
    const target = hosts.find(({ name }) => name === to)
    const now = (host: Host) =>
      [...seatOf(host, uid).claims.values()].find(({ untilUs }) => untilUs >= world.nowUs)?.lease
    const mine = now(process.host)
    const theirs = target === undefined ? undefined : now(target)
    if (mine === undefined || theirs === undefined) return
    const earlierMs = theirs.acquiredAtMs - mine.acquiredAtMs
    if (earlierMs < SIMULTANEOUS_MS) return
    world.history.violate(
      'R2',
      `${process.label} yields ${uid} to ${to}, which began ${Math.round(earlierMs)} ms after it`
    )
  }

  #quietSinceUs(hosts: readonly Host[], { network: ofNetwork = true }: { network?: boolean } = {}): number {
    const { network, relayHost, tier } = this.#parts
    let sinceUs = Math.min(this.disturbedUs, this.#parts.world.nowUs)
    for (const host of hosts) {
      sinceUs = Math.max(sinceUs, host.asleep || !host.up ? this.#parts.world.nowUs : host.disturbedUs)
      for (const process of host.processes.values()) {
        if (process.threads.length === 0) continue
        sinceUs = Math.max(
          sinceUs,
          process.stopped ? this.#parts.world.nowUs : process.heldUpUntilUs,
          process.starvedUntilUs
        )
      }
      if (ofNetwork)
        for (const other of hosts)
          if (other !== host) sinceUs = Math.max(sinceUs, network.soundSinceUs(host, other))
      if (tier === 'relay')
        sinceUs = Math.max(sinceUs, network.soundSinceUs(host, relayHost), this.relayDisturbedUs)
      if (host.disk.stuckUntilUs > sinceUs)
        sinceUs = Math.min(host.disk.stuckUntilUs, this.#parts.world.nowUs)
    }
    return sinceUs
  }

  #look(): void {
    const { world, hosts, agents, seatOf, accountOf, tier } = this.#parts
    const boundUs = tier === 'lan' ? LAN_BOUND_US : RELAY_BOUND_US
    for (const uid of agents) {
      const driving = hosts.filter((host) => seatOf(host, uid).drivers.size > 0)
      for (const [index, one] of driving.entries()) {
        for (const other of driving.slice(index + 1)) {
          if (accountOf(one) === accountOf(other)) this.#together(uid, one, other, boundUs)
        }
      }
    }
    world.after(CHECK_EVERY_US, () => this.#look())
  }

  #together(uid: string, one: Host, other: Host, boundUs: number): void {
    const { world, seatOf } = this.#parts
    const claims = [...seatOf(one, uid).drivers.values(), ...seatOf(other, uid).drivers.values()].sort()
    const key = `${uid} ${one.name} ${other.name} ${[...new Set(claims)].join(' ')}`
    const firstUs = this.#togetherSinceUs.get(key) ?? world.nowUs
    this.#togetherSinceUs.set(key, firstUs)
    const forUs = world.nowUs - Math.max(firstUs, this.#quietSinceUs([one, other]))
    if (forUs > boundUs) {
      world.history.violate(
        'R7',
        `${uid} has been driven on ${one.name} and ${other.name} for ${Math.round(forUs / 1_000)} ms with nothing between them`
      )
    }
  }
}
