/** What a daemon shows to whoever watches it: its event stream, its numbers and the records of its panes. */
import type { RecordLine } from '@agentmux/host-admission'
import type { Daemon } from './daemon.js'
import { EventReader } from './event-reader.js'
import { HttpClient } from './http-client.js'
import { recordOf } from './http-reading.js'

// biome-ignore lint/suspicious/noExplicitAny: a pane in the words of the wire
export type PaneOnWire = any

export class DaemonSeen {
  readonly client: HttpClient
  readonly events: EventReader

  /** From now on. */
  static async from(daemon: Daemon): Promise<DaemonSeen> {
    const client = new HttpClient(daemon.key)
    client.port = Number(new URL(daemon.url).port)
    return new DaemonSeen(client, await EventReader.open({ client }))
  }

  private constructor(client: HttpClient, events: EventReader) {
    this.client = client
    this.events = events
  }

  /** Each change of its panes, in a few words. */
  changes(): string[] {
    return this.events.events
      .filter(({ event }) => event !== 'snapshot')
      .map(({ event, data }) => {
        const { epoch, state, ended_at_ms }: PaneOnWire = data.agent
        return `${event} epoch ${epoch} ${state}${ended_at_ms === undefined ? '' : ', ended'}`
      })
  }

  /** The counters about leases that are not 0, and the gauge of those held. */
  async counts(): Promise<Record<string, number>> {
    const { body } = await this.client.get('/metrics')
    const lines = body.matchAll(/^agentmux_lease_(\w+?)(?:_total)?(?:\{tier="(\w+)"\})? (\d+)$/gm)
    const counts = [...lines].map(([, name, tier, count]) => [
      tier === undefined ? name : `${name} ${tier}`,
      Number(count)
    ])
    return Object.fromEntries(counts.filter(([name, count]) => count !== 0 || name === 'held'))
  }

  /** Everything that stands in the record of a pane's agent. */
  record(block: string): Promise<RecordLine[]> {
    return recordOf(this, block, '?from=0')
  }
}
