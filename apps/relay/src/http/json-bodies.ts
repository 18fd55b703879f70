/** Bodies: JSON in UTF-8 and nothing else. What a route asks of one is checked by zod; an answer names the field, never its value. */
import type { FastifyRequest } from 'fastify'
import type * as z from 'zod/mini'
import type { HttpApp } from './http-app.js'
import { HttpError } from './http-error.js'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function readJsonBodies(app: HttpApp): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const text = decoded(body as Buffer)
    if (text === '') return done(null, undefined)
    if (text === undefined) return done(notJson(), undefined)
    parse(request as FastifyRequest, text, (error, value) => done(error ? notJson() : null, value))
  })
  app.setValidatorCompiler<z.ZodMiniType>(({ schema }) => (value) => {
    const result = schema.safeParse(value ?? {})
    return result.success ? { value: result.data } : { error: wrongField(result.error.issues[0], value) }
  })
}

function decoded(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

function notJson(): HttpError {
  return new HttpError(400, 'the body is not JSON')
}

function wrongField(issue: z.core.$ZodIssue | undefined, body: unknown): HttpError {
  const [first, ...rest] = issue?.path ?? []
  if (issue === undefined || first === undefined) return new HttpError(400, 'the body must be an object')
  // Names inside a field are the caller's own words.
  const places = rest.filter((key) => typeof key === 'number')
  const field = [first, ...places].map(String).join('.')
  const named = places.length === rest.length
  return new HttpError(400, `${field} ${named ? problemOf(issue, body) : 'is invalid'}`)
}

function problemOf(issue: z.core.$ZodIssue, body: unknown): string {
  if (isMissing(body, issue)) return 'required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(issue.expected)}`
    case 'too_big':
      return 'is too large'
    case 'too_small':
      return 'is too small'
    case 'custom':
      return issue.message
    default:
      return 'is invalid'
  }
}

function isMissing(body: unknown, { path, code }: z.core.$ZodIssue): boolean {
  let value = body
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return true
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value === undefined || (value === '' && code === 'too_small')
}

/** A tuple is an array to whoever writes JSON. */
function article(type: string): string {
  const expected = type === 'tuple' ? 'array' : type === 'record' ? 'object' : type
  return /^[aeio]/.test(expected) ? `an ${expected}` : `a ${expected}`
}
