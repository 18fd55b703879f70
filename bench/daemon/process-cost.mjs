/** What processes and the whole machine have used so far, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Of the clock in /proc: always this on Linux, as user space sees it. */
const TICKS_PER_SECOND = 100

/** Seconds of processor time of all threads. */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Seconds of processor time that anybody has used on this machine. */
export function machineSeconds() {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]
    .split(/ +/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND
}

/** Resident memory, MiB. */
export function residentMiB(pid) {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  return Number(kib) / 1024
}

export function openDescriptors(pid) {
  return readdirSync(`/proc/${pid}/fd`).length
}
