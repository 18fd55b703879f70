/**
 * Starts the watchdog thread. A file of its own, with next to nothing behind it: a program in a hurry starts the thread
 * first and loads the rest meanwhile.
 */
import { Worker } from 'node:worker_threads'
import type { LeaseTimings } from '@agentmux/lease-model'
import { AdmissionFault } from './admission-fault.js'
import type { FromWatchdog, WatchdogSettings } from './watchdog-messages.js'

export interface WatchdogThread {
  readonly worker: Worker
  /** Rejects with an AdmissionFault if it ends before it runs. Never an unhandled rejection. */
  readonly ready: Promise<void>
  /** Resolves, with the reason, if the thread ends. */
  readonly ended: Promise<AdmissionFault>
}

/** It does not keep the process alive. Throws what the system says if no thread can be made. */
export function startWatchdogThread(timings: LeaseTimings): WatchdogThread {
  const { ttlMs, terminateAfterMs, killAfterMs } = timings
  const tickMs = Math.min(250, Math.max(20, Math.floor(ttlMs / 60)))
  const settings: WatchdogSettings = { ttlMs, terminateAfterMs, killAfterMs, tickMs }
  // Nothing of the main thread's command line or environment: a debugger port or a preload would be in the way.
  const worker = new Worker(new URL('./watchdog-thread.js', import.meta.url), {
    workerData: settings,
    execArgv: [],
    env: {},
    name: 'agentmux-watchdog'
  })
  const ended = new Promise<AdmissionFault>((resolve) => {
    const end = (cause: unknown) =>
      resolve(new AdmissionFault('watchdog-failed', 'the watchdog thread has ended', cause))
    worker.on('error', end)
    worker.on('exit', (code) => end(new Error(`exit code ${code}`)))
  })
  const ready = new Promise<void>((resolve, reject) => {
    const onMessage = (message: FromWatchdog) => {
      if (message.kind !== 'ready') return
      worker.off('message', onMessage)
      resolve()
    }
    worker.on('message', onMessage)
    void ended.then(reject)
  })
  ready.catch(() => {})
  // After the listeners: one for messages refers the thread again, and the process would never end by itself.
  worker.unref()
  return { worker, ready, ended }
}
