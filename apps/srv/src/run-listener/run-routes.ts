/**
 * What a `run` answers to others on this computer: that it is there, which agent it runs, whether it holds it, and the
 * request to let it go. Nothing else is served, whatever key is shown.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HeldAgentLease, HostAdmission } from '@agentmux/host-admission'
import { localHolding } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import { clientGoneByNow } from '../http/client-gone.js'
import { comesFromHere, knowsKey } from './guard.js'
import type { HandOverAnswer, HandOverRequests, Successor } from './hand-over-requests.js'
import { readJsonBody } from './read-json-body.js'

export interface RunRoutesPorts {
  readonly admission: Pick<HostAdmission, 'held' | 'claimant'>
  readonly lease: HeldAgentLease
  readonly requests: HandOverRequests
  readonly clock: Clock
  readonly key: string
  /** The name that the agent is registered under, and the registration's nonce. */
  readonly registered: () => { readonly agentName: string; readonly nonce: number }
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

const METHODS: Readonly<Record<string, string>> = {
  '/health': 'GET',
  '/agentmux/reactive/agents': 'GET',
  '/agentmux/agent/holding': 'GET',
  '/agentmux/agent/release': 'POST'
}
/** What other instances accept of a channel or a version. */
const MAX_NAME_LENGTH = 64

/** Undefined if nobody waits for the answer. */
export async function answerTo(
  request: IncomingMessage,
  response: ServerResponse,
  ports: RunRoutesPorts
): Promise<Answer | undefined> {
  const denied = comesFromHere(request.headers, request.socket.localPort ?? 0)
  if (denied !== undefined) return { status: denied.status, body: { error: denied.error } }
  if (!URL.canParse(request.url ?? '', 'http://localhost'))
    return { status: 404, body: { error: 'not found' } }
  const url = new URL(request.url ?? '', 'http://localhost')
  if (url.pathname !== '/health') {
    const unknown = knowsKey(request.headers, ports.key)
    if (unknown !== undefined) return { status: unknown.status, body: { error: unknown.error } }
  }
  const method = Object.hasOwn(METHODS, url.pathname) ? METHODS[url.pathname] : undefined
  if (method === undefined) return { status: 404, body: { error: 'not found' } }
  if (method !== request.method) return { status: 405, body: { error: 'method not allowed' } }
  switch (url.pathname) {
    case '/health':
      return { status: 200, body: { status: 'ok', version: ports.admission.claimant.version } }
    case '/agentmux/reactive/agents':
      return { status: 200, body: drives(ports) ? [registrationOf(ports)] : [] }
    case '/agentmux/agent/holding':
      return holding(url.searchParams.get('uid') ?? '', ports)
    default:
      return release(request, response, ports)
  }
}

/** Not any more once the lease was given up: nothing of it runs then, and whoever asks may have the agent. */
function drives({ lease }: RunRoutesPorts): boolean {
  return lease.held || lease.loss !== undefined
}

function registrationOf({ lease, clock, registered }: RunRoutesPorts) {
  const { agentName, nonce } = registered()
  return {
    agent_id: agentName,
    block_id: lease.blockId,
    uid: lease.agent.uid,
    registered_at: lease.acquiredAtMs,
    last_seen: clock.wallMs(),
    registration_nonce: nonce
  }
}

function holding(uid: string, { admission: { held, claimant } }: RunRoutesPorts): Answer {
  if (uid.trim() === '') return { status: 400, body: { error: 'uid required' } }
  return { status: 200, body: localHolding(uid, { held, claimant }) }
}

async function release(
  request: IncomingMessage,
  response: ServerResponse,
  { admission: { held, claimant }, requests }: RunRoutesPorts
): Promise<Answer | undefined> {
  const body = await readJsonBody(request)
  if (body.kind === 'broken') return undefined
  if (body.kind === 'refused') return { status: body.status, body: { error: body.error } }
  const asked = readRelease(body.value)
  if ('error' in asked) return { status: 400, body: asked }
  if (!localHolding(asked.uid, { held, claimant }).held) return released(0)
  // Whoever has given up meanwhile must not stop anything.
  const gone = await clientGoneByNow(response)
  if (gone.aborted) return undefined
  return answerOf(await requests.ask(asked.successor, gone))
}

function readRelease(
  body: Readonly<Record<string, unknown>>
): { uid: string; successor: Successor } | { error: string } {
  const { uid, requested_by_channel: channel = '', requested_by_version: version = '' } = body
  if (typeof uid !== 'string' || uid.trim() === '') return { error: 'uid required' }
  if (!isName(channel)) return { error: 'requested_by_channel must be a short text' }
  if (!isName(version)) return { error: 'requested_by_version must be a short text' }
  return { uid, successor: { channel, version } }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH
}

function answerOf(answer: HandOverAnswer): Answer {
  if (answer.kind === 'kept') return { status: 409, body: { error: answer.message } }
  return released(answer.kind === 'let-go' ? 1 : 0)
}

function released(count: number): Answer {
  return { status: 200, body: { ok: true, released: count } }
}
