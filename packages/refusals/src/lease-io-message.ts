/**
 * What is read when a lease file could not be used: where, why, and the way out. The host tier fails closed (R7), so
 * nothing was started. It carries no marker, whatever the names and the path contain: it means try again, not take over.
 */
import type { AgentRef } from '@agentmux/lease-model'
import { agentInside } from './agent-label.js'
import { withOnlyMarker } from './only-marker.js'
import { plainText } from './plain-text.js'
import { wayOut } from './way-out.js'

export interface LeaseIoFault {
  /** The file or folder that could not be used. */
  readonly path: string
  /** The errno name, `ENOSPC` say; empty if there is none. */
  readonly code: string
  /** What the system said, `no space left on device` say; empty if it said nothing. */
  readonly text: string
}

/** What a sentence shows of a path, and of what the system said. */
const PATH_LENGTH = 512
const ERROR_LENGTH = 200

export function leaseIoMessage(agent: AgentRef, fault: LeaseIoFault): string {
  const path = shownPath(fault.path)
  const code = plainText(fault.code, ERROR_LENGTH)
  return withOnlyMarker(
    `The lease of ${agentInside(agent)} could not be read or written: ${path}: ${errorText(fault.text, code)}. Nothing was started. ${wayOut(code)}`
  )
}

export function shownPath(path: string): string {
  return plainText(path, PATH_LENGTH) || 'unknown path'
}

/** The system's words with the code, once: Node puts it in front of them by itself. */
function errorText(text: string, code: string): string {
  const said = plainText(text, ERROR_LENGTH).replace(/\.+$/u, '')
  if (!said) return code || 'unknown error'
  return code && !said.includes(code) ? `${code}: ${said}` : said
}
