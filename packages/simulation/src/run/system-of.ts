/** What a program in one simulated process finds of the world beside the modules of Node. */
import type { Peer } from '@agentmux/lan-tier'
import type { Host } from '../kernel/host.js'
import type { Thread } from '../kernel/thread.js'
import type { Answer, Question, System } from '../programs/system.js'
import { NetPipe } from '../world/net-pipe.js'
import type { Seat } from './daemon-seat.js'
import { startDriver } from './driver-behaviour.js'
import type { Stage } from './stage.js'
import { told } from './told.js'

export const SHARED_ROOT = '/home/u/shared'

/** Each try asks every host of the LAN: many that wait, on many hosts, would ask for nothing else any more. */
const HOSTS_WITHOUT_PATIENCE = 8

export function systemOf(
  stage: Stage,
  thread: Thread,
  who: {
    channel: string
    version: string
    port: number
    seat?: Seat
    relay?: RelayAs
    pipes?: NetPipe[]
  }
): System {
  const world = stage.world
  const { process } = thread
  const { channel, version, port, seat } = who
  return {
    config: {
      sharedRoot: SHARED_ROOT,
      channel,
      version,
      port,
      turnEveryMs: stage.plan.steady?.turnEveryMs,
      patience: Math.max(1, stage.hosts.length / HOSTS_WITHOUT_PATIENCE),
      lan: stage.plan.tier === 'lan' && seat !== undefined,
      messages: stage.plan.shape.messages === true && seat !== undefined,
      relay:
        who.relay ?? (stage.plan.tier === 'relay' && seat !== undefined ? relayFor(stage, seat) : undefined)
    },
    serve: (handler) => {
      const isRelay = process.host === stage.relayHost
      stage.network.serve(isRelay ? 'relay.example:' : `${process.host.address}:${port}`, thread, handler)
    },
    pipe: () => {
      const pipe = new NetPipe(thread)
      who.pipes?.push(pipe)
      return pipe
    },
    peers: () => peersOf(stage, process.host),
    nowUs: () => world.nowUs,
    random: () => world.random.float(),
    healed: () => stage.healed,
    writes: () => process.writes,
    tell: (report) => told(stage, process, { report, who: { channel, version } }),
    orders: {},
    spawn: ({ uid, claimId, environment }, onExit) => {
      return startDriver(
        {
          uid,
          claimId,
          environment,
          parent: process,
          onExit: () => thread.after(world.random.int(100, 3_000), onExit),
          restless: () => !stage.healed && stage.plan.steady === undefined
        },
        world
      )
    },
    ask: (pid, question, timeoutMs) => ask(stage, thread, { pid, question, timeoutMs }),
    answer: (handler) => {
      if (seat !== undefined) seat.answer = handler
    },
    others: () =>
      stage.seats.flatMap((other) => {
        const slot = stage.plan.slots[other.index]
        const { process: its } = other
        if (slot === undefined || its === process || its?.host !== process.host || !its.alive) return []
        return [{ pid: its.pid, channel: slot.channel, port: 20_000 + other.index }]
      })
  }
}

interface RelayAs {
  readonly url: string
  readonly token: string
  readonly install: string
}

function relayFor(stage: Stage, seat: Seat): RelayAs {
  return relayAs(stage, { host: stage.plan.slots[seat.index]?.host ?? 0, install: seat.index + 1 })
}

/** With the account of a host. */
export function relayAs(
  { plan }: Stage,
  { host, install }: { readonly host: number; readonly install: number }
): RelayAs {
  const hex = install.toString(16).padStart(12, '0')
  return {
    url: 'https://relay.example',
    token: plan.accounts[host] ?? '',
    install: `00000000-0000-4000-8000-${hex}`
  }
}

/** Discovery is not simulated: everybody has seen everybody once. */
function peersOf(stage: Stage, host: Host): Peer[] {
  return stage.seats.flatMap((seat) => {
    const slot = stage.plan.slots[seat.index]
    const its = stage.hostOf(seat)
    if (slot === undefined || its === host || seat.process === undefined) return []
    const known = stage.peers.get(seat)
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
    stage.peers.set(seat, peer)
    return [peer]
  })
}

/** Over loopback: there soon, and lost only with the one who answers. */
function ask(
  stage: Stage,
  thread: Thread,
  { pid, question, timeoutMs }: { pid: number; question: Question; timeoutMs: number }
): Promise<Answer | undefined> {
  const world = stage.world
  return new thread.sandbox.Promise<Answer | undefined>((resolve) => {
    const late = thread.after(timeoutMs * 1_000, () => resolve(undefined))
    const asked = stage.seats.find(
      ({ process }) => process?.pid === pid && process.host === thread.process.host
    )
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
