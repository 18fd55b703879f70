/** What the options of the command say of the histories that are to be told. What cannot be meant is an error that says so. */
import type { Shape, Tier } from './run/plan.js'
import { SITUATIONS } from './run/situations.js'

export interface ShapeFlags {
  readonly hosts: string
  readonly agents: string
  readonly tier?: string | undefined
  readonly situation?: string | undefined
  readonly messages?: boolean | undefined
  readonly older?: string | undefined
}

const TIERS: readonly Tier[] = ['lan', 'relay', 'none']
const MOST_HOSTS = 1_000
const MOST_AGENTS = 10_000

/** @throws RangeError for a value that is none, and for options that do not go together. */
export function shapeOf(flags: ShapeFlags): Shape {
  const { messages = false, older } = flags
  const hosts = count('--hosts', flags.hosts, { least: 1, most: MOST_HOSTS })
  const agents = count('--agents', flags.agents, { least: 1, most: MOST_AGENTS })
  const tier = oneOf('--tier', flags.tier, TIERS)
  const situation = oneOf('--situation', flags.situation, SITUATIONS)
  if (messages && hosts === 1)
    throw new RangeError(
      '--messages come from a relay, which takes hosts that share it: give --hosts 2 or more'
    )
  if (messages && (tier ?? 'relay') !== 'relay')
    throw new RangeError(`--messages come from a relay: leave --tier ${tier} out, or give --tier relay`)
  if (older !== undefined && tier === 'relay')
    throw new RangeError('--older: how older builds use a relay is not simulated: leave --tier relay out')
  if (older !== undefined && messages)
    throw new RangeError('--older and --messages do not go together: older builds are not at the relay here')
  return {
    hosts,
    agents,
    ...(tier === undefined ? {} : { tier }),
    ...(situation === undefined ? {} : { situation }),
    ...(messages ? { messages } : {}),
    ...(older === undefined ? {} : { older: count('--older', older, { least: 1, most: MOST_HOSTS }) })
  }
}

/** @throws RangeError for what is no whole number in between. */
export function count(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new RangeError(`${name} takes a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`)
}

function oneOf<T extends string>(name: string, text: string | undefined, all: readonly T[]): T | undefined {
  const found = all.find((each) => each === text)
  if (text !== undefined && found === undefined)
    throw new RangeError(`${name} takes one of ${all.join(', ')}, not ${JSON.stringify(text)}`)
  return found
}
