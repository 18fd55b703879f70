/**
 * What became of every message, once all has healed and settled: what the relay has on its disk, against what was told on the
 * way. None waits for an agent that runs; none is kept by somebody who lives; what a dead one took with it is told.
 */
import type { Message } from '../rules/message-rules.js'
import type { Stage } from './stage.js'

export interface MessageCount {
  readonly sent: number
  readonly delivered: number
  /** Claimed by somebody who died before it was delivered. */
  readonly lost: number
  /** For agents that nobody runs. */
  readonly waiting: number
}

export function messagesArrived(stage: Stage): MessageCount | undefined {
  if (stage.plan.shape.messages !== true || stage.relayDisk === undefined) return undefined
  const { world, messages } = stage
  const all = [...messages.all]
  const lost = all.filter((message) => isLost(message))
  for (const { text, won } of lost)
    world.history.note('messages', `${text} is lost with ${won?.process.label}, which died with it`)
  if (!world.ended && stage.plan.unsettled !== true) {
    onTheDisk(stage, all)
    for (const message of all) if (!message.delivered && !isLost(message)) mayWait(stage, message)
  }
  return {
    sent: all.length,
    delivered: all.filter(({ delivered }) => delivered).length,
    lost: lost.length,
    waiting: all.filter(({ won }) => won === undefined).length
  }
}

function isLost({ won, delivered }: Message): boolean {
  return won !== undefined && !delivered && !won.process.alive
}

function onTheDisk({ relayDisk, world, messages }: Stage, all: readonly Message[]): void {
  const rows = new Map<unknown, Record<string, unknown>>()
  for (const row of relayDisk?.rows('SELECT id, text, acked FROM messages') ?? []) rows.set(row.id, row)
  for (const { id, text, won } of all) {
    const row = rows.get(id)
    if (row === undefined || row.text !== text)
      world.history.violate('messages', `${text} is not at the relay any more`)
    else if ((row.acked === 1) !== (won !== undefined))
      world.history.violate(
        'messages',
        `${text} is ${won === undefined ? 'claimed by nobody that was told' : 'given back by nobody'}`
      )
  }
  for (const [id, text] of messages.promised) {
    if (!rows.has(id)) world.history.violate('messages', `${text} was promised, and the relay has it not`)
  }
  if (rows.size > all.length) world.history.violate('messages', 'the relay has messages that nobody sent')
}

function mayWait(stage: Stage, { text, agent, account, won }: Message): void {
  const { world, hosts, plan } = stage
  const { history } = world
  const runs = hosts.some(
    (host, index) => plan.accounts[index] === account && stage.observer.seat(host, agent).drivers.size > 0
  )
  const wanted = stage.seats.some(
    (seat) => seat.wants.has(agent) && plan.accounts[plan.slots[seat.index]?.host ?? 0] === account
  )
  if (won !== undefined)
    history.violate('messages', `${won.process.label} has had ${text} since long, undelivered`)
  else if (runs && wanted)
    history.violate('messages', `${text} waits, long after all healed, and ${agent} runs`)
}
