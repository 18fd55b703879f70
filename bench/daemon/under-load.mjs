/** One daemon, its panes, turns at a fixed rate: how long they took, what everybody used, what stands in the records. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { distribution } from '../measuring/distribution.mjs'
import { fenceHolder } from './fence-times.mjs'
import { cpuSeconds, machineSeconds, openDescriptors, residentMiB } from './process-cost.mjs'
import { openPanes, startDaemon } from './running-daemon.mjs'
import { sendTurns } from './turn-load.mjs'

/**
 * `command` runs in every pane; `nodeArguments` are for the daemon's Node; `whenOpen` is awaited before the load.
 * Latencies in milliseconds, those of the fence in microseconds.
 */
export async function underLoad(shared, { panes, command, rate, seconds, warm, nodeArguments, whenOpen }) {
  const daemon = await startDaemon(shared, nodeArguments)
  const opened = await openPanes(daemon, { count: panes, command })
  const opening = { residentMiB: residentMiB(daemon.pid), descriptors: openDescriptors(daemon.pid) }
  await whenOpen?.()
  const holder = await fenceHolder(shared, { leases: panes, seconds })
  const usage = () => ({
    atMs: performance.now(),
    daemon: cpuSeconds(daemon.pid),
    agents: opened.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    sender: cpuSeconds(process.pid),
    fence: cpuSeconds(holder.pid),
    machine: machineSeconds()
  })
  let before
  let start
  const turns = await sendTurns(daemon, {
    blockIds: opened.map(({ blockId }) => blockId),
    rate,
    seconds,
    skipSeconds: warm,
    onCounted: () => {
      holder.start()
      start = { residentMiB: residentMiB(daemon.pid), descriptors: openDescriptors(daemon.pid) }
      before = usage()
    }
  })
  const cores = shares(before, usage())
  const end = { residentMiB: residentMiB(daemon.pid), descriptors: openDescriptors(daemon.pid) }
  const fence = await holder.times
  holder.end()
  await daemon.end()
  const { latencyMs, lateMs, answers, perSecond } = turns
  return {
    answers,
    perSecond,
    turnMs: distribution(latencyMs),
    sentLateMs: distribution(lateMs),
    unsent: Object.entries(answers).reduce((sum, [answer, count]) => sum + (answer === '200' ? 0 : count), 0),
    recorded: turnsRecorded(shared, panes),
    cores,
    daemonAt: { opening, start, end },
    fence
  }
}

/** Cores used by each between two moments; `others` are whoever else ran on the machine. */
function shares(before, after) {
  const seconds = (after.atMs - before.atMs) / 1_000
  const used = (name) => (after[name] - before[name]) / seconds
  const cores = {
    daemon: used('daemon'),
    agents: used('agents'),
    sender: used('sender'),
    fence: used('fence')
  }
  const ours = Object.values(cores).reduce((sum, one) => sum + one, 0)
  return { ...cores, others: Math.max(0, used('machine') - ours) }
}

/** Turns that stand in the records of the panes. */
function turnsRecorded(shared, panes) {
  let count = 0
  for (let index = 0; index < panes; index++) {
    const folder = join(shared, 'agents', 'records', `agent-${index}`)
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
      count += readFileSync(join(folder, name), 'latin1').split('"kind":"turn"').length - 1
    }
  }
  return count
}
