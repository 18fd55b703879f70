/** Puts a daemon together: admission, panes, both halves of a take-over and the routes. What would be a global is made here, once. */
import {
  EarlyCheck,
  HostAdmission,
  InstanceClient,
  OtherInstances,
  ReactiveRegistry,
  SharedRecord
} from '@agentmux/host-admission'
import type { LanSecret } from '@agentmux/lan-tier'
import { type Clock, type InstanceIdentity, leaseTimings } from '@agentmux/lease-model'
import type { AdviceOptions } from '@agentmux/refusals'
import type { HttpApp } from '../http/http-app.js'
import { createLanServer } from '../http/lan-server.js'
import { createHttpServer, type HttpServerOptions } from '../http/server.js'
import { LanLog } from '../lan/lan-log.js'
import { LanSwitch } from '../lan/lan-switch.js'
import type { Log } from '../log/log.js'
import { LeaseMetrics } from '../metrics/lease-metrics.js'
import { Metrics } from '../metrics/metrics.js'
import type { PaneNotice } from '../panes/pane-notice.js'
import { Panes } from '../panes/panes.js'
import { RelayLink } from '../relay/relay-link.js'
import { RelayLog } from '../relay/relay-log.js'
import type { RelaySetting } from '../relay/relay-setting.js'
import { AdmissionLog } from './admission-log.js'
import { PaneHandOver } from './hand-over.js'
import { PaneTakeOver } from './take-over-pane.js'

export interface DaemonOptions {
  readonly clock: Clock
  readonly instance: InstanceIdentity
  readonly sharedRoot: string
  readonly registryRoot: string
  /** Opens everything. */
  readonly key: string
  readonly log: Log
  readonly http?: Omit<HttpServerOptions, 'key'>
  /** What whoever is refused here can do. */
  readonly advice: AdviceOptions
  /** What other computers ask with, and the secret of the network, if it has one. */
  readonly lan: { readonly key: string; readonly secret?: LanSecret | undefined }
  /** Absent: no relay. */
  readonly relay?: RelaySetting | undefined
  /** Where it answers: known once it listens, and asked only after that. */
  readonly url: () => string
}

export interface Daemon {
  readonly admission: HostAdmission
  readonly panes: Panes
  readonly registry: ReactiveRegistry
  readonly lan: LanSwitch
  readonly relay: RelayLink | undefined
  readonly app: HttpApp
}

export function composeDaemon(options: DaemonOptions): Daemon {
  const { clock, instance, sharedRoot, log, key, advice } = options
  const { ttlMs, renewIntervalMs } = leaseTimings()
  const warn = (fault: unknown, fields: object = {}) =>
    log.warn({ event: 'fault', ...fields, fault: fault instanceof Error ? fault.message : String(fault) })

  const record = new SharedRecord(sharedRoot, { clock })
  const admission = new HostAdmission({
    registryRoot: options.registryRoot,
    instance,
    clock,
    ttlMs,
    record,
    advice,
    onFault: ({ uid }, fault) => warn(fault, { uid })
  })
  const { store, holds, claimant } = admission
  const registry = new ReactiveRegistry(sharedRoot, { clock, host: store.host, onFault: warn })
  const client = new InstanceClient({ clock })
  const others = new OtherInstances({ registry, client, hostname: claimant.hostname })
  const metrics = new Metrics()
  const leases = new LeaseMetrics(metrics, { held: () => admission.held, clock, renewIntervalMs })
  const { note } = new AdmissionLog({ log, metrics: leases, claimant })
  const onNotice = (notice: PaneNotice) => {
    note(notice)
    if (notice.kind !== 'granted') return
    lan.agentStarted()
    relay?.agentStarted(notice.agent)
  }
  const { channel, version } = instance
  const isYielding = (uid: string) => lan.isYielding(uid)
  const lan: LanSwitch = new LanSwitch({
    admission,
    clock,
    instance,
    lanKey: options.lan.key,
    secret: options.lan.secret,
    log: new LanLog(log, clock),
    advice,
    port: () => Number(new URL(options.url()).port),
    server: () =>
      createLanServer(
        { panes, admission, metrics, log, version, isYielding },
        { lanKey: options.lan.key, secret: options.lan.secret }
      )
  })
  const relay: RelayLink | undefined =
    options.relay &&
    new RelayLink(options.relay, {
      clock,
      admission,
      panes: () => panes,
      log: new RelayLog(log, clock),
      advice,
      onTaken: () => leases.count('takeover', 'relay')
    })
  const early: EarlyCheck = new EarlyCheck({
    store,
    holds,
    others,
    clock,
    tiers: relay === undefined ? [lan] : [relay, lan],
    advice,
    onDoubt: ({ agent, by, why }) =>
      log.info({ event: 'doubt', uid: agent.uid, by, why }, 'it could not be found out, and did not count')
  })

  const panes: Panes = new Panes({
    admission,
    early,
    record,
    registry,
    clock,
    ttlMs,
    server: () => ({ channel, localUrl: options.url(), authKey: key }),
    onNotice
  })
  const handOver = new PaneHandOver({ panes, admission, others, client, advice, relay })
  const { takeOver: takeOverPane } = new PaneTakeOver({
    panes,
    admission,
    others,
    client,
    advice,
    onNotice,
    relay
  })
  const app = createHttpServer(
    { panes, handOver, takeOverPane, admission, metrics, log, clock, version, isYielding, lan, relay },
    { ...options.http, key, lanKey: options.lan.key }
  )
  return { admission, panes, registry, lan, relay, app }
}
