/** A client and a relay for one test; both are closed with it. */
import { createManualClock, type ManualClock } from '@agentmux/lease-model/testing'
import { onTestFinished } from 'vitest'
import { type RelayTrouble, WanClient, type WanClientOptions, type WanClientPorts } from '../src/index.js'
import { type Script, type ScriptedRelay, scriptedRelay } from './scripted-relay.js'

export const IDENTITY = {
  host: 'mill',
  channel: 'stable',
  version: '0.44.1',
  install: '0a1b2c3d-0000-4000-8000-000000000001'
}
export const BARN = { host: 'Barn', channel: 'dev', version: '0.44.0', acquired_at: 1_700_000_000_000 }
export const TOKEN = 'tok-Secret.123'

export interface Scene {
  readonly relay: ScriptedRelay
  readonly clock: ManualClock
  readonly client: WanClient
  readonly troubles: RelayTrouble[]
}

type SceneOptions = Partial<WanClientOptions> & WanClientPorts

export async function scene(script: Script, options: SceneOptions = {}): Promise<Scene> {
  const relay = await scriptedRelay(script)
  const clock = createManualClock()
  const troubles: RelayTrouble[] = []
  const client = new WanClient(
    { url: relay.url, identity: IDENTITY, token: () => TOKEN, ...options },
    { clock, env: {}, random: () => 0, onTrouble: (trouble) => troubles.push(trouble), ...options }
  )
  onTestFinished(async () => {
    await client.close()
    await relay.close()
  })
  return { relay, clock, client, troubles }
}

/** Lets manual time pass until the promise settles: for what waits for a timer in the middle of real I/O. */
export async function passing<T>(clock: ManualClock, promise: Promise<T>, stepMs = 100): Promise<T> {
  let settled = false
  const seen = promise.finally(() => {
    settled = true
  })
  seen.catch(() => {})
  while (!settled) await clock.advance(stepMs)
  return seen
}
