/** Whether the certificate can be used, for how long, and whether its key is its own. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Check } from './check.js'

const name = 'certificate'
const SOON_MS = 14 * 86_400_000

export function checkCertificate(cert: string | undefined, key: string | undefined): Check {
  if (cert === undefined || key === undefined) {
    return { name, level: 'ok', seen: 'none given: serve answers on this computer alone' }
  }
  try {
    const pem = readFileSync(cert, 'utf8')
    createSecureContext({ cert: pem, key: readFileSync(key, 'utf8') })
    const { subject, validTo } = new X509Certificate(pem)
    const leftMs = Date.parse(validTo) - Date.now()
    const seen = `${subject.replaceAll('\n', ', ')}, valid to ${validTo}`
    if (leftMs > SOON_MS) return { name, level: 'ok', seen }
    const todo = 'Renew it, then send SIGHUP to the relay.'
    return { name, level: leftMs > 0 ? 'warn' : 'fail', seen, todo }
  } catch (error) {
    const seen = `it cannot be used: ${error instanceof Error ? error.message : error}`
    return {
      name,
      level: 'fail',
      seen,
      todo: 'Both files must be PEM, and the key the one of the certificate.'
    }
  }
}
