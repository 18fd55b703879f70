/** Panes that lose their agent: they take no turn, write nothing more, and can only be watched (R4). */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { test } from './harness/pane-scene.js'
import { lives, processesWith } from './harness/processes.js'
import type { Scene } from './harness/scene.js'
import { until } from './harness/until.js'

/** As an older build does that looks for no processes: another owner, the next epoch. */
function stealLease(scene: Scene): void {
  const stolen = {
    ...scene.lease(),
    owner_boot_id: 'another-owner',
    claim_id: 'another-claim',
    block_id: 'another-block',
    channel: 'nightly',
    epoch: scene.lease().epoch + 1
  }
  const temporary = `${scene.leaseFile()}.stolen`
  writeFileSync(temporary, `${JSON.stringify(stolen, undefined, 2)}\n`)
  renameSync(temporary, scene.leaseFile())
}

describe.concurrent('a pane whose lease is lost', () => {
  test('takes no turn: neither its agent nor the record has it', async ({ scene, houseOn }) => {
    const house = houseOn()
    const transcript = scene.newPath('transcript')
    const pane = await house.opened(['--transcript', transcript])
    await scene.settled()
    stealLease(scene)
    const sent = await house.panes.send(pane.blockId, 'too late')
    expect(sent).toMatchObject({
      kind: 'lost',
      refusal: { kind: 'lost', reason: 'other-owner', holder: { channel: 'nightly' } }
    })
    const superseded = await house.becomes(pane.blockId, 'superseded')
    expect(superseded.refusal).toEqual(sent.kind === 'lost' && sent.refusal)
    expect(superseded.refusal?.message).toContain('nightly')
    expect(await house.panes.send(pane.blockId, 'and again')).toEqual(sent)
    expect(readFileSync(transcript, 'utf8')).not.toContain('late')
    expect((await house.lines()).filter(({ event }) => event.kind === 'turn')).toEqual([])
    expect(house.notices.map(({ kind }) => kind)).toContain('fenced')
  })

  test('has nothing of its late output in the record, however much it says on its way out', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn', '--chatter'])
    await scene.settled()
    let atLoss: Promise<unknown[]> | undefined
    house.panes.subscribe(({ pane: { state } }) => {
      if (state === 'superseded') atLoss ??= house.lines()
    })
    stealLease(scene)
    await house.panes.send(pane.blockId, 'who is there')
    await house.becomes(pane.blockId, 'superseded')
    expect(await house.output()).not.toContain('late')
    expect(await house.lines()).toEqual(await atLoss)
  })

  test('leaves the lease of whoever has it alone, and nothing of its own behind', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened(['--leaves'], { agent: 'Ada' })
    await house.says(pane.blockId, /left/)
    await scene.settled()
    const claim = `AGENTMUX_CLAIM_ID=${scene.lease().claim_id}`
    stealLease(scene)
    const stolen = readFileSync(scene.leaseFile(), 'utf8')
    await house.panes.send(pane.blockId, 'who is there')
    await house.becomes(pane.blockId, 'superseded')
    expect(processesWith(claim).filter(lives)).toEqual([])
    expect(readFileSync(scene.leaseFile(), 'utf8')).toBe(stolen)
    expect(house.panes.registrations()).toEqual([])
    expect(await house.panes.register({ agent: 'Ada', blockId: pane.blockId })).toMatchObject({
      kind: 'refused',
      refusal: { kind: 'lost' }
    })
    expect(house.panes.registrations()).toEqual([])
  })

  test('sees by itself, at its next renewal, that it is lost', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened()
    await scene.settled()
    stealLease(scene)
    expect((await house.becomes(pane.blockId, 'superseded')).refusal).toMatchObject({ kind: 'lost' })
  })

  test('is superseded, too, when it is lost while it is being closed', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn'])
    await scene.settled()
    const closing = house.panes.close(pane.blockId, { graceMs: 600_000 })
    stealLease(scene)
    // Its next renewal finds out.
    expect(await closing).toMatchObject({ kind: 'closed', pane: { state: 'superseded' } })
  })

  test('is not the holder for the record either once a higher epoch has written', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened()
    await house.record.append(scene.uid, { events: [], epoch: pane.epoch + 1 })
    expect(await house.panes.send(pane.blockId, 'too late')).toMatchObject({
      kind: 'lost',
      refusal: { kind: 'lost', reason: 'other-owner' }
    })
    await house.becomes(pane.blockId, 'superseded')
    expect(existsSync(scene.leaseFile())).toBe(false)
  })

  test('can be watched: what the next holder writes is there to be read', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened()
    house.admission.held.forEach((lease) => {
      lease.fence()
    })
    await house.becomes(pane.blockId, 'superseded')
    const next = houseOn({ channel: 'nightly' })
    const taken = await next.opened()
    expect(taken.epoch).toBe(pane.epoch + 1)
    const abort = new AbortController()
    const followed = house.panes.follow(pane.blockId, { signal: abort.signal })
    let epoch = 0
    for await (const item of followed ?? []) {
      if (item.kind !== 'line' || item.event.kind !== 'output' || item.epoch === pane.epoch) continue
      epoch = item.epoch
      abort.abort()
    }
    expect(epoch).toBe(taken.epoch)
  })

  test('can be run again, in the same pane, under the next epoch', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened()
    house.admission.held.forEach((lease) => {
      lease.fence()
    })
    await house.becomes(pane.blockId, 'superseded')
    const [again, same] = await Promise.all([
      house.panes.reopen(pane.blockId),
      house.panes.reopen(pane.blockId)
    ])
    expect(same).toMatchObject({ kind: 'opened', pane: { epoch: pane.epoch + 1 } })
    expect(again).toMatchObject({
      kind: 'opened',
      pane: { blockId: pane.blockId, state: 'running', epoch: pane.epoch + 1 }
    })
    await house.says(pane.blockId, /begun/)
    expect(await house.panes.send(pane.blockId, 'hello')).toMatchObject({ kind: 'sent' })
    expect(house.panes.list()).toHaveLength(1)
  })

  test('whose lease cannot be given back has ended all the same, and is not held for ever', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened()
    await scene.settled()
    const aside = `${scene.leases}.aside`
    renameSync(scene.leases, aside)
    writeFileSync(scene.leases, 'no folder')
    const closed = await house.panes.close(pane.blockId, { graceMs: 0 })
    renameSync(scene.leases, `${scene.leases}.file`)
    renameSync(aside, scene.leases)
    expect(closed).toMatchObject({ kind: 'closed', pane: { state: 'ended' } })
    expect(house.notices.map(({ kind }) => kind)).toContain('fault')
    await until('nothing is held here', () => house.admission.held.size === 0)
    const next = houseOn({ channel: 'nightly' })
    const opened = await until('its lease has run out', async () => {
      const result = await next.panes.open(next.request())
      return result.kind === 'opened' ? result : undefined
    })
    expect(opened.pane.epoch).toBe(pane.epoch + 1)
  })

  test('whose lease folder cannot be read takes no turn, and is not lost by that', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened()
    await scene.settled()
    const aside = `${scene.leases}.aside`
    renameSync(scene.leases, aside)
    writeFileSync(scene.leases, 'no folder')
    const sent = await house.panes.send(pane.blockId, 'not now')
    renameSync(scene.leases, `${scene.leases}.file`)
    renameSync(aside, scene.leases)
    expect(sent).toMatchObject({ kind: 'unknown', refusal: { kind: 'io' } })
    const after = await until('it takes turns again', async () => {
      const result = await house.panes.send(pane.blockId, 'now')
      return result.kind === 'sent' ? result : undefined
    })
    expect(after.epoch).toBe(pane.epoch)
    await house.says(pane.blockId, /heard now/)
    expect(await house.output()).not.toContain('not now')
  })
})
