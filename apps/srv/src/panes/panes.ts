/**
 * The panes of a daemon: each runs one agent's command under the agent's lease. Keeps true that nothing is started and
 * nothing shared is written before the agent is admitted (R9), that a pane which lost its agent takes no turn and writes
 * nothing more (R4), and that an agent is given up only when nothing of its pane runs (R12).
 */
import { randomUUID } from 'node:crypto'
import type { ReadResult } from '@agentmux/host-admission'
import { type FollowedItem, followPane } from './follow-pane.js'
import { type LetGoRequest, type LetGoResult, letPanesGo } from './let-panes-go.js'
import type {
  CloseResult,
  OpenRequest,
  OpenResult,
  PaneEvent,
  PaneRegistration,
  PaneView,
  RegisterRequest,
  RegisterResult,
  ReopenResult,
  SendResult
} from './pane-answers.js'
import { PaneKeys } from './pane-keys.js'
import { PaneList } from './pane-list.js'
import { PaneNames } from './pane-names.js'
import type { PaneNotice } from './pane-notice.js'
import { PaneOpener } from './pane-opener.js'
import type { PanesOptions, PanesPorts } from './panes-ports.js'
import { unlessAborted } from './unless-aborted.js'
import { whyNotRegistered } from './why-not-registered.js'

const MAX_LIVE = 512
const MAX_ENDED = 100
const CLOSE_GRACE_MS = 10_000
const MAX_GRACE_MS = 24 * 3_600_000

export class Panes {
  readonly #ports: PanesPorts
  readonly #keys = new PaneKeys()
  readonly #names: PaneNames
  readonly #panes: PaneList
  readonly #opener: PaneOpener

  /** Touches nothing. */
  constructor(ports: PanesPorts, options: PanesOptions = {}) {
    this.#ports = ports
    this.#panes = new PaneList(options.maxEnded ?? MAX_ENDED)
    this.#names = new PaneNames(ports)
    const home = {
      ports,
      keys: this.#keys,
      names: this.#names,
      panes: this.#panes,
      tell: (notice: PaneNotice) => this.#tell(notice)
    }
    this.#opener = new PaneOpener(home, options.maxLive ?? MAX_LIVE)
  }

  /** In the order of opening; ended ones that are kept for reading among them. */
  list(): PaneView[] {
    return this.#panes.all.map((pane) => pane.view)
  }

  get(blockId: string): PaneView | undefined {
    return this.#panes.get(blockId)?.view
  }

  /** @throws TypeError or RangeError for what cannot be a UID or a command; the signal's reason. Nothing runs then. */
  open(request: OpenRequest, signal?: AbortSignal): Promise<OpenResult> {
    return this.#opener.open(request, randomUUID(), signal)
  }

  /**
   * Runs the command of a pane again, in the same pane, under the next epoch. A pane that runs is left as it is.
   *
   * @throws the signal's reason.
   */
  reopen(blockId: string, signal?: AbortSignal): Promise<ReopenResult> {
    return this.#opener.reopen(blockId, signal)
  }

  /** One turn. @throws RangeError for a text that is too long; the signal's reason, and then nothing was sent. */
  async send(blockId: string, text: string, signal?: AbortSignal): Promise<SendResult> {
    const pane = this.#panes.get(blockId)
    return pane === undefined ? { kind: 'no-such-pane' } : pane.send(text, signal)
  }

  /**
   * End of input, the grace (ms; 10,000 unless given), then it is ended. Resolves when nothing of it runs.
   *
   * @throws RangeError for a grace that is none; the signal's reason, and the pane goes on closing then.
   */
  async close(
    blockId: string,
    options: { graceMs?: number; signal?: AbortSignal } = {}
  ): Promise<CloseResult> {
    const { graceMs = CLOSE_GRACE_MS, signal } = options
    if (!(graceMs >= 0 && graceMs <= MAX_GRACE_MS)) {
      throw new RangeError(`a grace is 0 to ${MAX_GRACE_MS} milliseconds, not ${graceMs}`)
    }
    const pane = this.#panes.get(blockId)
    if (pane === undefined) return { kind: 'no-such-pane' }
    pane.close(graceMs)
    await unlessAborted(pane.finished, signal)
    const { view, remaining } = pane
    if (remaining.length > 0) return { kind: 'remaining', pane: view, processes: remaining }
    return { kind: 'closed', pane: view }
  }

  /**
   * The agent's record as it grows, from where the pane was opened unless `from` is given, until the pane has ended or the
   * signal is aborted; of a pane that has ended or lost its agent, what stands there. Whoever follows a pane that lost its
   * agent is told so last. Read-only. Undefined if there is no such pane.
   */
  follow(
    blockId: string,
    options: { from?: number; signal: AbortSignal }
  ): AsyncGenerator<FollowedItem, void> | undefined {
    const pane = this.#panes.get(blockId)
    if (pane === undefined) return undefined
    const { from = pane.position, signal } = options
    return followPane(pane, this.#ports.record, { from, signal })
  }

  /** What stands in the agent's record now, from the same place; `atEnd` false: read on from `next`. */
  read(blockId: string, options: { from?: number; limit?: number } = {}): Promise<ReadResult> | undefined {
    const pane = this.#panes.get(blockId)
    if (pane === undefined) return undefined
    return this.#ports.record.read(pane.request.uid, { from: pane.position, ...options })
  }

  /** The names under which the live panes are known to other instances: GET /agentmux/reactive/agents. */
  registrations(): PaneRegistration[] {
    return this.#names.list()
  }

  /**
   * Whoever presents the key of a pane may register names for that pane only: the route has to see to that.
   *
   * @throws TypeError for an empty name.
   */
  async register({ agent, blockId, tabId }: RegisterRequest): Promise<RegisterResult> {
    if (agent.trim() === '') throw new TypeError('an agent is registered by its name')
    const pane = this.#panes.get(blockId)
    const mayNot = await whyNotRegistered(pane)
    if (mayNot !== undefined) return mayNot
    if (pane?.state !== 'running') return { kind: 'no-such-pane' }
    this.#names.add({ blockId, uid: pane.request.uid }, agent, tabId)
    return { kind: 'registered' }
  }

  /** Takes a name back; of one pane, where a block is given. A name that is not registered is fine. */
  unregister({ agent, blockId }: { agent: string; blockId?: string | undefined }): void {
    this.#names.remove(agent, blockId)
  }

  /** Whether a live pane was opened with this name, which is not its own to take back. */
  isMainName(agent: string, blockId: string): boolean {
    return this.#names.isMain(agent, blockId)
  }

  /** The live pane whose own key this is. The time it takes tells nothing of any key. */
  paneOfKey(presented: string): PaneView | undefined {
    const blockId = this.#keys.blockOf(presented)
    return blockId === undefined ? undefined : this.get(blockId)
  }

  /** Called at every change, synchronously; what it throws is dropped. Returns a function that ends it. */
  subscribe(listener: (event: PaneEvent) => void): () => void {
    return this.#panes.subscribe(listener)
  }

  /** Resolves when nothing of the pane runs; at once if there is no such pane. @throws the signal's reason. */
  async settled(blockId: string, signal?: AbortSignal): Promise<void> {
    const pane = this.#panes.get(blockId)
    if (pane !== undefined && pane.state !== 'running') await unlessAborted(pane.finished, signal)
  }

  /** The agent's UID as it is driven here, or about to be; undefined if it is not. */
  uidDrivenHere(uid: string): string | undefined {
    return this.#opener.uidDrivenHere(uid)
  }

  /**
   * Every pane that holds the agent, or is about to, lets it go: end of input, the grace, the end, one deadline for all.
   * Resolves with how many have, or with what keeps one from it.
   */
  letGo(uid: string, request: LetGoRequest): Promise<LetGoResult> {
    const { clock } = this.#ports
    return letPanesGo(uid, request, {
      opener: this.#opener,
      panes: this.#panes,
      clock,
      tell: (notice) => this.#tell(notice)
    })
  }

  /** Closes every pane and opens no more. Resolves when nothing of them runs. */
  async closeAll({ graceMs = CLOSE_GRACE_MS }: { graceMs?: number } = {}): Promise<void> {
    await this.#opener.close()
    const panes = this.#panes.all.filter((pane) => pane.isLive)
    for (const pane of panes) pane.close(graceMs)
    await Promise.all(panes.map((pane) => pane.finished))
  }

  /** For the exit of this process without `closeAll`: no agent may be driven without a holder. */
  killAll(): void {
    for (const pane of this.#panes.all) pane.kill()
  }

  #tell(notice: PaneNotice): void {
    this.#ports.onNotice?.(notice)
  }
}
