/**
 * `who`: who drives an agent, tier by tier, and how sure that is. It only looks and asks (R6); what nobody could say is
 * called unknown, never free (R8).
 */
import { InstanceClient, keptAgent, OtherInstances, ReactiveRegistry } from '@agentmux/host-admission'
import type { Holder } from '@agentmux/lease-model'
import { LeaseFault, LeaseStore } from '@agentmux/lease-store'
import { durationText, EXIT_CODES, holderText, plainText } from '@agentmux/refusals'
import { type CommonFlags, compose } from './compose.js'
import { keptForText } from './kept-for-text.js'
import { askLanOfDaemon } from './lan-question.js'
import { print } from './output.js'
import { askRelayOfDaemon } from './relay-question.js'

export interface WhoFlags extends CommonFlags {
  readonly uid: string
  /** By which the relay knows it. */
  readonly name?: string | undefined
}

/** `how`: what it is known by, for people. */
interface TierAnswer {
  readonly state: 'held' | 'free' | 'partly' | 'unknown' | 'off'
  readonly sure: boolean
  readonly how: string
  readonly holder?: Holder
}

/** The LAN itself has 1.5 s, the relay 5. */
const DAEMON_TIMEOUT_MS = 7_000

/** Resolves with the exit code: 69 where this computer could not be found out. */
export async function who(flags: WhoFlags): Promise<number> {
  const { clock, instance, registryRoot, sharedRoot, channel } = compose(flags, process.env)
  const { uid, name } = flags
  const store = LeaseStore.open(registryRoot, { instance, clock })
  const registry = new ReactiveRegistry(sharedRoot, { clock, host: store.host })
  const { hostname } = store.host
  const others = new OtherInstances({ registry, client: new InstanceClient({ clock }), hostname })
  const asking = {
    uid,
    sharedRoot,
    channel,
    timeoutMs: DAEMON_TIMEOUT_MS,
    signal: new AbortController().signal
  }
  const [host, lan, relay] = await Promise.all([
    onThisComputer(uid, store, others),
    askLanOfDaemon(asking),
    askRelayOfDaemon({ ...asking, name })
  ])
  const kept = keptAgent(store, uid)
  if (flags.json) {
    print(JSON.stringify({ uid, host, kept: kept ?? null, lan, relay }, undefined, 2))
  } else {
    const nowMs = clock.wallMs()
    print(`this computer  ${tierText(host, nowMs)}`)
    if (kept !== undefined) print(`               kept ${keptForText(kept)}, after a take-over`)
    print(`network        ${tierText(lan, nowMs)}`)
    print(`relay          ${tierText(relay, nowMs)}`)
  }
  return host.state === 'unknown' ? EXIT_CODES.couldNotFindOut : 0
}

async function onThisComputer(uid: string, store: LeaseStore, others: OtherInstances): Promise<TierAnswer> {
  try {
    const look = store.liveHolderOtherThan(uid, '')
    if (look.kind === 'held') return { state: 'held', sure: true, how: 'its lease file', holder: look.holder }
    if (look.kind === 'unknown') {
      const how = `only watching its lease file can tell whether the holder lives, for ${durationText(look.retryAfterMs)} more`
      return { state: 'unknown', sure: false, how, holder: look.holder }
    }
  } catch (fault) {
    if (!(fault instanceof LeaseFault)) throw fault
    return { state: 'unknown', sure: false, how: plainText(fault.message, 300) }
  }
  // Older builds drive agents without a lease: they are asked.
  const probe = await others.probeOtherInstances(uid)
  if (probe.kind === 'held') {
    return {
      state: 'held',
      sure: true,
      how: 'what its instance says; it has no lease file',
      holder: probe.holder
    }
  }
  if (probe.silent.length === 0) {
    return { state: 'free', sure: true, how: 'no live lease, and no other instance runs it' }
  }
  const silent = probe.silent.map(({ endpoint, why }) => `pid ${endpoint.pid}: ${why}`).join('; ')
  return { state: 'free', sure: false, how: `no live lease; ${plainText(silent, 300)}` }
}

function tierText({ state, sure, how, holder }: TierAnswer, nowMs: number): string {
  const by = holder === undefined || state === 'free' ? '' : ` ${holderText(holder, nowMs)}`
  const certainty =
    state !== 'held' && state !== 'free' ? '' : sure ? ', for sure' : ', as far as anybody answered'
  return `${state}${by}${certainty}: ${how}`
}
