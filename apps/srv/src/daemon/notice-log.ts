/** What happens to panes, as one structured line each that names both parties, and in the counters. */
import type { ClaimantInfo } from '@agentmux/host-admission'
import type { Refusal } from '@agentmux/refusals'
import type { Log } from '../log/log.js'
import type { LeaseMetrics, Tier } from '../metrics/lease-metrics.js'
import type { PaneNotice } from '../panes/pane-notice.js'

export interface NoticeLogPorts {
  readonly log: Log
  readonly metrics: LeaseMetrics
  /** Who we are. */
  readonly claimant: ClaimantInfo
}

export function noticeLog({ log, metrics, claimant }: NoticeLogPorts): (notice: PaneNotice) => void {
  const us = {
    hostname: claimant.hostname,
    channel: claimant.channel,
    version: claimant.version,
    pid: process.pid
  }
  return (notice) => {
    const { uid, name } = notice.agent
    const fields = { event: notice.kind, uid, ...(name === undefined ? {} : { agent: name }), us }
    switch (notice.kind) {
      case 'granted':
        metrics.count('granted', 'host')
        return log.info({ ...fields, ...placeOf(notice) }, 'an agent was granted')
      case 'denied':
        metrics.count('denied', tierOf(notice.by))
        if (notice.by === 'probe') metrics.count('compat_probe_hit', 'host')
        return log.warn({ ...fields, by: notice.by, ...theirs(notice.refusal) }, 'an agent was refused')
      case 'unknown':
        metrics.count('unknown', tierOf(notice.by))
        return log.warn(
          { ...fields, by: notice.by, ...theirs(notice.refusal) },
          'it could not be found out whether an agent is free'
        )
      case 'fenced':
        metrics.count('fenced', 'host')
        return log.warn({ ...fields, ...placeOf(notice), ...theirs(notice.refusal) }, 'an agent was lost')
      case 'handed-over': {
        metrics.count('takeover', 'host')
        const them = { channel: notice.toChannel, version: notice.toVersion }
        return log.info({ ...fields, ...placeOf(notice), them }, 'an agent was handed over')
      }
      case 'taken-over': {
        metrics.count('takeover', 'host')
        const them = notice.fromChannel === undefined ? undefined : { channel: notice.fromChannel }
        return log.info({ ...fields, ...placeOf(notice), them }, 'an agent was taken over')
      }
      case 'fault': {
        const { fault, blockId } = notice
        const text = fault instanceof Error ? fault.message : String(fault)
        return log.warn({ ...fields, block_id: blockId, fault: text }, 'something went wrong')
      }
    }
  }
}

function placeOf({ blockId, epoch }: { readonly blockId: string; readonly epoch: number }) {
  return { block_id: blockId, epoch }
}

/** Who has the agent, as far as the refusal knows. */
function theirs(refusal: Refusal) {
  const { kind, message } = refusal
  if (!('holder' in refusal) || refusal.holder === undefined) return { refusal: kind, message }
  const { hostname, channel, version, pid, epoch } = refusal.holder
  return { refusal: kind, message, them: { hostname, channel, version, pid, epoch } }
}

function tierOf(by: Extract<PaneNotice, { kind: 'denied' | 'unknown' }>['by']): Tier {
  return by === 'lan' || by === 'relay' ? by : 'host'
}
