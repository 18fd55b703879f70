/**
 * The rules of the relay's leases, seen from both ends: it gives one to another only when its holder has let go, was taken from,
 * or had its time (R3); epochs only grow (R10); accounts do not mix (R1); and nobody acts on what it said before its last word.
 */
import type { Process } from '../kernel/process.js'
import type { Computers } from './computers.js'

const RELAY_TTL_US = 60_000_000
const SLACK_US = 1_500_000

interface AtRelay {
  readonly holder: string
  readonly epoch: number
  readonly renewedUs: number
  /** Since when it has been this holder's. */
  readonly sinceUs: number
}

export interface RelayAnswer {
  readonly call: string
  readonly account: string
  readonly agent: string
  readonly holder: string
  readonly status: number
  readonly epoch: number
  readonly heldBy: string
}

export class RelayRules {
  readonly #computers: Computers
  readonly #atRelay = new Map<string, AtRelay>()
  readonly #lastHolder = new Map<string, string>()
  /** By holder and agent: when the relay last said that it has it. */
  readonly #grantedUs = new Map<string, number>()
  /** By process and agent: when it last heard that it holds it, or that it has let go. */
  readonly #heldUs = new Map<string, number>()
  readonly #letGoUs = new Map<string, number>()

  constructor(computers: Computers) {
    this.#computers = computers
  }

  /** Whom it was given to last, unless that one has let go. Whether it has lapsed only the relay knows. */
  holderOf(account: string, agent: string): string | undefined {
    return this.#lastHolder.get(`${account} ${agent}`)
  }

  /** What nobody had renewed for a TTL by then has lapsed, and stays so. */
  stopped(): void {
    const { world, relayDisturbedUs } = this.#computers
    for (const [key, { renewedUs }] of this.#atRelay) {
      if (world.nowUs - Math.max(renewedUs, relayDisturbedUs) >= RELAY_TTL_US - SLACK_US)
        this.#atRelay.delete(key)
    }
  }

  /** What it was asked and has answered. */
  answered(told: RelayAnswer): void {
    const { world } = this.#computers
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
      if (told.status === 200 && this.#lastHolder.get(key) === told.holder) this.#lastHolder.delete(key)
      return
    }
    if (told.status !== 200) this.#refused(told)
    else this.#granted(told, before)
  }

  #granted(told: RelayAnswer, before: AtRelay | undefined): void {
    const { world } = this.#computers
    const key = `${told.account} ${told.agent}`
    if (before !== undefined) this.#given(told, before)
    const { holder, epoch } = told
    const sinceUs = before?.holder === holder ? before.sinceUs : world.nowUs
    this.#lastHolder.set(key, holder)
    this.#atRelay.set(key, { holder, epoch, renewedUs: world.nowUs, sinceUs })
    this.#grantedUs.set(`${instanceIn(holder)} ${told.agent}`, world.nowUs)
  }

  /** The client of a process believes that it holds the agent there, and did not before. */
  held(process: Process, uid: string): void {
    const { world } = this.#computers
    const key = `${process.label} ${process.pid} ${uid}`
    this.#heldUs.set(key, world.nowUs)
    const letGoUs = this.#letGoUs.get(key)
    const grantedUs = this.#grantedUs.get(`${instanceOf(process)} ${uid}`) ?? 0
    if (letGoUs === undefined || grantedUs >= letGoUs) return
    world.history.violate(
      'R7',
      `${process.label} takes it that it holds ${uid} at the relay, which has confirmed its release and given it nothing since`
    )
  }

  letGo(process: Process, uid: string): void {
    this.#letGoUs.set(`${process.label} ${process.pid} ${uid}`, this.#computers.world.nowUs)
  }

  /** It was told that it holds the agent, the relay has not given it to anybody since, and still it is given up. */
  yielded(process: Process, uid: string): void {
    const { world, accountOf } = this.#computers
    const heldUs = this.#heldUs.get(`${process.label} ${process.pid} ${uid}`)
    const at = this.#atRelay.get(`${accountOf(process.host)} ${uid}`)
    if (heldUs === undefined || at === undefined) return
    if (instanceIn(at.holder) !== instanceOf(process)) return
    if (heldUs <= at.sinceUs || heldUs >= world.nowUs) return
    world.history.violate(
      'R2',
      `${process.label} gives ${uid} up as held elsewhere, which the relay says it holds itself`
    )
  }

  #refused({ account, heldBy }: RelayAnswer): void {
    const { world, hosts, accountOf } = this.#computers
    const [name = ''] = heldBy.split('/')
    const other = hosts.find((host) => host.name === name)
    if (other === undefined || accountOf(other) === account) return
    world.history.violate('R1', `the relay tells ${account} of a holder of another account, ${name}`)
  }

  #given(told: RelayAnswer, before: AtRelay): void {
    const { world, relayDisturbedUs } = this.#computers
    const same = before.holder === told.holder
    const servedUs = world.nowUs - Math.max(before.renewedUs, relayDisturbedUs)
    if (!same && told.call !== 'take' && servedUs < RELAY_TTL_US - SLACK_US) {
      world.history.violate(
        'R3',
        `the relay gives ${told.agent} to another holder ${Math.round(servedUs / 1_000)} ms after it could have been renewed last`
      )
    }
    if (same ? told.epoch < before.epoch : told.epoch <= before.epoch) {
      world.history.violate(
        'R10',
        `the relay gives epoch ${told.epoch} of ${told.agent} after ${before.epoch}`
      )
    }
  }
}

/** `HOST/CHANNEL`, as a process is known there. */
function instanceOf({ host, name }: Process): string {
  return `${host.name}/${name.replace(/\d+$/, '')}`
}

/** The same, of a holder: its install comes after it. */
function instanceIn(holder: string): string {
  return holder.split(' ')[0] ?? ''
}
