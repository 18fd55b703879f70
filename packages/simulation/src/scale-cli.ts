/** `simulate scale`: a large, steady herd, and how much it asks over the network for each agent and hour. */
import { parseArgs } from 'node:util'
import { partsFrom } from './run/parts.js'
import { predictedRequests } from './run/predicted-requests.js'
import { Rejections } from './run/rejections.js'
import { runScale } from './run/scale.js'
import { type Scale, WARM_UP_MS } from './run/scale-plan.js'

const USAGE = `usage: simulate scale [--hosts N] [--agents N] [--hours H | --minutes M] [--tier lan|relay] [--seed S] [--faults N] [--seconds S] [--json]
--seconds: of real time; then it ends early, and says how much it has counted
example: npm run simulate -- scale --hosts 200 --agents 2000 --hours 1 --tier relay`
const HOUR_MS = 3_600_000
const HOSTS_PER_FAULT = 50
const NONE = { about: 0, least: 0, most: 0 }

const { values: flags } = parseArgs({
  options: {
    hosts: { type: 'string', default: '200' },
    agents: { type: 'string', default: '2000' },
    hours: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    tier: { type: 'string', default: 'lan' },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string' },
    seconds: { type: 'string', default: 'Infinity' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false }
  }
})

function scaleOf(): Scale {
  const hosts = wholeNumber('hosts', flags.hosts, 2)
  if (flags.tier !== 'lan' && flags.tier !== 'relay') {
    throw new RangeError(`--tier is lan or relay, not ${flags.tier}`)
  }
  const countedMs =
    flags.minutes === undefined ? Number(flags.hours) * HOUR_MS : Number(flags.minutes) * 60_000
  if (!(countedMs > 0)) throw new RangeError('--hours and --minutes are more than 0')
  return {
    seed: wholeNumber('seed', flags.seed, 0),
    hosts,
    agents: wholeNumber('agents', flags.agents, 1),
    tier: flags.tier,
    countedMs: Math.round(countedMs),
    faults:
      flags.faults === undefined
        ? Math.floor(hosts / HOSTS_PER_FAULT)
        : wholeNumber('faults', flags.faults, 0)
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`--${name} is a whole number from ${least}, not ${text}`)
  }
  return value
}

async function main(): Promise<number> {
  if (flags.help) {
    console.log(USAGE)
    return 0
  }
  const planned = scaleOf()
  const rejections = new Rejections()
  rejections.watch()
  const parts = await partsFrom()
  const startedMs = performance.now()
  let shownMs = startedMs
  const asked = runScale(planned, parts, ({ virtualMs, events, requests }) => {
    const goesOn = performance.now() - startedMs < Number(flags.seconds) * 1_000
    if (performance.now() - shownMs < 10_000) return goesOn
    shownMs = performance.now()
    const seconds = Math.round((shownMs - startedMs) / 1_000)
    process.stderr.write(
      `${(virtualMs / 60_000).toFixed(1)} virtual minutes, ${events} events, ${requests} requests, ${seconds} s\n`
    )
    return goesOn
  })
  const wallS = (performance.now() - startedMs) / 1_000
  const { user, system } = process.cpuUsage()
  const cpuS = (user + system) / 1e6
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1_024)
  const scale = { ...planned, countedMs: asked.countedMs }
  const predicted = predictedRequests(scale)
  const perAgentAndHour = (count: number) => (count * HOUR_MS) / (scale.countedMs * scale.agents)
  const rows = [...new Set([...predicted.map(({ route }) => route), ...asked.counted.keys()])].map(
    (route) => {
      const count = asked.counted.get(route) ?? 0
      const { about, least, most } = predicted.find((each) => each.route === route) ?? NONE
      return { route, count, perAgentAndHour: perAgentAndHour(count), about, least, most }
    }
  )
  const { events, virtualMs, digest } = asked
  const crash = await rejections.first()
  const violation = asked.violation ?? (crash === undefined ? undefined : { rule: 'crash', what: crash })
  if (flags.json) {
    const before = Object.fromEntries(asked.before)
    console.log(JSON.stringify({ ...scale, digest, violation: violation ?? null, events, before, rows }))
    return violation === undefined ? 0 : 1
  }
  const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 })
  const counted =
    `${number(scale.hosts)} hosts, ${number(scale.agents)} agents, tier ${scale.tier}, seed ${scale.seed}, ` +
    `${scale.faults} faults: ${number(scale.countedMs / 60_000)} virtual minutes, counted`
  console.log(`${counted} after ${WARM_UP_MS / 1_000} s in which all is opened`)
  for (const { route, count, perAgentAndHour: rate, about, least, most } of rows) {
    const range = `${number(perAgentAndHour(least))} to ${number(perAgentAndHour(most))}`
    const says =
      most === 0 ? 'by faults only' : `the protocol says ${number(perAgentAndHour(about))}, from ${range}`
    console.log(
      `${route.padEnd(34)} ${number(count).padStart(12)}  ${number(rate)} per agent and hour; ${says}`
    )
  }
  const opened = [...asked.before].map(([route, count]) => `${route} ${number(count)}`).join(', ')
  console.log(`while all was opened: ${opened}`)
  console.log(
    `${number(events)} events, ${number(virtualMs / 1_000)} virtual s, ${number(wallS)} s, ${number(cpuS)} s of CPU, ` +
      `${number(events / cpuS)} events per s of CPU, ${number(megabytes)} MB`
  )
  console.log(
    violation === undefined ? 'no rule was broken' : `${violation.rule} is broken: ${violation.what}`
  )
  return violation === undefined ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (fault) {
  if (!(fault instanceof RangeError)) throw fault
  console.error(`simulate scale: ${fault.message}\n${USAGE}`)
  process.exitCode = 64
}
