#!/usr/bin/env node
/**
 * The program `agentmux-srv`. A run starts its watchdog thread before anything else, as that takes longest, and loads the
 * rest meanwhile: nothing that this file imports by itself may take time. tsup.config.ts says how the rest is kept apart.
 */
import { startWatchdogThread, type WatchdogThread } from '@agentmux/host-admission/start-watchdog-thread'
import { leaseTimings } from '@agentmux/lease-model'

const args = process.argv.slice(2)
let watchdogThread: WatchdogThread | undefined
if (args[0] === 'run') watchdogThread = startWatchdogThread(leaseTimings())
void import('./start.js').then(({ start }) => start(args, watchdogThread))
