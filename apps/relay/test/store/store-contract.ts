/** What every store of the relay keeps, whatever it is made of: one suite, run by each of them. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentKey } from '../../src/model/agent-key.js'
import type { Claimant } from '../../src/model/holder.js'
import { newTokenId, newTokenSecret, type Token, tokenHash } from '../../src/model/token.js'
import type { LeaseAnswer } from '../../src/store/relay-store.js'
import type { OpenedStore, OpenStore } from '../harness/opened-store.js'

const YEAR_MS = 365 * 86_400_000

function claimant(install: string, fields: Partial<Claimant> = {}): Claimant {
  return { instance: 'mill/stable', install, host: 'mill', channel: 'stable', version: '1.0.0', ...fields }
}

const ANNA = claimant('install-a')
const BEN = claimant('install-b', { instance: 'barn/beta', host: 'barn', channel: 'beta' })

function epochOf(answer: LeaseAnswer): number {
  if (answer.kind !== 'held') throw new Error(`not held but ${JSON.stringify(answer)}`)
  return answer.epoch
}

export function storeContract(name: string, open: OpenStore): void {
  describe(`${name}: leases`, () => {
    let opened: OpenedStore
    let key: AgentKey
    const leases = () => opened.store.leases
    beforeEach(async () => {
      opened = await open()
      key = { account: `t-${randomUUID()}`, agent: 'agent3' }
    })
    afterEach(() => opened.close())

    test('grants a free agent, and refuses it to the next with the name of the holder', async () => {
      expect(await leases().claim(key, ANNA)).toEqual({ kind: 'held', epoch: 1 })
      const refused = await leases().claim(key, BEN)
      expect(refused).toMatchObject({ kind: 'refused', heldBy: { ...ANNA, epoch: 1 } })
      expect(await leases().look(key)).toMatchObject({ ...ANNA, epoch: 1 })
    })

    test('answers a claim of the holder again with the same epoch: a reply that was lost changes nothing', async () => {
      const first = await leases().claim(key, ANNA)
      expect(await leases().claim(key, ANNA)).toEqual(first)
      expect(await leases().claim(key, { ...ANNA, version: '1.0.1' })).toEqual(first)
      expect(opened.changes).toHaveLength(1)
    })

    test('of many claims at once one is granted, and the others are told who has it', async () => {
      const all = Array.from({ length: 16 }, (_, index) => claimant(`install-${index}`))
      const answers = await Promise.all(all.map((each) => leases().claim(key, each)))
      const held = answers.filter(({ kind }) => kind === 'held')
      expect(held).toEqual([{ kind: 'held', epoch: 1 }])
      const holders = answers.flatMap((one) => (one.kind === 'refused' ? [one.heldBy?.install] : []))
      expect(new Set(holders).size).toBe(1)
      expect(opened.changes).toHaveLength(1)
    })

    test('another install of the same name is another holder', async () => {
      await leases().claim(key, ANNA)
      const twin = claimant('install-of-the-twin')
      expect((await leases().claim(key, twin)).kind).toBe('refused')
      expect((await leases().renew(key.account, [key.agent], twin))[0]?.kind).toBe('refused')
      expect(await leases().release(key, twin)).toBe(false)
      expect(await leases().look(key)).toMatchObject({ install: 'install-a' })
    })

    test('renews for the holder alone, and says of a free agent that nobody has it', async () => {
      const epoch = epochOf(await leases().claim(key, ANNA))
      expect(await leases().renew(key.account, [key.agent, 'never-claimed'], ANNA)).toEqual([
        { kind: 'held', epoch },
        { kind: 'refused', heldBy: undefined }
      ])
      const [foreign] = await leases().renew(key.account, [key.agent], BEN)
      expect(foreign).toMatchObject({ kind: 'refused', heldBy: { install: 'install-a' } })
    })

    test('renews a thousand agents in one call, in the order asked for', async () => {
      const agents = Array.from({ length: 1_000 }, (_, index) => `agent-${index}`)
      for (const agent of agents.slice(0, 5)) await leases().claim({ ...key, agent }, ANNA)
      const answers = await leases().renew(key.account, agents, ANNA)
      expect(answers).toHaveLength(1_000)
      expect(answers.slice(0, 6).map(({ kind }) => kind)).toEqual([
        ...Array.from({ length: 5 }, () => 'held'),
        'refused'
      ])
    })

    test('only the holder’s release counts; the next claim takes the next epoch', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      expect(await leases().release(key, BEN)).toBe(false)
      expect(await leases().release(key, ANNA)).toBe(true)
      expect(await leases().release(key, ANNA)).toBe(false)
      expect(await leases().look(key)).toBeUndefined()
      expect(epochOf(await leases().claim(key, BEN))).toBe(first + 1)
    })

    test('a lease that nobody renews is free after one TTL, and its epoch is not given again', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      await opened.lapse(key)
      expect(await leases().look(key)).toBeUndefined()
      expect(await leases().renew(key.account, [key.agent], ANNA)).toEqual([
        { kind: 'refused', heldBy: undefined }
      ])
      expect(epochOf(await leases().claim(key, BEN))).toBeGreaterThan(first)
      expect(opened.changes.at(-1)).toMatchObject({
        because: 'claimed',
        from: { install: 'install-a', state: 'lapsed' },
        to: { install: 'install-b' }
      })
    })

    test('a take moves a live lease under the next epoch; the old holder is told by whom', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      expect(await leases().take(key, BEN, 'take-1')).toEqual({ kind: 'held', epoch: first + 1 })
      const [answer] = await leases().renew(key.account, [key.agent], ANNA)
      expect(answer).toMatchObject({ kind: 'refused', heldBy: { install: 'install-b', epoch: first + 1 } })
      expect(opened.changes.at(-1)).toMatchObject({
        because: 'taken',
        from: { install: 'install-a' },
        to: { install: 'install-b' }
      })
    })

    test('a take is answered again with the same epoch, and never done a second time', async () => {
      await leases().claim(key, ANNA)
      const taken = await leases().take(key, BEN, 'take-1')
      expect(await leases().take(key, BEN, 'take-1')).toEqual(taken)
      // A person has moved it back since: the late copy of the first take must not move it again.
      const back = epochOf(await leases().take(key, ANNA, 'take-2'))
      expect(await leases().take(key, BEN, 'take-1')).toMatchObject({
        kind: 'refused',
        heldBy: { install: 'install-a' }
      })
      expect(await leases().look(key)).toMatchObject({ install: 'install-a', epoch: back })
    })

    test('a free agent cannot be taken, only claimed', async () => {
      expect(await leases().take(key, BEN, undefined)).toEqual({ kind: 'refused', heldBy: undefined })
      await leases().claim(key, ANNA)
      await leases().release(key, ANNA)
      expect(await leases().take(key, BEN, undefined)).toEqual({ kind: 'refused', heldBy: undefined })
    })

    test('another account learns nothing: to it the agent is free, with epochs of its own', async () => {
      await leases().claim(key, ANNA)
      await leases().take(key, BEN, undefined)
      const other = { ...key, account: `t-${randomUUID()}` }
      expect(await leases().look(other)).toBeUndefined()
      expect(await leases().take(other, ANNA, undefined)).toEqual({ kind: 'refused', heldBy: undefined })
      expect(await leases().renew(other.account, [other.agent], BEN)).toEqual([
        { kind: 'refused', heldBy: undefined }
      ])
      expect(await leases().release(other, BEN)).toBe(false)
      expect(await leases().claim(other, ANNA)).toEqual({ kind: 'held', epoch: 1 })
      expect(await leases().look(key)).toMatchObject({ install: 'install-b', epoch: 2 })
    })

    test('a look neither claims nor renews', async () => {
      await leases().claim(key, ANNA)
      for (let count = 0; count < 5; count++) await leases().look(key)
      await opened.lapse(key)
      expect(await leases().look(key)).toBeUndefined()
      const never = { ...key, agent: 'never-claimed' }
      await leases().look(never)
      const listed = []
      for await (const one of leases().list()) if (one.account === key.account) listed.push(one)
      expect(listed).toMatchObject([{ agent: 'agent3', state: 'lapsed', holder: { install: 'install-a' } }])
    })

    test('a restart keeps the lease: its holder renews it under the same epoch', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      await opened.restart()
      expect(await leases().renew(key.account, [key.agent], ANNA)).toEqual([{ kind: 'held', epoch: first }])
      expect((await leases().claim(key, BEN)).kind).toBe('refused')
    })

    test('the time that the relay was down does not count: after it only the last holder may claim', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      await opened.stayDown()
      expect(await leases().claim(key, BEN)).toMatchObject({
        kind: 'refused',
        heldBy: { install: 'install-a' }
      })
      expect(epochOf(await leases().claim(key, ANNA))).toBe(first)
      expect(await leases().renew(key.account, [key.agent], ANNA)).toEqual([{ kind: 'held', epoch: first }])
    })

    test('for one TTL after a start, and no longer', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      await opened.stayDown()
      expect((await leases().claim(key, BEN)).kind).toBe('refused')
      await opened.lapse(key)
      expect(epochOf(await leases().claim(key, BEN))).toBeGreaterThan(first)
    })

    test('what was released before a restart is free after it, under the next epoch', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      await leases().release(key, ANNA)
      await opened.stayDown()
      expect(epochOf(await leases().claim(key, BEN))).toBe(first + 1)
    })

    test('steps of the wall clock, in either direction, change nothing', async () => {
      const first = epochOf(await leases().claim(key, ANNA))
      for (const step of [YEAR_MS, -3 * YEAR_MS]) {
        opened.stepWall(step)
        expect((await leases().claim(key, BEN)).kind).toBe('refused')
        expect(await leases().renew(key.account, [key.agent], ANNA)).toEqual([{ kind: 'held', epoch: first }])
      }
      await opened.restart()
      expect((await leases().claim(key, BEN)).kind).toBe('refused')
      await opened.lapse(key)
      expect(epochOf(await leases().claim(key, BEN))).toBeGreaterThan(first)
    })

    test('epochs only grow, whatever the agent goes through', async () => {
      const given: number[] = []
      const claimed = async (by: Claimant) => given.push(epochOf(await leases().claim(key, by)))
      await claimed(ANNA)
      await leases().release(key, ANNA)
      await claimed(BEN)
      given.push(epochOf(await leases().take(key, ANNA, undefined)))
      await opened.restart()
      given.push(epochOf(await leases().take(key, BEN, undefined)))
      await leases().release(key, BEN)
      await opened.restart()
      await claimed(ANNA)
      await opened.lapse(key)
      await claimed(BEN)
      expect(given).toEqual([...given].sort((one, other) => one - other))
      expect(new Set(given).size).toBe(given.length)
      expect(opened.changes.map(({ to }) => to?.epoch).filter((epoch) => epoch !== undefined)).toEqual(given)
    })
  })

  describe(`${name}: limits`, () => {
    test('an account has as many agents as it may, and goes on with those it has', async () => {
      const opened = await open({ agentsPerAccount: 3 })
      try {
        const account = `t-${randomUUID()}`
        const { leases } = opened.store
        for (const agent of ['one', 'two', 'three']) {
          expect((await leases.claim({ account, agent }, ANNA)).kind).toBe('held')
        }
        expect(await leases.claim({ account, agent: 'four' }, ANNA)).toEqual({ kind: 'full' })
        expect((await leases.claim({ account, agent: 'one' }, ANNA)).kind).toBe('held')
        expect((await leases.claim({ account: `${account}-b`, agent: 'four' }, ANNA)).kind).toBe('held')
      } finally {
        await opened.close()
      }
    })

    test('a queue takes as much as it may, and again once something was fetched', async () => {
      const opened = await open({ queue: 2, pendingPage: 1 })
      try {
        const key = { account: `t-${randomUUID()}`, agent: 'agent3' }
        const { leases, messages } = opened.store
        const message = { text: 'hello', sourceAgent: '', priority: undefined, createdAtMs: 1 }
        await leases.claim(key, ANNA)
        await messages.inject(key, message, undefined)
        const second = await messages.inject(key, message, 'call-2')
        expect(await messages.inject(key, message, undefined)).toEqual({ kind: 'full' })
        expect(await messages.inject(key, message, 'call-2')).toEqual(second)
        const page = await messages.pending(key, ANNA)
        if (page.kind !== 'pending') throw new Error(page.kind)
        expect(page.messages).toHaveLength(1)
        await messages.ack(
          key,
          page.messages.map(({ id }) => id),
          { ...ANNA, requestKey: undefined }
        )
        expect((await messages.inject(key, message, undefined)).kind).toBe('queued')
      } finally {
        await opened.close()
      }
    })
  })

  describe(`${name}: messages`, () => {
    let opened: OpenedStore
    let key: AgentKey
    const messages = () => opened.store.messages
    beforeEach(async () => {
      opened = await open()
      key = { account: `t-${randomUUID()}`, agent: 'agent3' }
    })
    afterEach(() => opened.close())

    let clock = 0
    async function inject(text: string, fields: { priority?: string | number; call?: string } = {}) {
      const { priority, call } = fields
      const message = { text, sourceAgent: 'agent1', priority, createdAtMs: 1_700_000_000_000 + clock++ }
      const answer = await messages().inject(key, message, call)
      if (answer.kind !== 'queued') throw new Error(answer.kind)
      return answer.id
    }
    async function texts(by: Claimant): Promise<string[]> {
      const answer = await messages().pending(key, by)
      if (answer.kind !== 'pending') throw new Error(answer.kind)
      return answer.messages.map(({ text }) => text)
    }
    const ack = (ids: readonly string[], by: Claimant, requestKey?: string) =>
      messages().ack(key, ids, { ...by, requestKey })
    const giveBack = (id: string, by: Claimant, requestKey?: string) =>
      messages().giveBack(key, id, { ...by, requestKey })

    test('the holder pulls what was queued before and after its claim, in order, with all that was said', async () => {
      await inject('first')
      await opened.store.leases.claim(key, ANNA)
      await inject('second', { priority: 'normal' })
      await inject('now', { priority: 'urgent' })
      await inject('later', { priority: -1 })
      const answer = await messages().pending(key, ANNA)
      if (answer.kind !== 'pending') throw new Error(answer.kind)
      expect(answer.messages.map(({ text }) => text)).toEqual(['now', 'first', 'second', 'later'])
      expect(answer.messages[0]).toMatchObject({ sourceAgent: 'agent1', priority: 'urgent' })
      expect(answer.messages[1]?.priority).toBeUndefined()
      expect(answer.messages[3]?.priority).toBe(-1)
      expect(await texts(ANNA)).toEqual(['now', 'first', 'second', 'later'])
    })

    test('nobody but the holder pulls or acks, and nothing is consumed by trying', async () => {
      const id = await inject('for the holder')
      const nobody = { kind: 'not-holder', heldBy: undefined }
      expect(await messages().pending(key, BEN)).toEqual(nobody)
      expect(await ack([id], BEN)).toEqual(nobody)
      await opened.store.leases.claim(key, ANNA)
      const holder = { kind: 'not-holder', heldBy: { install: 'install-a' } }
      expect(await messages().pending(key, BEN)).toMatchObject(holder)
      expect(await ack([id], BEN)).toMatchObject(holder)
      expect(await giveBack(id, BEN)).toBe(true)
      expect(await texts(ANNA)).toEqual(['for the holder'])
    })

    test('what an ack has won is not pending, and no other ack wins it', async () => {
      await opened.store.leases.claim(key, ANNA)
      const [one, two] = [await inject('one'), await inject('two')]
      expect(await ack([one], ANNA, 'ack-1')).toEqual({ kind: 'won', ids: [one] })
      expect(await texts(ANNA)).toEqual(['two'])
      expect(await ack([one, two], ANNA, 'ack-2')).toEqual({ kind: 'won', ids: [two] })
      expect(await ack([one, two], ANNA)).toEqual({ kind: 'won', ids: [] })
    })

    test('of many acks at once each message is won by one', async () => {
      await opened.store.leases.claim(key, ANNA)
      const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => inject(`m${index}`)))
      const acks = await Promise.all(Array.from({ length: 8 }, (_, index) => ack(ids, ANNA, `ack-${index}`)))
      const won = acks.flatMap((answer) => (answer.kind === 'won' ? answer.ids : []))
      expect([...won].sort()).toEqual([...ids].sort())
    })

    test('an ack is answered again to the same call, also after a restart and when somebody else holds by now', async () => {
      await opened.store.leases.claim(key, ANNA)
      const id = await inject('one')
      const first = await ack([id], ANNA, 'ack-1')
      await opened.restart()
      expect(await ack([id], ANNA, 'ack-1')).toEqual(first)
      await opened.store.leases.take(key, BEN, undefined)
      expect(await ack([id], ANNA, 'ack-1')).toEqual(first)
      expect(await ack([id], BEN, 'ack-1')).toEqual({ kind: 'won', ids: [] })
      expect((await ack([id], ANNA, 'ack-2')).kind).toBe('not-holder')
    })

    test('ids that are none, or of another agent, are not won', async () => {
      await opened.store.leases.claim(key, ANNA)
      const id = await inject('one')
      const other = { ...key, agent: 'agent4' }
      await opened.store.leases.claim(other, ANNA)
      expect(await messages().ack(other, [id], { ...ANNA, requestKey: undefined })).toEqual({
        kind: 'won',
        ids: []
      })
      expect(await ack(['no such id'], ANNA)).toEqual({ kind: 'won', ids: [] })
      expect(await texts(ANNA)).toEqual(['one'])
    })

    test('a message that is given back is in its old place, once', async () => {
      await opened.store.leases.claim(key, ANNA)
      const one = await inject('one')
      await inject('two')
      await ack([one], ANNA, 'ack-1')
      expect(await giveBack(one, ANNA, 'back-1')).toBe(true)
      expect(await texts(ANNA)).toEqual(['one', 'two'])
      expect(await giveBack(one, ANNA, 'back-1')).toBe(true)
      await ack([one], ANNA, 'ack-2')
      // A late copy of the first call: the message has been delivered since.
      expect(await giveBack(one, ANNA, 'back-1')).toBe(true)
      expect(await texts(ANNA)).toEqual(['two'])
    })

    test('a late copy of an ack does not win what was given back since, after a restart neither', async () => {
      await opened.store.leases.claim(key, ANNA)
      const [one, two] = [await inject('one'), await inject('two')]
      await ack([one, two], ANNA, 'ack-1')
      await giveBack(one, ANNA, 'back-1')
      await giveBack(two, ANNA, 'back-2')
      const nothing = { kind: 'won', ids: [] }
      expect(await ack([one, two], ANNA, 'ack-1')).toEqual(nothing)
      await opened.restart()
      await opened.store.leases.claim(key, ANNA)
      expect(await ack([one], ANNA, 'ack-1')).toEqual(nothing)
      expect(await texts(ANNA)).toEqual(['one', 'two'])
      expect(await ack([one], ANNA, 'ack-2')).toEqual({ kind: 'won', ids: [one] })
      await giveBack(one, ANNA, 'back-3')
      expect(await ack([one], ANNA, 'ack-1')).toEqual(nothing)
      expect(await ack([one], ANNA, 'ack-3')).toEqual({ kind: 'won', ids: [one] })
      // A late copy of the give-back before the last.
      expect(await giveBack(one, ANNA, 'back-1')).toBe(true)
      expect(await texts(ANNA)).toEqual(['two'])
    })

    test('whoever won a message gives it back even after the agent was taken, and the new holder gets it', async () => {
      await opened.store.leases.claim(key, ANNA)
      const id = await inject('one')
      await ack([id], ANNA, 'ack-1')
      await opened.store.leases.take(key, BEN, undefined)
      expect(await giveBack(id, BEN)).toBe(false)
      expect(await giveBack(id, ANNA)).toBe(true)
      expect(await texts(BEN)).toEqual(['one'])
      expect(await giveBack('no such id', ANNA)).toBe(false)
    })

    test('the same call to inject queues one message', async () => {
      const first = await inject('one', { call: 'call-1' })
      expect(await inject('one', { call: 'call-1' })).toBe(first)
      await opened.restart()
      expect(await inject('one', { call: 'call-1' })).toBe(first)
      await inject('one', { call: 'call-2' })
      await opened.store.leases.claim(key, ANNA)
      expect(await texts(ANNA)).toEqual(['one', 'one'])
    })

    test('queues and what was won outlive a restart; steps of the wall clock drop nothing', async () => {
      await opened.store.leases.claim(key, ANNA)
      const [one] = [await inject('one'), await inject('two')]
      await ack([one ?? ''], ANNA, 'ack-1')
      opened.stepWall(YEAR_MS)
      await opened.restart()
      expect(await texts(ANNA)).toEqual(['two'])
      expect(await giveBack(one ?? '', ANNA)).toBe(true)
      opened.stepWall(-2 * YEAR_MS)
      expect(await texts(ANNA)).toEqual(['one', 'two'])
    })

    test('the queue of another account is another queue', async () => {
      await opened.store.leases.claim(key, ANNA)
      const id = await inject('one')
      const other = { ...key, account: `t-${randomUUID()}` }
      expect(await messages().pending(other, ANNA)).toEqual({ kind: 'not-holder', heldBy: undefined })
      await opened.store.leases.claim(other, ANNA)
      expect(await messages().pending(other, ANNA)).toEqual({ kind: 'pending', messages: [] })
      expect(await messages().ack(other, [id], { ...ANNA, requestKey: undefined })).toEqual({
        kind: 'won',
        ids: []
      })
    })

    test('whoever listens is told of what arrives, and of what is given back', async () => {
      await opened.store.leases.claim(key, ANNA)
      let heard = 0
      const told = () => new Promise<void>((resolve) => resolvers.push(resolve))
      const resolvers: (() => void)[] = []
      const stop = messages().onArrival((where) => {
        if (where.account !== key.account || where.agent !== key.agent) return
        heard++
        resolvers.shift()?.()
      })
      const first = told()
      const id = await inject('one')
      await first
      await ack([id], ANNA)
      const second = told()
      await giveBack(id, ANNA)
      await second
      stop()
      expect(heard).toBeGreaterThanOrEqual(2)
    })
  })

  describe(`${name}: tokens`, () => {
    let opened: OpenedStore
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    function newToken(fields: Partial<Token> = {}): { token: Token; hash: string } {
      const account = `t-${randomUUID()}`
      const token = {
        id: newTokenId(),
        account,
        agent: '',
        createdAtMs: 1_000,
        expiresAtMs: undefined,
        ...fields
      }
      return { token, hash: tokenHash(newTokenSecret()) }
    }

    test('a token is found by its hash until it is revoked', async () => {
      const { tokens } = opened.store
      const { token, hash } = newToken({ agent: 'agent3' })
      await tokens.add(token, hash)
      await opened.restart()
      expect(await opened.store.tokens.find(hash)).toEqual(token)
      expect(await opened.store.tokens.find(tokenHash('another'))).toBeUndefined()
      expect((await opened.store.tokens.list()).filter(({ id }) => id === token.id)).toEqual([token])
      expect(await opened.store.tokens.revoke('no such id')).toBe(false)
      expect(await opened.store.tokens.revoke(token.id)).toBe(true)
      await opened.restart()
      expect(await opened.store.tokens.find(hash)).toBeUndefined()
      expect(await opened.store.tokens.revoke(token.id)).toBe(false)
    })

    test('an expired token opens nothing', async () => {
      const { tokens } = opened.store
      const { token, hash } = newToken({ expiresAtMs: Date.now() + 10 * YEAR_MS })
      await tokens.add(token, hash)
      expect(await tokens.find(hash)).toEqual(token)
      opened.stepWall(60 * YEAR_MS)
      expect(await tokens.find(hash)).toBeUndefined()
    })
  })

  describe(`${name}: readiness`, () => {
    test('answers while it can, and not once it is closed', async () => {
      const opened = await open()
      await opened.store.check()
      await opened.close()
      await expect(opened.store.check()).rejects.toMatchObject({ name: 'StoreUnavailable', code: 'closed' })
      const key = { account: 'acme', agent: 'agent3' }
      await expect(opened.store.leases.claim(key, ANNA)).rejects.toMatchObject({ name: 'StoreUnavailable' })
      await expect(opened.store.leases.look(key)).rejects.toMatchObject({ name: 'StoreUnavailable' })
      await opened.store.close()
    })
  })
}
