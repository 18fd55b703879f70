/** Which of our records a query asks for, and whether it says that it knows them or wants our name for itself. */
import { type DnsMessage, sameName } from './dns-message.js'
import type { AnswerKind } from './pending-answers.js'
import { SERVICE, SERVICE_TYPES, type ServiceNames } from './service-names.js'

/** Work for one packet is bounded, whatever it asks. */
const MAX_QUESTIONS = 64

export function wantedAnswers(query: DnsMessage, names: ServiceNames): Set<AnswerKind> {
  const wanted = new Set<AnswerKind>()
  for (const { name, type } of query.questions?.slice(0, MAX_QUESTIONS) ?? []) {
    const any = type === 'ANY'
    if (sameName(name, SERVICE) && (any || type === 'PTR')) wanted.add('ptr')
    if (sameName(name, SERVICE_TYPES) && (any || type === 'PTR')) wanted.add('types')
    if (sameName(name, names.instance)) {
      if (any || type === 'SRV') wanted.add('srv')
      if (any || type === 'TXT') wanted.add('txt')
    }
    if (sameName(name, names.host) && (any || type === 'A' || type === 'AAAA')) wanted.add('addresses')
  }
  return wanted
}

/** A known answer counts while it has half its time left. */
export function knowsOurPtr(query: DnsMessage, names: ServiceNames, serviceTtl: number): boolean {
  return (query.answers ?? []).some(
    ({ name, type, ttl = 0, data }) =>
      type === 'PTR' &&
      typeof data === 'string' &&
      ttl >= serviceTtl / 2 &&
      sameName(name, SERVICE) &&
      sameName(data, names.instance)
  )
}

/** Somebody asks whether our name is free, and means to take it. */
export function isProbeFor(query: DnsMessage, names: ServiceNames): boolean {
  return (query.authorities ?? []).some(
    ({ name }) => sameName(name, names.instance) || sameName(name, names.host)
  )
}
