/** What a program tells of itself, held against the rules. */
import type { Process } from '../kernel/process.js'
import type { Report } from '../programs/system.js'
import { meetFate } from './message-fate.js'
import { movesOnlyForPeople, onlyWhatPeopleAskedFor } from './only-for-people.js'
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
    case 'message-call':
      stage.messages.called(report)
      return meetFate(stage, report)
    case 'message-sent':
      return stage.messages.sent(process, report)
    case 'message-delivered':
      leases.answered(process, stage.observer.seat(host, report.uid), {
        ...report,
        what: 'deliver a message'
      })
      return stage.messages.delivered(process, report)
    case 'instance':
      return leases.introduce(report.owner, { process, endsPrevious: report.endsPrevious, ...who })
    case 'granted':
      history.note(process.label, `is granted ${report.uid}, epoch ${report.epoch}`)
      onlyWhatPeopleAskedFor(stage, process, report.uid)
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
      history.note(process.label, `is refused ${report.uid} by the ${report.by}: ${report.why}`)
      if (report.by === 'handover-hold' || report.why === 'taken-over')
        stage.observer.refusals.keptAway(process, stage.observer.seat(host, report.uid), report.fromUs)
      if (report.idle && report.writes > 0 && report.why !== 'io' && report.why !== 'lost') {
        history.violate(
          'R9',
          `${process.label} was refused ${report.uid} and had written ${report.writes} times`
        )
      }
      return
    case 'turned-away':
      return stage.observer.refusals.turnedAway(process, stage.observer.seat(host, report.uid), report)
    case 'keeps':
      return leases.held(stage.observer.seat(host, report.uid))
    case 'looks':
      return stage.elsewhere.looked(process, report.uid, report)
    case 'yields':
      return stage.elsewhere.yielded(process, report.uid, report)
    case 'held-at-relay':
      return stage.elsewhere.heldAtRelay(process, report.uid)
    case 'let-go-at-relay':
      return stage.elsewhere.letGoAtRelay(process, report.uid)
    case 'relay':
      if (report.status === 200) movesOnlyForPeople(stage, report)
      return stage.elsewhere.relay(report)
    case 'note':
      return history.note(process.label, report.text)
    case 'wrong':
      return history.violate(report.rule, `${process.label}: ${report.text}`)
  }
}
