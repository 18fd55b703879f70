/** Panes on a shared root of their own, with everything that they need for real but a daemon around them. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  EarlyCheck,
  type HandoverHolds,
  HostAdmission,
  InstanceClient,
  OtherInstances,
  ReactiveRegistry,
  type RecordItem,
  type RecordLine,
  SharedRecord
} from '@agentmux/host-admission'
import { createSystemClock } from '@agentmux/lease-model'
import { createInstanceIdentity } from '@agentmux/lease-store'
import type { OpenRequest, PaneEvent, PaneView } from '../../src/panes/pane-answers.js'
import type { PaneNotice } from '../../src/panes/pane-notice.js'
import { Panes } from '../../src/panes/panes.js'
import type { PanesOptions } from '../../src/panes/panes-ports.js'
import { test as base, fixture, type Scene } from './scene.js'
import { until } from './until.js'

export interface HouseOptions extends PanesOptions {
  readonly channel?: string
  readonly ttlMs?: number
}

/** A daemon without its server: two of them on one scene are two instances. */
export class House {
  readonly scene: Scene
  readonly clock = createSystemClock()
  readonly admission: HostAdmission
  readonly holds: HandoverHolds
  readonly record: SharedRecord
  readonly registry: ReactiveRegistry
  readonly others: OtherInstances
  readonly client: InstanceClient
  readonly panes: Panes
  readonly notices: PaneNotice[] = []
  readonly events: PaneEvent[] = []

  constructor(scene: Scene, { channel = 'stable', ttlMs = 15_000, ...options }: HouseOptions = {}) {
    this.scene = scene
    const { clock } = this
    const instance = createInstanceIdentity({ channel, version: '1.0.0' })
    this.record = new SharedRecord(scene.shared, { clock })
    this.admission = new HostAdmission({
      registryRoot: join(scene.shared, 'agents', 'registry'),
      instance,
      clock,
      ttlMs,
      record: this.record
    })
    const { store, holds } = this.admission
    this.holds = holds
    this.registry = new ReactiveRegistry(scene.shared, { clock, host: store.host })
    // In this process everything is slow that others do at the same time.
    this.client = new InstanceClient({ clock, probeTimeoutMs: 60_000 })
    this.others = new OtherInstances({
      registry: this.registry,
      client: this.client,
      hostname: store.host.hostname
    })
    const early = new EarlyCheck({ store, holds: this.holds, others: this.others, clock })
    this.panes = new Panes(
      {
        admission: this.admission,
        early,
        record: this.record,
        registry: this.registry,
        clock,
        ttlMs,
        server: () => ({ channel, localUrl: 'http://127.0.0.1:9', authKey: 'the-full-key' }),
        onNotice: (notice) => this.notices.push(notice)
      },
      options
    )
    this.panes.subscribe((event) => this.events.push(event))
  }

  request(flags: readonly string[] = [], more: Partial<OpenRequest> = {}): OpenRequest {
    return {
      uid: this.scene.uid,
      command: [process.execPath, fixture('line-agent.mjs'), ...flags],
      cwd: this.scene.folder,
      environment: { AGENTMUX_TEST_SCENE: this.scene.folder },
      ...more
    }
  }

  /** Opens a pane that has begun to listen. */
  async opened(flags: readonly string[] = [], more: Partial<OpenRequest> = {}): Promise<PaneView> {
    const result = await this.panes.open(this.request(flags, more))
    if (result.kind !== 'opened') throw new Error(`not opened: ${JSON.stringify(result)}`)
    await this.says(result.pane.blockId, /begun/)
    return result.pane
  }

  async lines(uid = this.scene.uid): Promise<RecordLine[]> {
    const items: RecordItem[] = []
    for (let from = 0; ; ) {
      const read = await this.record.read(uid, { from })
      items.push(...read.items)
      from = read.next
      if (read.atEnd) return items.filter((item) => item.kind === 'line')
    }
  }

  /** What the agent has written, as far as the record has it. */
  async output(uid = this.scene.uid, epoch?: number): Promise<string> {
    const lines = await this.lines(uid)
    return lines
      .filter(({ event, epoch: of }) => event.kind === 'output' && (epoch === undefined || of === epoch))
      .map(({ event }) => String(event.text))
      .join('')
  }

  says(blockId: string, pattern: RegExp): Promise<RegExpExecArray> {
    const view = this.panes.get(blockId)
    if (view === undefined) throw new Error('no such pane')
    return until(`the record of ${view.uid} shows ${pattern}`, async () =>
      pattern.exec(await this.output(view.uid, view.epoch))
    )
  }

  becomes(blockId: string, state: PaneView['state']): Promise<PaneView> {
    return until(`the pane is ${state}`, () => {
      const pane = this.panes.get(blockId)
      return pane?.state === state && pane.endedAtMs !== undefined ? pane : undefined
    })
  }

  async close(): Promise<void> {
    await this.panes.closeAll({ graceMs: 0 })
    await this.admission.close({ graceMs: 0 })
    this.registry.close()
  }
}

/** Every file below a folder with its bytes, its inode and when it was written, to see what a call changed. */
export function everything(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name)
    const stats = statSync(path)
    const bytes = stats.isFile() ? readFileSync(path, 'latin1') : 'folder'
    found[name] = `${stats.ino} ${stats.mtimeMs} ${stats.mode} ${bytes}`
  }
  return found
}

/** A test with a scene of its own, and a way to open houses on it that are closed before it is. */
export const test = base.extend<{ houseOn: (options?: HouseOptions) => House }>({
  houseOn: async ({ scene }, use) => {
    const houses: House[] = []
    await use((options) => {
      const house = new House(scene, options)
      houses.push(house)
      return house
    })
    for (const house of houses) await house.close()
  }
})
