/** The server as the routes see it: bodies are checked by zod, and every route says who may ask. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyTypeProvider, RawServerDefault } from 'fastify'
import type * as z from 'zod/mini'
import type { Log } from '../log/log.js'
import type { Caller } from './caller.js'

/** What `schema` of a route says, its handler gets. */
export interface ZodSchemas extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodMiniType ? z.output<this['schema']> : unknown
}

export type HttpApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, Log, ZodSchemas>

/** - `token`: whoever has one - `this-computer`: programs on the relay's own - `anyone` */
export type Opens = 'token' | 'this-computer' | 'anyone'

declare module 'fastify' {
  interface FastifyContextConfig {
    opens?: Opens
  }
  interface FastifyRequest {
    /** Of routes that a token opens; null elsewhere. */
    caller: Caller | null
  }
}
