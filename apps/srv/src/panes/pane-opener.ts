/**
 * Opens panes, and the same ones again: so many at once and no more, one at a time for each pane, and none once the daemon
 * goes down. What is being opened can be given up from here.
 */
import { comparableUid } from '@agentmux/host-admission'
import { OneAtATime } from './one-at-a-time.js'
import { Openings } from './openings.js'
import type { OpenRequest, OpenResult, ReopenResult } from './pane-answers.js'
import { checkOpenRequest } from './pane-command.js'
import { PaneStarter, type PaneStarterHome } from './pane-starter.js'
import { unlessAborted } from './unless-aborted.js'

export class PaneOpener {
  readonly #home: PaneStarterHome
  readonly #maxLive: number
  readonly #starter: PaneStarter
  readonly #openings = new Openings()
  readonly #reopenings = new OneAtATime()
  #closed = false

  constructor(home: PaneStarterHome, maxLive: number) {
    this.#home = home
    this.#maxLive = maxLive
    this.#starter = new PaneStarter(home)
  }

  /** The agent's UID as it is driven here, or about to be; undefined if it is not. */
  uidDrivenHere(uid: string): string | undefined {
    const wanted = comparableUid(uid)
    const uids = [...this.#openings.uids, ...this.#home.panes.holding.map(({ request }) => request.uid)]
    return uids.find((one) => comparableUid(one) === wanted)
  }

  /** @throws TypeError or RangeError for what cannot be a UID or a command; the signal's reason. Nothing runs then. */
  async open(request: OpenRequest, blockId: string, signal: AbortSignal | undefined): Promise<OpenResult> {
    checkOpenRequest(request)
    signal?.throwIfAborted()
    if (this.#closed) return { kind: 'closing' }
    const live = this.#openings.count + this.#home.panes.liveCount
    if (live >= this.#maxLive) return { kind: 'too-many', limit: this.#maxLive }
    return this.#openings.run(request.uid, signal, (given) => this.#starter.start(request, blockId, given))
  }

  /** @throws the signal's reason. */
  reopen(blockId: string, signal: AbortSignal | undefined): Promise<ReopenResult> {
    // A second claim of the same pane would end what the first has started.
    return this.#reopenings.run(blockId, signal, async () => {
      const pane = this.#home.panes.get(blockId)
      if (pane === undefined) return { kind: 'no-such-pane' }
      if (pane.state === 'running') return { kind: 'opened', pane: pane.view }
      await unlessAborted(pane.finished, signal)
      return this.open(pane.request, blockId, signal)
    })
  }

  /** What is being opened of an agent, or all of it. Resolves when that is over. */
  giveUp(result: OpenResult, uid?: string): Promise<void> {
    return this.#openings.giveUp(result, uid)
  }

  /** Nothing is opened any more. */
  close(): Promise<void> {
    this.#closed = true
    return this.giveUp({ kind: 'closing' })
  }
}
