/**
 * From a request to a pane in the list: its key, its command under the lease, and what is taken back when it takes no more
 * turns. Whatever does not come to a pane leaves no key behind.
 */
import { agentOf, type OpenPanePorts, openPane } from './open-pane.js'
import { Pane } from './pane.js'
import type { OpenRequest, OpenResult } from './pane-answers.js'
import { findPaneCommand } from './pane-command.js'
import type { PaneKeys } from './pane-keys.js'
import type { PaneList } from './pane-list.js'
import type { PaneNames } from './pane-names.js'
import type { PaneNotice } from './pane-notice.js'
import type { PaneParts } from './pane-parts.js'
import type { PanesPorts } from './panes-ports.js'

export interface PaneStarterHome {
  readonly ports: Omit<OpenPanePorts, 'onFault'> & Pick<PanesPorts, 'server'>
  readonly keys: PaneKeys
  readonly names: PaneNames
  readonly panes: PaneList
  readonly tell: (notice: PaneNotice) => void
}

export class PaneStarter {
  readonly #home: PaneStarterHome
  /** What to take back when a pane takes no more turns. */
  readonly #revoke = new WeakMap<Pane, () => void>()

  constructor(home: PaneStarterHome) {
    this.#home = home
  }

  /** @throws the signal's reason. Nothing runs then. */
  async start(request: OpenRequest, blockId: string, signal: AbortSignal): Promise<OpenResult> {
    const found = findPaneCommand(request)
    if (found.kind !== 'found') return found
    const { key, revoke } = this.#home.keys.issue(blockId)
    const agent = agentOf(request)
    let pane: Pane | undefined
    try {
      const variables = { AGENTMUX_LOCAL_URL: this.#home.ports.server().localUrl, AGENTMUX_AUTH_KEY: key }
      const opened = await openPane(
        { request, command: found.command, blockId, variables },
        { ...this.#home.ports, onFault: (of, fault) => this.#home.tell({ kind: 'fault', agent: of, fault }) },
        signal
      )
      if (opened.kind !== 'started') {
        const { kind } = opened
        if (kind === 'refused' || kind === 'unknown') {
          const { by, refusal } = opened
          this.#home.tell({ kind: kind === 'refused' ? 'denied' : 'unknown', agent, by, refusal })
        }
        return opened
      }
      pane = this.#start(opened.parts, revoke)
      return { kind: 'opened', pane: pane.view }
    } finally {
      if (pane === undefined) revoke()
    }
  }

  /** From the start of its child to here nothing may be forgotten: from now on the pane sees to its end. */
  #start(parts: PaneParts, revokeKey: () => void): Pane {
    const { clock } = this.#home.ports
    const pane = new Pane(
      {
        clock,
        onChange: (changed) => this.#home.panes.changed(changed),
        onClosing: (closing) => this.#revoke.get(closing)?.(),
        onFenced: ({ lease: { agent, epoch }, blockId }, refusal) =>
          this.#home.tell({ kind: 'fenced', agent, blockId, epoch, refusal }),
        onFault: ({ lease, blockId }, fault) =>
          this.#home.tell({ kind: 'fault', agent: lease.agent, blockId, fault })
      },
      parts
    )
    const { blockId, request } = pane
    this.#revoke.set(pane, () => {
      revokeKey()
      this.#home.names.removeAllOf(blockId)
    })
    this.#home.panes.add(pane)
    const { agent, epoch, replaced } = pane.lease
    const instead = replaced === undefined ? {} : { replaced }
    this.#home.tell({ kind: 'granted', agent, blockId, epoch, ...instead })
    if (pane.state === 'running')
      this.#home.names.addMain({ blockId, uid: request.uid }, request.agent ?? request.uid)
    else this.#revoke.get(pane)?.()
    return pane
  }
}
