/** Carries out what a plan does to people's computers, and undoes it at the end. */
import type { Host } from '../kernel/host.js'
import type { Seat } from './daemon-seat.js'
import type { Deed } from './deed.js'
import { sendMessage } from './senders.js'
import type { Stage } from './stage.js'

export function carryOut(stage: Stage, deed: Deed): void {
  const { world } = stage
  if (stage.healed) return
  if (deed.kind === 'message') {
    sendMessage(stage, deed)
    return
  }
  if ('slot' in deed) {
    const seat = stage.seats[deed.slot]
    if (seat !== undefined) doTo(stage, seat, deed)
    return
  }
  if (deed.kind === 'bad-network') {
    stage.network.turnBad(deed.badness, deed.forMs * 1_000)
    return
  }
  if (deed.kind === 'relay-down') {
    world.history.note('relay', 'is killed')
    if (stage.relay?.alive === true) stage.elsewhere.relayStopped()
    stage.relay?.exit()
    world.after(deed.forMs * 1_000, () => stage.startRelay())
    return
  }
  const host = stage.hosts[deed.host]
  if (host === undefined || !host.up) return
  if (deed.kind === 'cut') {
    const other = deed.other === -1 ? stage.relayHost : stage.hosts[deed.other]
    if (other === undefined) return
    stage.network.cut(host, other, deed.forMs * 1_000)
    world.after(deed.forMs * 1_000 + 1_000, () => seenAgain(stage, [host, other]))
    return
  }
  switch (deed.kind) {
    case 'step-wall':
      host.stepWall(deed.byMs)
      return
    case 'sleep':
      host.sleep(deed.forMs * 1_000)
      return
    case 'power-cut':
      host.losePower()
      stage.elsewhere.disturbedUs = world.nowUs + deed.forMs * 1_000
      world.after(deed.forMs * 1_000, () => boot(stage, host))
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

function doTo(stage: Stage, seat: Seat, deed: Extract<Deed, { slot: number }>): void {
  const { world } = stage
  const { process, thread } = seat
  if ('agent' in deed) {
    const uid = `agent${deed.agent}`
    world.history.note(process?.label ?? 'nobody', `a person asks: ${deed.kind} ${uid}`)
    if (deed.kind === 'close') seat.wants.delete(uid)
    else seat.wants.add(uid)
    if (deed.kind !== 'close') seat.asked.add(uid)
    if (deed.kind === 'take-over' || deed.kind === 'take-at-relay') seat.taken.add(uid)
    stage.elsewhere.moved(uid)
    const order = {
      open: 'open',
      close: 'close',
      'take-over': 'takeOver',
      'take-at-relay': 'takeAtRelay'
    } as const
    thread?.after(0, () => seat.orders[order[deed.kind]]?.(uid))
    return
  }
  if (process === undefined || !process.alive) return
  switch (deed.kind) {
    case 'kill':
      process.diesAfterCalls = deed.afterCalls
      stage.elsewhere.disturbedUs = world.nowUs + deed.restartMs * 1_000
      world.after(deed.restartMs * 1_000, () => {
        if (!process.alive) stage.start(seat)
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

function boot(stage: Stage, host: Host): void {
  if (host.up) return
  host.boot()
  stage.senders.start(host)
  for (const seat of stage.seats) {
    if (stage.hostOf(seat) === host)
      stage.world.after(stage.world.random.int(500_000, 4_000_000), () => stage.start(seat))
  }
}

/** Whatever was done is undone; what has died is started again. */
export function heal(stage: Stage): void {
  stage.healed = true
  stage.world.history.note('world', 'all faults have healed')
  stage.network.heal()
  stage.startRelay()
  for (const host of stage.hosts) {
    host.disk.fault = undefined
    host.disk.stuckUntilUs = 0
    boot(stage, host)
  }
  for (const seat of stage.seats) {
    const { process } = seat
    if (process === undefined) continue
    process.proceed()
    process.pause = undefined
    process.diesAfterCalls = Number.POSITIVE_INFINITY
    if (!process.alive) stage.world.after(1_000_000, () => stage.start(seat))
  }
}

/** A cut is over: discovery tells both sides within a second or two. */
function seenAgain(stage: Stage, hosts: readonly (Host | undefined)[]): void {
  for (const seat of stage.seats) {
    if (hosts.includes(stage.hostOf(seat)))
      seat.thread?.after(stage.world.random.int(0, 300_000), () => seat.orders.peerSeen?.())
  }
}
