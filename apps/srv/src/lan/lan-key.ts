/** The key that other computers ask with: new at every start, in memory only, and good for nothing but who-holds questions. */
import { randomUUID } from 'node:crypto'

export function createLanKey(): string {
  return randomUUID() + randomUUID()
}
