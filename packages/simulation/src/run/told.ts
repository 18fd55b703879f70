/** What a program tells of itself, held against the rules. */
import type { Process } from '../kernel/process.js'
import type { Report } from '../programs/system.js'
import type { Stage } from './stage.js'

export function told(
  stage: Stage,
  process: Process,
  { report, who }: { report: Report; who: { channel: string; version: string } }
) {
  const { history } = stage.world
  const { host } = process
  const { leases } = stage.observer
  switch (report.kind) {
    case 'instance':
      return leases.introduce(report.owner, { process, endsPrevious: report.endsPrevious, ...who })
    case 'granted':
      history.note(process.label, `is granted ${report.uid}, epoch ${report.epoch}`)
      return leases.granted(process, stage.observer.seat(host, report.uid), report)
    case 'answered':
      return leases.answered(process, stage.observer.seat(host, report.uid), report)
    case 'turn':
      history.note(process.label, `begins a turn of ${report.uid}`)
      return leases.answered(process, stage.observer.seat(host, report.uid), {
        ...report,
        what: 'take a turn'
      })
    case 'lost':
      return history.note(process.label, `loses ${report.uid}: ${report.why}`)
    case 'refused':
      history.note(process.label, `is refused ${report.uid}: ${report.why}`)
      if (report.idle && report.writes > 0 && report.why !== 'io' && report.why !== 'lost') {
        history.violate(
          'R9',
          `${process.label} was refused ${report.uid} and had written ${report.writes} times`
        )
      }
      return
    case 'yields':
      return stage.elsewhere.yielded(process, report.uid, report)
    case 'held-at-relay':
      return stage.elsewhere.heldAtRelay(process, report.uid)
    case 'relay':
      return stage.elsewhere.relay(report)
    case 'note':
      return history.note(process.label, report.text)
    case 'wrong':
      return history.violate(report.rule, `${process.label}: ${report.text}`)
  }
}
