/** A daemon in this process that uses a scripted relay, and what tests look at. */

import { HttpHouse, type HttpHouseOptions } from './http-house.js'
import { bodyOf } from './http-reading.js'
import { test as base, fixture } from './scene.js'
import { ScriptedRelay } from './scripted-relay.js'
import { until } from './until.js'

export interface RelayFixtures {
  readonly relay: ScriptedRelay
  /** Its relay has begun to work. */
  readonly openHouse: (options?: HttpHouseOptions) => Promise<HttpHouse>
}

export const relayTest = base.extend<RelayFixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: what vitest asks for
  relay: async ({}, use) => {
    const relay = await new ScriptedRelay().listen()
    await use(relay)
    await relay.close()
  },
  openHouse: async ({ scene, relay }, use) => {
    const houses: HttpHouse[] = []
    await use(async (options = {}) => {
      const house = await HttpHouse.open(scene, { relay: relay.setting(), ...options })
      houses.push(house)
      house.daemon.relay?.start()
      return house
    })
    await Promise.all(houses.map((house) => house.close()))
  }
})

/** An agent that writes down what it hears. */
export function listening(transcript: string, ...flags: string[]): Record<string, unknown> {
  return { command: [process.execPath, fixture('line-agent.mjs'), '--transcript', transcript, ...flags] }
}

/** Once the relay has it for this daemon. */
export function heldAtRelay(relay: ScriptedRelay, agent: string, install?: string): Promise<unknown> {
  const wanted = install ?? relay.setting().install
  return until(`${agent} is held at the relay`, () => relay.leases.get(agent)?.install === wanted)
}

// biome-ignore lint/suspicious/noExplicitAny: a pane in the words of the wire
export async function paneOf(house: HttpHouse, block: string): Promise<any> {
  const { agents } = bodyOf(await house.client.get('/api/v1/agents'))
  return agents.find((one: { block_id: string }) => one.block_id === block)
}
