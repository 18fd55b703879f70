/**
 * What panes tell, as log lines and as counts: one structured line per grant, denial, fence and take-over, which names
 * both parties. Holds no secret: a notice has none (R16).
 */
import type { ClaimantInfo } from '@agentmux/host-admission'
import type { Holder } from '@agentmux/lease-model'
import type { Refusal } from '@agentmux/refusals'
import type { Log } from '../log/log.js'
import type { LeaseMetrics, Tier } from '../metrics/lease-metrics.js'
import type { PaneNotice } from '../panes/pane-notice.js'

export interface AdmissionLogPorts {
  readonly log: Log
  readonly metrics: LeaseMetrics
  /** Ourselves: one of the two parties of every line. */
  readonly claimant: ClaimantInfo
}

type Of<Kind extends PaneNotice['kind']> = Extract<PaneNotice, { kind: Kind }>

export class AdmissionLog {
  readonly #log: Log
  readonly #metrics: LeaseMetrics
  readonly #us: Record<string, unknown>

  constructor({ log, metrics, claimant }: AdmissionLogPorts) {
    this.#log = log
    this.#metrics = metrics
    const { hostname, channel, version, pid } = claimant
    this.#us = { hostname, channel, version, pid }
  }

  /** An arrow, so that it can be handed over as it is. */
  readonly note = (notice: PaneNotice): void => {
    switch (notice.kind) {
      case 'granted':
        this.#granted(notice)
        break
      case 'denied':
      case 'unknown':
        this.#denied(notice)
        break
      case 'fenced':
        this.#fenced(notice)
        break
      case 'handed-over':
        this.#handedOver(notice)
        break
      case 'taken-over':
        this.#takenOver(notice)
        break
      case 'fault':
        this.#fault(notice)
    }
  }

  #granted({ agent, blockId, epoch, replaced }: Of<'granted'>): void {
    this.#metrics.count('granted', 'host')
    if (replaced !== undefined) this.#metrics.count(`reclaimed_${replaced.why}`, 'host')
    const line = { event: 'granted', agent, block_id: blockId, epoch, to: this.#us }
    this.#log.info({ ...line, replaced: replaced ?? null }, 'lease granted')
  }

  #denied({ kind, agent, by, refusal }: Of<'denied' | 'unknown'>): void {
    this.#metrics.count(kind, tierOf(by))
    if (by === 'probe' && kind === 'denied') this.#metrics.count('compat_probe_hit', 'host')
    const line = { event: kind, agent, check: by, asked_by: this.#us, ...reasonOf(refusal) }
    this.#log.warn(line, kind === 'denied' ? 'start denied' : 'start denied: not known who drives the agent')
  }

  #fenced({ agent, blockId, epoch, refusal }: Of<'fenced'>): void {
    this.#metrics.count('fenced', tierOfLoss(refusal))
    const line = { event: 'fenced', agent, block_id: blockId, epoch, was: this.#us, ...reasonOf(refusal) }
    this.#log.warn(line, 'agent fenced')
  }

  #handedOver({ agent, blockId, epoch, toChannel, toVersion }: Of<'handed-over'>): void {
    this.#metrics.count('takeover', 'host')
    const to = { channel: toChannel, version: toVersion }
    this.#log.info(
      { event: 'handed-over', agent, block_id: blockId, epoch, from: this.#us, to },
      'agent handed over'
    )
  }

  #takenOver({ agent, blockId, epoch, fromChannel }: Of<'taken-over'>): void {
    this.#metrics.count('takeover', 'host')
    const from = fromChannel === undefined ? null : { channel: fromChannel }
    this.#log.info(
      { event: 'taken-over', agent, block_id: blockId, epoch, from, to: this.#us },
      'agent taken over'
    )
  }

  #fault({ agent, blockId, fault }: Of<'fault'>): void {
    const err = fault instanceof Error ? fault : new Error(String(fault))
    this.#log.error({ event: 'fault', agent, block_id: blockId, err }, 'fault')
  }
}

function tierOf(by: Of<'denied' | 'unknown'>['by']): Tier {
  return by === 'lan' || by === 'relay' ? by : 'host'
}

/** Who has the agent now says which tier noticed. */
function tierOfLoss(refusal: Refusal): Tier {
  const place = holderOf(refusal)?.place
  return place === 'lan' || place === 'relay' ? place : 'host'
}

function reasonOf(refusal: Refusal): Record<string, unknown> {
  return { holder: holderOf(refusal) ?? null, refusal: refusal.kind, sentence: refusal.message }
}

function holderOf(refusal: Refusal): Holder | undefined {
  return 'holder' in refusal ? refusal.holder : undefined
}
