/**
 * Two relays on one cluster of three, clients that claim through both, and members that are killed and frozen meanwhile.
 * The long run of it is bench/relay-faults, and cut cables are in partition.e2e.
 */
import { createSystemClock } from '@agentmux/lease-model'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EtcdCluster } from '../../../../bench/relay/etcd-cluster.mjs'
import {
  claimStorm,
  type StormAnswer,
  type StormClient
} from '../../../../bench/relay-faults/claim-storm.mjs'
import { duringStorm, FAULTS } from '../../../../bench/relay-faults/faults.mjs'
import { openEtcdStore } from '../../src/store/etcd/etcd-store.js'
import type { RelayStore } from '../../src/store/relay-store.js'
import { StoreUnavailable } from '../../src/store/store-unavailable.js'

const TTL_MS = 30_000
const CLAIMS = 240
const CLIENTS = 16
const AGENTS = ['agent1', 'agent2', 'agent3', 'agent4']

let cluster: EtcdCluster
beforeAll(async () => {
  cluster = await EtcdCluster.start(3)
})
afterAll(() => cluster?.stop())

function stormClient(store: RelayStore, account: string, install: string): StormClient {
  const claimant = { instance: 'mill/stable', install, host: 'mill', channel: 'stable', version: '1' }
  const answered = async (call: () => Promise<StormAnswer>): Promise<StormAnswer> => {
    try {
      return await call()
    } catch (error) {
      if (error instanceof StoreUnavailable) return { kind: 'unavailable' }
      throw error
    }
  }
  return {
    claim: (agent) =>
      answered(async () => {
        const answer = await store.leases.claim({ account, agent }, claimant)
        return answer.kind === 'held' ? answer : { kind: 'refused' }
      }),
    release: (agent) =>
      answered(async () => {
        await store.leases.release({ account, agent }, claimant)
        return { kind: 'done' }
      })
  }
}

describe('two relays on one etcd', () => {
  let stores: RelayStore[]
  beforeEach(async () => {
    const open = () =>
      openEtcdStore({ hosts: cluster.urls, clock: createSystemClock(), ttlMs: TTL_MS, onChange: () => {} })
    stores = await Promise.all([open(), open()])
  })
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
  })

  test.each(Object.entries(FAULTS).filter(([name]) => name !== 'none'))(
    '%s: never two holders, never an epoch twice, at most unavailable',
    async (name, fault) => {
      const account = `t-${name.replaceAll(' ', '-')}`
      const clients = Array.from({ length: CLIENTS }, (_, index) =>
        stormClient(stores[index % 2] as RelayStore, account, `install-${index}`)
      )
      const during = duringStorm(fault, cluster, CLAIMS)
      const result = await claimStorm(clients, {
        claims: CLAIMS,
        agents: AGENTS,
        ttlMs: TTL_MS,
        onClaim: during.onClaim
      })
      await during.done()
      expect(result.violations).toEqual([])
      expect(result.granted).toBeGreaterThan(0)
      expect(result.granted + result.refused).toBeGreaterThanOrEqual(CLAIMS)
    }
  )

  test('what one relay grants the other refuses, moves and hears of', async () => {
    const [one, two] = stores as [RelayStore, RelayStore]
    const key = { account: 't-two-relays', agent: 'agent3' }
    const anna = { instance: 'mill/stable', install: 'a', host: 'mill', channel: 'stable', version: '1' }
    const ben = { ...anna, install: 'b' }
    expect(await one.leases.claim(key, anna)).toEqual({ kind: 'held', epoch: 1 })
    expect(await two.leases.claim(key, ben)).toMatchObject({ kind: 'refused', heldBy: { install: 'a' } })
    expect(await two.leases.take(key, ben, undefined)).toEqual({ kind: 'held', epoch: 2 })
    expect((await one.leases.renew(key.account, [key.agent], anna))[0]).toMatchObject({ kind: 'refused' })
    const heard = new Promise<void>((resolve) => two.messages.onArrival(() => resolve()))
    const message = { text: 'hello', sourceAgent: '', priority: undefined, createdAtMs: 1 }
    await one.messages.inject(key, message, undefined)
    await heard
    expect(await two.messages.pending(key, ben)).toMatchObject({ messages: [{ text: 'hello' }] })
  })

  test('with no majority everything is unavailable, and as before once there is one again', async () => {
    const [one] = stores as [RelayStore]
    const key = { account: 't-majority', agent: 'agent3' }
    const anna = { instance: 'mill/stable', install: 'a', host: 'mill', channel: 'stable', version: '1' }
    await one.leases.claim(key, anna)
    cluster.freeze(0)
    cluster.freeze(1)
    try {
      const unavailable = { name: 'StoreUnavailable' }
      await Promise.all([
        expect(one.leases.claim(key, { ...anna, install: 'b' })).rejects.toMatchObject(unavailable),
        expect(one.leases.renew(key.account, [key.agent], anna)).rejects.toMatchObject(unavailable),
        expect(one.leases.look(key)).rejects.toMatchObject(unavailable),
        expect(one.messages.pending(key, anna)).rejects.toMatchObject(unavailable),
        expect(one.check()).rejects.toMatchObject(unavailable)
      ])
    } finally {
      cluster.thaw(0)
      cluster.thaw(1)
    }
    await cluster.answers()
    await expect
      .poll(() => one.leases.renew(key.account, [key.agent], anna).catch(() => undefined), {
        timeout: 60_000
      })
      .toEqual([{ kind: 'held', epoch: 1 }])
  })
})
