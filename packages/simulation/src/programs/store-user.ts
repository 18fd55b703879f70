/**
 * A program that uses the lease store alone, as another service may: claims, renews, verifies and releases, with handles that
 * may have been lost long ago. Refused, it may come again at the very moment at which the lease lapses.
 */
import { readFileSync } from 'node:fs'
import { createSystemClock } from '@agentmux/lease-model'
import { createInstanceIdentity, type Lease, LeaseStore } from '@agentmux/lease-store'
import type { System } from './system.js'

export function main(system: System): void {
  const { config } = system
  const clock = createSystemClock()
  const instance = createInstanceIdentity({ channel: config.channel, version: config.version })
  const store = LeaseStore.open(`${config.sharedRoot}/agents/registry`, { instance, clock })
  system.tell({ kind: 'instance', owner: instance.ownerBootId, endsPrevious: false })
  const handles: Lease[] = []

  /** False if it was refused. */
  async function claim(uid: string): Promise<boolean> {
    const block = `b${Math.floor(system.random() * 2)}`
    const [fromUs, bootMs] = [system.nowUs(), clock.bootMs()]
    const result = await store.claim({ agent: { uid }, blockId: block })
    if (result.kind === 'refused') {
      system.tell({ kind: 'turned-away', uid, bootMs, fromUs })
      return false
    }
    if (result.kind !== 'granted') return true
    const { epoch, claimId } = result.lease
    handles.push(result.lease)
    if (handles.length > 6) handles.shift()
    system.tell({ kind: 'granted', uid, epoch, owner: instance.ownerBootId, block, claimId })
    return true
  }

  async function step(uid: string): Promise<void> {
    const fromUs = system.nowUs()
    const chance = system.random()
    const handle = handles[Math.floor(system.random() * handles.length)]
    if (handle === undefined || chance < 0.4) {
      if (!(await claim(uid)) && system.random() < 0.4 && (await untilLapse(uid))) await claim(uid)
      return
    }
    const told = { uid, claimId: handle.claimId, fromUs }
    if (chance < 0.7) {
      if ((await store.renew(handle)).kind === 'renewed')
        system.tell({ kind: 'answered', what: 'renewed', ...told })
    } else if (chance < 0.85) {
      if ((await store.verify(handle)).kind === 'held')
        system.tell({ kind: 'answered', what: 'held', ...told })
    } else if ((await store.release(handle)).kind === 'released') {
      system.tell({ kind: 'answered', what: 'released', ...told })
    }
  }

  /** To the millisecond, by our own clock. False if the lease does not get as old. */
  async function untilLapse(uid: string): Promise<boolean> {
    const read = () => JSON.parse(readFileSync(store.pathOf(uid), 'latin1')) as Record<string, unknown>
    const seen = read()
    const lapsesMs = Number(seen.renewed_boot_ms) + Number(seen.ttl_ms)
    for (let leftMs = lapsesMs - clock.bootMs(); leftMs > 0; leftMs = lapsesMs - clock.bootMs()) {
      await clock.sleep(leftMs > 60 ? leftMs - 50 : 1)
      if (read().renewed_boot_ms !== seen.renewed_boot_ms) return false
    }
    return true
  }

  async function use(uid: string): Promise<void> {
    for (;;) {
      await step(uid).catch((fault: unknown) => {
        system.tell({
          kind: 'note',
          text: `${uid}: ${fault instanceof Error ? fault.message : String(fault)}`
        })
      })
      await clock.sleep(system.random() < 0.2 ? 1 : 200 + system.random() * 7_000)
    }
  }
  Object.assign(system.orders, { open: (uid: string) => void use(uid) })
}
