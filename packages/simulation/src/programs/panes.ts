/**
 * The panes of a simulated daemon: each drives its agent again and again until it is closed, as somebody does who opens it anew
 * whenever it has ended. The way to a running child, and back, is that of apps/srv.
 */
import type { HeldAgentLease } from '@agentmux/host-admission'
import { acquire, drive, type Pane, type PaneDrivePorts } from './pane-drive.js'
import type { System } from './system.js'

const GRACE_MS = 10_000

export class Panes {
  readonly #system: System
  readonly #ports: PaneDrivePorts
  readonly #panes = new Map<string, Pane>()
  #blocks = 0

  constructor(system: System, ports: PaneDrivePorts) {
    this.#system = system
    this.#ports = ports
  }

  open(uid: string): void {
    const before = this.#panes.get(uid)
    if (before !== undefined) {
      // It is being closed: opened anew when that is over.
      if (!before.wanted) before.reopened = true
      return
    }
    const pane: Pane = {
      uid,
      block: `block-${++this.#blocks}`,
      wanted: true,
      reopened: false,
      lease: undefined,
      ended: Promise.resolve(),
      closing: new AbortController()
    }
    this.#panes.set(uid, pane)
    void this.#run(pane)
  }

  close(uid: string): void {
    const pane = this.#panes.get(uid)
    if (pane === undefined) return
    pane.wanted = false
    pane.reopened = false
    pane.closing.abort(new Error('closed'))
  }

  /** Ends what drives the agent and gives it up; the pane wants it back. Undefined if it is not driven here. */
  async letGo(uid: string): Promise<'released' | 'kept' | undefined> {
    const pane = this.#panes.get(uid)
    if (pane?.lease?.held !== true) return undefined
    const { ended } = pane
    const given = await pane.lease.release({ graceMs: GRACE_MS }).catch(() => undefined)
    if (given?.kind !== 'released') return 'kept'
    await ended
    return 'released'
  }

  async #run(pane: Pane): Promise<void> {
    const { uid } = pane
    while (pane.wanted) {
      let over = () => {}
      pane.ended = new Promise((resolve) => {
        over = resolve
      })
      try {
        pane.lease = await acquire(pane, { ...this.#ports, panes: () => this.#panes.size }, this.#system)
        if (pane.lease !== undefined) await drive(pane, pane.lease, { ...this.#ports, system: this.#system })
      } catch (fault) {
        if (!pane.closing.signal.aborted) this.#note(`${uid}: ${textOf(fault)}`)
      }
      const { lease } = pane
      if (lease !== undefined) await this.#giveUp(pane, lease)
      pane.lease = undefined
      over()
      if (pane.wanted) await this.#pause(this.#triesAgainMs(), pane.closing.signal)
    }
    this.#panes.delete(uid)
    if (pane.reopened) this.open(uid)
  }

  #triesAgainMs(): number {
    const { config, random } = this.#system
    return config.patience * (300 + random() * 2_500)
  }

  /** Counts as driven until nothing of it runs. */
  async #giveUp(pane: Pane, lease: HeldAgentLease): Promise<void> {
    const { clock, elsewhere } = this.#ports
    const seen = { blockId: pane.block, agent: pane.uid }
    void elsewhere.paneChanged({ ...seen, state: 'closing' })
    for (let tries = 0; tries < 3; tries++) {
      try {
        await lease.release({ graceMs: GRACE_MS })
        break
      } catch (fault) {
        this.#note(`release of ${pane.uid}: ${textOf(fault)}`)
        await clock.sleep(500)
      }
    }
    await elsewhere.paneChanged({ ...seen, state: 'ended', endedAtMs: clock.wallMs() })
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#ports.clock.sleep(ms, signal).catch(() => {})
  }

  #note(text: string): void {
    this.#system.tell({ kind: 'note', text })
  }
}

export function textOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
