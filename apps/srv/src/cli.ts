#!/usr/bin/env node
/**
 * The program `agentmux-srv`. A run starts its watchdog thread before anything else, as that takes longest, and loads the
 * rest meanwhile.
 */
import { setFlagsFromString } from 'node:v8'
import { startWatchdogThread, type WatchdogThread } from '@agentmux/host-admission/start-watchdog-thread'
import { leaseTimings } from '@agentmux/lease-model'

const args = process.argv.slice(2)
let watchdogThread: WatchdogThread | undefined
if (args[0] === 'run') {
  // It may wait for hours, and should sleep: the collector's idle work would wake it several times a second.
  setFlagsFromString('--no-incremental-marking')
  watchdogThread = startWatchdogThread(leaseTimings())
  // Asked for later, and then said whatever is wrong with it.
  import('./run.js').catch(() => {})
}
const { start } = await import('./start.js')
await start(args, watchdogThread)
