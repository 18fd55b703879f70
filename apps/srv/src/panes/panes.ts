/**
 * The panes of a daemon: each runs one agent's command under the agent's lease. Keeps true that nothing is started and
 * nothing shared is written before the agent is admitted (R9), that a pane which lost its agent takes no turn and writes
 * nothing more (R4), and that an agent is given up only when nothing of its pane runs (R12).
 */
import type { ReadResult, RecordItem } from '@agentmux/host-admission'
import type {
  CloseResult,
  OpenRequest,
  OpenResult,
  PaneEvent,
  PaneRegistration,
  PaneView,
  RegisterRequest,
  RegisterResult,
  SendResult
} from './pane-answers.js'

const NOT_YET = 'panes are not implemented yet'

export class Panes {
  /** Live panes first in the order of opening, then ended ones that are kept for reading. */
  list(): PaneView[] {
    return []
  }

  get(_blockId: string): PaneView | undefined {
    return undefined
  }

  /** @throws TypeError or RangeError for what cannot be a UID or a command; the signal's reason. Nothing runs then. */
  async open(_request: OpenRequest, _signal?: AbortSignal): Promise<OpenResult> {
    throw new Error(NOT_YET)
  }

  /** One turn. @throws RangeError for a text that is too long; the signal's reason, and then nothing was sent. */
  async send(_blockId: string, _text: string, _signal?: AbortSignal): Promise<SendResult> {
    throw new Error(NOT_YET)
  }

  /** End of input, the grace (ms), then it is ended. @throws the signal's reason; the pane goes on closing then. */
  async close(
    _blockId: string,
    _options: { graceMs?: number; signal?: AbortSignal } = {}
  ): Promise<CloseResult> {
    throw new Error(NOT_YET)
  }

  /**
   * The agent's record as it grows, until the signal is aborted; from where the pane was opened unless `from` is given.
   * Read-only: also of a pane that has ended or lost its agent. Undefined if there is no such pane.
   */
  follow(
    _blockId: string,
    _options: { from?: number; signal: AbortSignal }
  ): AsyncGenerator<RecordItem, void> | undefined {
    return undefined
  }

  /** What stands in the agent's record now, from the same place; `atEnd` false: read on from `next`. */
  read(_blockId: string, _options: { from?: number; limit?: number } = {}): Promise<ReadResult> | undefined {
    return undefined
  }

  /** The names under which the live panes are known to other instances: GET /agentmux/reactive/agents. */
  registrations(): PaneRegistration[] {
    return []
  }

  /** Whoever presents the key of a pane may register names for that pane only: the route has to see to that. */
  async register(_request: RegisterRequest): Promise<RegisterResult> {
    throw new Error(NOT_YET)
  }

  /** Takes a name back; of one pane, where a block is given. A name that is not registered is fine. */
  unregister(_request: { agent: string; blockId?: string }): void {}

  /** The live pane whose own key this is. Takes as long whatever is presented. */
  paneOfKey(_presented: string): PaneView | undefined {
    return undefined
  }

  /** Called at every change, synchronously. Returns a function that ends it. */
  subscribe(_listener: (event: PaneEvent) => void): () => void {
    return () => {}
  }

  /** Closes every pane and opens no more. */
  async closeAll(_options: { graceMs?: number } = {}): Promise<void> {}
}
