/**
 * Who asks, by the token and the headers of a request. The account is the token's and nothing else's; a token of one agent
 * speaks for that agent alone.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { plainText } from '@agentmux/refusals'
import type { FastifyRequest } from 'fastify'
import { type AgentKey, agentName } from '../model/agent-key.js'
import type { Identity } from '../model/holder.js'
import type { Token } from '../model/token.js'
import { HttpError } from './http-error.js'

export interface Caller extends Identity {
  readonly token: Token
  /** Of `X-Agent-ID`, or the token's own; undefined if neither says. */
  readonly agent: string | undefined
  /** The same for all tries of one call. */
  readonly requestKey: string | undefined
}

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i
const REQUEST_KEY = /^[\x21-\x7e]{1,128}$/
const MAX_INSTANCE_LENGTH = 512
const MAX_INSTALL_LENGTH = 64

/** Undefined where there is none that could be a token. */
export function presentedToken(headers: IncomingHttpHeaders): string | undefined {
  return BEARER.exec(headers.authorization ?? '')?.[1]
}

export function callerOf(token: Token, headers: IncomingHttpHeaders): Caller {
  const named = agentName(decoded(one(headers['x-agent-id'])))
  const key = one(headers['idempotency-key'])
  return {
    token,
    agent: token.agent === '' ? named : token.agent,
    instance: instanceName(decoded(one(headers['x-agent-instance']))),
    install: installName(one(headers['x-agent-install'])),
    requestKey: REQUEST_KEY.test(key) ? key : undefined
  }
}

/** Of a request on a route that a token opens. */
export function callerIn(request: FastifyRequest): Caller {
  if (request.caller === null) throw new TypeError('no token opens this route')
  return request.caller
}

/** The lease or queue that a caller means by this name. @throws HttpError for none of its own */
export function keyFor({ token }: Caller, name: string): AgentKey {
  const agent = agentName(name)
  if (agent === undefined) throw new HttpError(400, 'agent_id is invalid')
  if (!mayUse(token, agent)) throw new HttpError(403, 'this token is for another agent')
  return { account: token.account, agent }
}

export function mayUse(token: Token, agent: string): boolean {
  return token.agent === '' || token.agent === agent
}

/** The queue of the agent that the headers name. @throws HttpError if they name none */
export function ownKey(caller: Caller): AgentKey {
  if (caller.agent === undefined) throw new HttpError(400, 'X-Agent-ID is required')
  return { account: caller.token.account, agent: caller.agent }
}

export function instanceName(text: string): string {
  return plainText(text, MAX_INSTANCE_LENGTH)
}

export function installName(text: string): string {
  return plainText(text, MAX_INSTALL_LENGTH)
}

function one(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}

/** Percent-encoded UTF-8; what is not is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
