/**
 * A program that uses the lease store alone, as another service may: claims, renews, verifies and releases, with handles that
 * may have been lost long ago.
 */
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

  async function step(uid: string): Promise<void> {
    const fromUs = system.nowUs()
    const chance = system.random()
    const handle = handles[Math.floor(system.random() * handles.length)]
    if (handle === undefined || chance < 0.4) {
      const block = `b${Math.floor(system.random() * 2)}`
      const result = await store.claim({ agent: { uid }, blockId: block })
      if (result.kind !== 'granted') return
      const { epoch, claimId } = result.lease
      handles.push(result.lease)
      if (handles.length > 6) handles.shift()
      system.tell({ kind: 'granted', uid, epoch, owner: instance.ownerBootId, block, claimId })
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
