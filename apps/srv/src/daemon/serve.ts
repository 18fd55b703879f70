/**
 * The life of a daemon: one per channel and shared root, found by its file, and gone without a trace. Keeps true that it
 * answers before it can be found, and that nothing it has started runs when it has ended.
 */
import { once } from 'node:events'
import { hostname } from 'node:os'
import { AdmissionFault } from '@agentmux/host-admission'
import { hostLabel } from '@agentmux/lease-model'
import { LeaseFault } from '@agentmux/lease-store'
import { EXIT_CODES, lanTrustWarning } from '@agentmux/refusals'
import { adviceOfDaemon } from '../advice.js'
import { type CommonFlags, compose } from '../compose.js'
import { type CrashHandler, INTERNAL_ERROR } from '../crash.js'
import { createLanKey } from '../lan/lan-key.js'
import { takeLanSecret } from '../lan/lan-secret-source.js'
import { createLog, type Log } from '../log/log.js'
import { print, say } from '../output.js'
import { installId } from '../relay/install-id.js'
import { takeRelayToken } from '../relay/relay-token.js'
import { relayUrlProblem } from '../relay/relay-url-problem.js'
import { fail } from '../report.js'
import { sharedRoot } from '../shared-root.js'
import { VERSION } from '../version.js'
import { warnOfFolder } from '../warn-of-folder.js'
import { alreadyRuns } from './about-daemon.js'
import { takeAuthKey } from './auth-key.js'
import { composeDaemon, type Daemon } from './compose-daemon.js'
import { daemonFilePath, lookForDaemon, removeDaemonFile, writeDaemonFile } from './daemon-file.js'
import { DaemonLock } from './daemon-lock.js'
import { endOrphans } from './end-orphans.js'
import { type EndSignals, listenForEndSignals } from './end-signals.js'

export interface ServeFlags extends CommonFlags {
  /** 0: any that is free. */
  readonly port: number
  /** Whether the LAN is on from the start. */
  readonly lan: boolean
  /** The base URL of the relay; undefined for none. */
  readonly relay: string | undefined
  /** For a relay whose leases live for another time than the protocol's. */
  readonly relayRenewMs: number | undefined
}

const HOST = '127.0.0.1'
/** Every pane has this long to end by itself. */
const GRACE_MS = 10_000
/** What has not ended this long after is left to whoever claims next. */
const PATIENCE_MS = 20_000
/** Whether the LAN hangs or not. */
const LAN_PATIENCE_MS = 4_000

/** Resolves with the exit code of the process. */
export async function serve(flags: ServeFlags, crashes: CrashHandler): Promise<number> {
  const key = takeAuthKey(process.env)
  if (key === undefined) {
    return fail(
      flags,
      EXIT_CODES.usage,
      '$AGENTMUX_AUTH_KEY can be no key: 1 to 256 visible ASCII characters'
    )
  }
  const lanSecret = takeLanSecret(process.env)
  if (lanSecret.kind === 'fault') return fail(flags, EXIT_CODES.usage, lanSecret.message)
  const relayToken = takeRelayToken(process.env)
  const relayUrl = flags.relay ?? (process.env.AGENTMUX_MUXBUS_REST_URL || undefined)
  const badRelay = relayUrl === undefined ? undefined : relayUrlProblem(relayUrl)
  if (badRelay !== undefined) return fail(flags, EXIT_CODES.usage, badRelay)
  const shared = sharedRoot(flags.sharedDir, process.env)
  const { clock, instance, registryRoot, channel } = compose(flags, process.env)
  const signals = listenForEndSignals()
  let lock: DaemonLock | undefined
  try {
    lock = DaemonLock.take(shared, channel)
    if (lock === undefined) {
      const message = alreadyRuns(shared, channel, lookForDaemon(shared, channel))
      return fail(flags, EXIT_CODES.heldElsewhere, message)
    }
    let url = ''
    const lanKey = createLanKey()
    const { secret, text } = lanSecret.kind === 'secret' ? lanSecret : { secret: undefined, text: '' }
    const { log, flush } = createLog({ secrets: [key, lanKey, text, ...relayToken.secrets] })
    const daemon = composeDaemon({
      clock,
      instance,
      sharedRoot: shared,
      registryRoot,
      key,
      log,
      advice: adviceOfDaemon(flags),
      lan: { key: lanKey, secret },
      relay:
        relayUrl === undefined
          ? undefined
          : {
              url: relayUrl,
              host: hostLabel(hostname()),
              channel,
              version: VERSION,
              install: installId(shared, channel),
              token: relayToken,
              renewEveryMs: flags.relayRenewMs
            },
      url: () => url
    })
    const doubts = warnOfFolder(shared)
    if (doubts !== '')
      log.warn({ event: 'doubtful-folder', shared, fileSystem: doubts }, 'leases are only watched')
    url = await listen(daemon, flags.port)
    const path = daemonFilePath(shared, channel)
    const onExit = () => daemon.panes.killAll()
    process.once('exit', onExit)
    try {
      daemon.registry.sweep()
      await endOrphans(daemon.admission, {
        signal: signals.asked,
        onFault: ({ uid }, fault) => log.warn({ event: 'orphan', uid, fault: String(fault) }, 'not ended')
      })
      const { pid } = process
      const file = { url, authKey: key, pid, channel, version: VERSION, startedAtMs: clock.wallMs() }
      writeDaemonFile(path, file)
      const noToken = daemon.relay === undefined ? undefined : relayToken.problem()
      if (noToken !== undefined) say(`the relay is not asked: ${noToken}`)
      daemon.relay?.start()
      if (flags.lan) await turnLanOn(daemon, log)
      log.info({ event: 'started', url, channel, version: VERSION, shared }, 'the daemon answers')
      print(flags.json ? JSON.stringify({ url, channel, pid, version: VERSION }) : url)
      return await untilEnd(signals, crashes)
    } finally {
      await shutDown(daemon, signals)
      removeDaemonFile(path, { url, authKey: key })
      log.info({ event: 'ended' }, 'the daemon has ended')
      await flush()
      process.off('exit', onExit)
    }
  } catch (fault) {
    // Asked to end while it was starting.
    if (signals.asked.aborted && fault === signals.asked.reason) return 0
    const message = fault instanceof Error ? fault.message : String(fault)
    if (!isExpected(fault)) throw fault
    return fail(flags, EXIT_CODES.couldNotFindOut, `the daemon could not be started: ${message}`)
  } finally {
    lock?.release()
    signals.stop()
  }
}

/** Without it the daemon works as well: what stands in the way is told. */
async function turnLanOn({ lan }: Daemon, log: Log): Promise<void> {
  if (!lan.view().signed) {
    say(lanTrustWarning())
    log.warn({ event: 'lan-unsigned' }, 'no LAN secret is set')
  }
  const turned = await lan.turn(true)
  if (turned.kind === 'turned') return
  say(turned.why)
  log.error({ event: 'lan-fault', cause: turned.why }, 'the LAN could not be turned on')
}

/** Loopback alone; whoever runs on another computer has no business here. */
async function listen({ app }: Daemon, port: number): Promise<string> {
  return new URL(await app.listen({ host: HOST, port })).origin
}

/** Asked to, or an error of our own: then the panes are closed all the same. */
async function untilEnd({ asked }: EndSignals, crashes: CrashHandler): Promise<number> {
  let takeBack = () => {}
  const crashed = new Promise<number>((resolve) => {
    takeBack = crashes.cleanUpFirst(() => resolve(INTERNAL_ERROR))
  })
  try {
    const ended = asked.aborted ? Promise.resolve(0) : once(asked, 'abort').then(() => 0)
    return await Promise.race([ended, crashed])
  } finally {
    takeBack()
  }
}

/** Answers until the panes are closed: what waits for one of them hears of it. */
async function shutDown(
  { panes, app, registry, admission, lan, relay }: Daemon,
  { hurried }: EndSignals
): Promise<void> {
  const graceMs = hurried.aborted ? 0 : GRACE_MS
  const onHurry = () => void panes.closeAll({ graceMs: 0 })
  hurried.addEventListener('abort', onHurry, { once: true })
  await orAfter(PATIENCE_MS + graceMs, panes.closeAll({ graceMs }))
  hurried.removeEventListener('abort', onHurry)
  panes.killAll()
  // The goodbye and the releases: for others, and nobody here waits for them longer than it takes to send.
  await Promise.all([
    orAfter(LAN_PATIENCE_MS, lan.close()),
    orAfter(PATIENCE_MS, relay?.close() ?? Promise.resolve()),
    app.close()
  ])
  registry.close()
  await orAfter(PATIENCE_MS, admission.close({ graceMs: 0 }))
}

async function orAfter(boundMs: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, boundMs)
  })
  await Promise.race([done, enough])
  clearTimeout(timer)
}

/** The disk, the port, the lock: not our mistake. */
function isExpected(fault: unknown): boolean {
  if (fault instanceof LeaseFault || fault instanceof AdmissionFault) return true
  return fault instanceof Error && 'code' in fault && 'syscall' in fault
}
