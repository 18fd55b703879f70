/** Who leaves messages at the relay: one sender on each host, of the account of that host. */
import type { Host } from '../kernel/host.js'
import { launch } from '../kernel/launch.js'
import { Process } from '../kernel/process.js'
import type { Thread } from '../kernel/thread.js'
import type { System } from '../programs/system.js'
import type { Deed } from './deed.js'
import type { Fate } from './message-fate.js'
import type { Stage } from './stage.js'
import { relayAs, systemOf } from './system-of.js'

interface Sender {
  readonly process: Process
  readonly thread: Thread
  orders: System['orders']
}

export class Senders {
  readonly #stage: Stage
  readonly #senders = new Map<Host, Sender>()
  /** By the text of the message. */
  readonly #fates = new Map<string, Fate>()
  #sent = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  start(host: Host): void {
    const stage = this.#stage
    const index = stage.hosts.indexOf(host)
    if (stage.plan.shape.messages !== true || !host.up) return
    const process = new Process(host, { name: 'sender', environment: {} })
    let orders: System['orders'] = {}
    const relay = relayAs(stage, { host: index, install: 1_000 + index })
    const thread = launch(
      process,
      {
        program: 'sender',
        system: (of) => {
          const system = systemOf(stage, of, { channel: 'sender', version: '1', port: 1, relay })
          orders = system.orders
          return system
        }
      },
      { bundles: stage.bundles, more: stage.modules }
    )
    this.#senders.set(host, {
      process,
      thread,
      get orders() {
        return orders
      }
    })
  }

  /** Once. */
  takeFate(text: string): Fate | undefined {
    const fate = this.#fates.get(text)
    this.#fates.delete(text)
    return fate
  }

  send(host: Host, { to, from, fate }: { to: number; from?: number; fate?: Fate }): void {
    const sender = this.#senders.get(host)
    if (sender?.process.alive !== true) return
    const uid = `agent${to}`
    const text = `message ${++this.#sent} for ${uid}`
    if (fate !== undefined) this.#fates.set(text, fate)
    const source = from === undefined ? undefined : `agent${from}`
    this.#stage.world.history.note(sender.process.label, `${source ?? 'a person'} sends ${text}`)
    sender.thread.after(0, () => sender.orders.inject?.({ uid, text, source }))
  }
}

export function sendMessage(stage: Stage, deed: Extract<Deed, { kind: 'message' }>): void {
  const host = stage.hosts[deed.host]
  if (host !== undefined) stage.senders.send(host, deed)
}
