/** What is going on when a process is killed or a call fails: one operation of a store, and the state it begins from. */
import { Child } from '../harness/child.js'

export const KEY = 'k'
/** Nothing expires by itself here: whoever is replaced was seen to be dead. */
export const STORE = { ttlMs: 600_000 }

export interface Stage {
  /** The process that meets its fate. */
  readonly victim: Child
  /** Another process that holds the lease all the while. */
  readonly holder?: Child
  /** The highest epoch that anybody was given. */
  readonly epoch: number
}

export interface Scenario {
  readonly name: string
  readonly operation: 'claim' | 'renew' | 'release'
  /** Whether the victim held the lease before. */
  readonly holds: boolean
  prepare(root: string): Promise<Stage>
}

export const claimBy = (blockId: string) => ({ agent: { uid: KEY }, blockId })

/** A process that is ready: its modules are loaded. */
async function ready(root: string): Promise<Child> {
  const child = new Child(root, { store: STORE })
  await child.do('hello')
  return child
}

async function holding(root: string): Promise<{ child: Child; epoch: number }> {
  const child = await ready(root)
  const { lease } = await child.do('claim', claimBy('b'))
  return { child, epoch: lease.epoch }
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'first claim in a new folder',
    operation: 'claim',
    holds: false,
    prepare: async (root) => ({ victim: await ready(root), epoch: 0 })
  },
  {
    name: 'claim of a key that was released',
    operation: 'claim',
    holds: false,
    prepare: async (root) => {
      const { child, epoch } = await holding(root)
      await child.do('release')
      return { victim: child, epoch }
    }
  },
  {
    name: 'claim after a dead holder',
    operation: 'claim',
    holds: false,
    prepare: async (root) => {
      const [{ child, epoch }, victim] = [await holding(root), await ready(root)]
      await child.end()
      return { victim, epoch }
    }
  },
  {
    name: 'claim again by the holder',
    operation: 'claim',
    holds: true,
    prepare: async (root) => {
      const { child, epoch } = await holding(root)
      return { victim: child, epoch }
    }
  },
  {
    name: 'claim of a key that is held',
    operation: 'claim',
    holds: false,
    prepare: async (root) => {
      const { child: holder, epoch } = await holding(root)
      return { victim: await ready(root), holder, epoch }
    }
  },
  {
    name: 'renewal',
    operation: 'renew',
    holds: true,
    prepare: async (root) => {
      const { child, epoch } = await holding(root)
      return { victim: child, epoch }
    }
  },
  {
    name: 'release',
    operation: 'release',
    holds: true,
    prepare: async (root) => {
      const { child, epoch } = await holding(root)
      return { victim: child, epoch }
    }
  }
]
