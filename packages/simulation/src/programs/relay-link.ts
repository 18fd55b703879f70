/**
 * The relay of a daemon whose agents get messages: the real RelayLink of apps/srv, its log lines read for what the rules have to
 * know, its panes those of this daemon.
 */
import type { ElsewhereTier, HostAdmission } from '@agentmux/host-admission'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import type { PaneSeen } from './srv-parts.js'
import type { System } from './system.js'
import { type DrivenPane, TurnPanes, type TurnParts } from './turn-panes.js'

interface Link {
  start(): void
  readonly heldElsewhere: ElsewhereTier['heldElsewhere']
  agentStarted(agent: AgentRef): void
  takeOver(
    name: string,
    options: { letGoBy?: string; signal: AbortSignal }
  ): Promise<{ readonly kind: string }>
}
interface Line {
  readonly event: string
  readonly agent?: string
  readonly holder?: { readonly hostname: string }
  readonly why?: string
  readonly cause?: string
}
type Say = (line: Line, text: string) => void

/** Of apps/srv, handed in by whoever bundles the daemon. */
export interface LinkParts extends TurnParts {
  readonly RelayLink: new (setting: object, ports: object) => Link
  readonly RelayLog: new (log: { warn: Say; info: Say; error: Say }, clock: Clock) => unknown
}

const NEVER = new AbortController().signal

export function relayLink(
  system: System,
  parts: LinkParts,
  { clock, admission }: { clock: Clock; admission: HostAdmission }
) {
  const { relay, channel, version } = system.config
  const panes = new TurnPanes(system, { clock, parts })
  const say: Say = ({ event, agent = '', holder, why, cause }) => {
    if (event === 'relay-held-elsewhere')
      system.tell({ kind: 'yields', uid: agent, to: holder?.hostname ?? '', by: 'relay', claim: '' })
    else if (event === 'relay-fault') system.tell({ kind: 'note', text: `relay: ${cause}` })
    else if (event === 'relay-undelivered')
      system.tell({ kind: 'note', text: `a message for ${agent} goes back: ${why}` })
  }
  const link = new parts.RelayLink(
    {
      url: relay?.url ?? '',
      host: admission.claimant.hostname,
      channel,
      version,
      install: relay?.install ?? '',
      token: { token: () => relay?.token, secrets: [], problem: () => undefined },
      random: () => system.random()
    },
    {
      clock,
      admission,
      panes: () => panes,
      log: new parts.RelayLog({ warn: say, info: say, error: say }, clock)
    }
  )
  link.start()
  const take = async (uid: string, letGoBy: string | undefined) => {
    const taken = await link.takeOver(uid, { signal: NEVER, ...(letGoBy === undefined ? {} : { letGoBy }) })
    system.tell({ kind: 'note', text: `take of ${uid} at the relay: ${taken.kind}` })
    return taken.kind
  }
  return {
    tier: {
      name: 'relay' as const,
      heldElsewhere: (agent: AgentRef, signal: AbortSignal) => link.heldElsewhere(agent, signal)
    },
    paneChanged: async (pane: PaneSeen) => panes.changed(pane),
    started(uid: string, pane: DrivenPane) {
      panes.drives(pane)
      link.agentStarted({ uid, name: uid })
    },
    takeOver: async (uid: string, letGoBy: string | undefined) =>
      (await take(uid, letGoBy)) !== 'held-elsewhere',
    /** Nobody can: an agent is moved from another computer by ending it there. */
    async takeFromAnybody(uid: string) {
      await take(uid, undefined)
    }
  }
}
