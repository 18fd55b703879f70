/** The headers that every answer has, for one that is written without fastify. */
import type { FastifyReply } from 'fastify'

export type StreamHeaders = Readonly<Record<string, string>>

export function streamHeaders(reply: FastifyReply): StreamHeaders {
  const headers = Object.entries(reply.getHeaders())
  return Object.fromEntries(headers.map(([name, value]) => [name, String(value)]))
}
