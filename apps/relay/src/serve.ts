/**
 * The life of a relay: the store, the routes, the signals. Keeps true that it answers nothing before its store is open, and
 * that it is reached without TLS only from its own computer, unless that was asked for by name.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createSystemClock } from '@agentmux/lease-model'
import type { CommonFlags } from './commands/common-flags.js'
import type { CrashHandler } from './crash.js'
import { type EndSignals, listenForEndSignals } from './end-signals.js'
import { EXIT } from './exit-codes.js'
import { isLoopback } from './http/guard-requests.js'
import type { HttpApp } from './http/http-app.js'
import { createHttpServer } from './http/http-server.js'
import { replaceCertificate, type TlsFiles } from './http/make-server.js'
import { isExpected } from './is-expected.js'
import { createAudit } from './log/audit.js'
import { createLog, type RelayLog } from './log/log.js'
import { Metrics } from './metrics/metrics.js'
import { addProcessMetrics } from './metrics/process-metrics.js'
import { openServingStore } from './open-store.js'
import { print } from './output.js'
import { fail } from './report.js'
import type { RelayStore } from './store/relay-store.js'
import { VERSION } from './version.js'

export interface ServeFlags extends CommonFlags {
  readonly host: string
  readonly port: number
  /** Paths. */
  readonly tls: TlsFiles | undefined
  readonly insecureHttp: boolean
  readonly rate: number | undefined
  readonly connections: number | undefined
  readonly agentsPerAccount: number | undefined
  readonly queue: number | undefined
  readonly ttlMs: number | undefined
}

/** Resolves with the exit code of the process. */
export async function serve(flags: ServeFlags, crashes: CrashHandler): Promise<number> {
  if (flags.tls === undefined && !flags.insecureHttp && !isLocal(flags.host)) {
    return fail(
      flags,
      EXIT.usage,
      `--host ${flags.host} without TLS would send tokens in the clear: give --tls-cert and --tls-key, or ` +
        '--insecure-http behind a proxy that does TLS'
    )
  }
  const output = createLog()
  let app: HttpApp | undefined
  const signals = listenForEndSignals(() => readCertificateAnew(app, flags, output))
  let store: RelayStore | undefined
  try {
    const tls = flags.tls === undefined ? undefined : readTlsFiles(flags.tls)
    const metrics = new Metrics()
    addProcessMetrics(metrics, output.dropped)
    const clock = createSystemClock()
    store = await openServingStore(flags, {
      clock,
      onChange: createAudit(output.log, metrics),
      onDropped: (count) => {
        if (count > 0) output.log.warn({ event: 'messages-dropped', count }, 'nobody fetched them')
      },
      ...given({ ttlMs: flags.ttlMs }),
      limits: given({ agentsPerAccount: flags.agentsPerAccount, queue: flags.queue })
    })
    const limits = given({ requestsPerSecond: flags.rate, connections: flags.connections })
    app = createHttpServer({ store, metrics, clock, log: output.log, version: VERSION }, { tls, limits })
    const url = await listen(app, flags)
    output.log.info({ event: 'started', url, version: VERSION, store: storeName(flags) }, 'the relay answers')
    print(flags.json ? JSON.stringify({ url, pid: process.pid, version: VERSION }) : url)
    return await untilEnd(signals, crashes)
  } catch (error) {
    if (!isExpected(error)) throw error
    return fail(flags, EXIT.unavailable, `the relay could not be started: ${error.message}`)
  } finally {
    await app?.close()
    await store?.close()
    signals.stop()
    output.log.info({ event: 'ended' }, 'the relay has ended')
    output.flush()
  }
}

async function listen(app: HttpApp, { host, port, tls }: ServeFlags): Promise<string> {
  await app.listen({ host, port })
  const address = app.server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const name = host.includes(':') ? `[${host}]` : host
  return `${tls === undefined ? 'http' : 'https'}://${name}:${bound}`
}

/** Asked to, or an error of our own. */
async function untilEnd({ asked }: EndSignals, crashes: CrashHandler): Promise<number> {
  let takeBack = () => {}
  const crashed = new Promise<number>((resolve) => {
    takeBack = crashes.cleanUpFirst(() => resolve(EXIT.internal))
  })
  try {
    const ended = asked.aborted ? Promise.resolve(EXIT.ok) : once(asked, 'abort').then(() => EXIT.ok)
    return await Promise.race([ended, crashed])
  } finally {
    takeBack()
  }
}

function readTlsFiles({ cert, key }: TlsFiles): TlsFiles {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

/** A certificate that cannot be used leaves the one before it in place. */
function readCertificateAnew(app: HttpApp | undefined, { tls }: ServeFlags, { log }: RelayLog): void {
  if (app === undefined || tls === undefined) return
  try {
    replaceCertificate(app.server, readTlsFiles(tls))
    log.info({ event: 'certificate' }, 'the certificate was read anew')
  } catch (error) {
    log.error({ event: 'certificate', err: error }, 'the certificate could not be read anew')
  }
}

function isLocal(host: string): boolean {
  return host === 'localhost' || isLoopback(host)
}

function storeName({ etcd }: CommonFlags): 'etcd' | 'sqlite' {
  return etcd === undefined ? 'sqlite' : 'etcd'
}

/** Without what was not said, so that defaults hold. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(said) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
