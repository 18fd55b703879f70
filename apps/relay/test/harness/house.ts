/** A relay in this process, on a port of its own, with a store in a temporary folder and a log that can be read. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createSystemClock } from '@agentmux/lease-model'
import { pino } from 'pino'
import { createHttpServer, type HttpServerOptions } from '../../src/http/http-server.js'
import { createAudit } from '../../src/log/audit.js'
import { Metrics } from '../../src/metrics/metrics.js'
import { newTokenId, newTokenSecret, type Token, tokenHash } from '../../src/model/token.js'
import type { RelayStore } from '../../src/store/relay-store.js'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js'
import type { StoreLimits } from '../../src/store/store-limits.js'

export interface House {
  readonly url: string
  readonly store: RelayStore
  readonly logged: () => string
  /** Makes a token and returns its secret. */
  token(fields?: Partial<Token>): Promise<string>
  close(): Promise<void>
}

export interface HouseOptions extends HttpServerOptions {
  readonly store?: Partial<StoreLimits>
}

export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const dataDir = mkdtempSync(join(tmpdir(), 'relay-house-'))
  let logged = ''
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk
      done()
    }
  })
  const log = pino({ level: 'debug' }, sink)
  const metrics = new Metrics()
  const clock = createSystemClock()
  const limits = options.store ?? {}
  const store = openSqliteStore({ dataDir, clock, limits, onChange: createAudit(log, metrics) })
  const app = createHttpServer({ store, metrics, clock, log, version: '0.0.0-test' }, options)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    store,
    logged: () => logged,
    async token(fields = {}) {
      const secret = newTokenSecret()
      const token = { id: newTokenId(), account: 'acme', agent: '', createdAtMs: 1, expiresAtMs: undefined }
      await store.tokens.add({ ...token, ...fields }, tokenHash(secret))
      return secret
    },
    async close() {
      await app.close()
      await store.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}
