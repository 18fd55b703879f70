/** A claim that its caller withholds at the last moment: asked only where a grant is due, under the lock, and nothing changes. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FileLock } from '../src/index.js'
import { claimed, granted, instance, party, request, TTL_MS } from './harness/parties.js'

const always = { unless: () => true }

describe('a claim that is withheld', () => {
  it('leaves a key that was never held without a lease, and its counter at zero', async () => {
    const { store, files } = party()
    expect(await store().claim(request(always))).toEqual({ kind: 'withheld' })
    expect(existsSync(files.lease)).toBe(false)
    expect(readFileSync(files.epoch, 'utf8')).toBe('0\n')
    expect((await claimed(store())).epoch).toBe(1)
  })

  it.each([
    [
      'of a released key',
      async ({ store }: ReturnType<typeof party>) => {
        const first = store()
        await first.release(await claimed(first))
      }
    ],
    [
      'of an expired lease',
      async ({ store, clock }: ReturnType<typeof party>) => {
        await claimed(store())
        await clock.advance(TTL_MS)
      }
    ],
    [
      'of a dead holder',
      async ({ store, files }: ReturnType<typeof party>) => {
        await claimed(store())
        files.edit({ pid: spawnSync(process.execPath, ['-e', '0']).pid })
      }
    ]
  ])('%s changes no byte', async (_, prepare) => {
    const all = party()
    await prepare(all)
    const bytes = () =>
      readdirSync(`${all.root}/leases`).map((name) => [
        name,
        readFileSync(`${all.root}/leases/${name}`, 'utf8')
      ])
    const before = bytes()
    expect(await all.store().claim(request(always))).toEqual({ kind: 'withheld' })
    expect(bytes()).toEqual(before)
  })

  it('of a lease that is ours leaves it ours', async () => {
    const { store } = party()
    const mine = store()
    const lease = await claimed(mine)
    expect(await mine.claim(request(always))).toEqual({ kind: 'withheld' })
    expect(await mine.verify(lease)).toEqual({ kind: 'held' })
  })

  it('ends nobody before it is withheld', async () => {
    const { store, clock } = party()
    await claimed(store())
    await clock.advance(TTL_MS)
    const asked: string[] = []
    const second = store({
      endPrevious: async ({ claimId }) => {
        asked.push(claimId)
        return { kind: 'ended' }
      }
    })
    expect(await second.claim(request(always))).toEqual({ kind: 'withheld' })
    expect(asked).toEqual([])
  })
})

describe('the condition', () => {
  it('is not asked where somebody else holds the agent', async () => {
    const { store } = party()
    await claimed(store({ instance: instance('beta') }))
    let asked = 0
    const unless = () => ++asked > 0
    expect(await store().claim(request({ unless }))).toMatchObject({ kind: 'refused' })
    expect(asked).toBe(0)
  })

  it('is asked under the lock of the key, and a false lets the claim through', async () => {
    const { store, files } = party()
    const locked: string[] = []
    const unless = () => {
      locked.push(readFileSync('/proc/locks', 'utf8'))
      return false
    }
    const lease = granted(await store().claim(request({ unless })))
    expect(lease.epoch).toBe(1)
    expect(locked).toHaveLength(1)
    const { ino } = statSync(files.lock)
    expect(locked[0]).toMatch(new RegExp(`FLOCK .*:${ino} `))
  })

  it('counts if it becomes true while the old processes are being ended', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    await clock.advance(TTL_MS)
    const before = readFileSync(files.lease, 'utf8')
    let held = false
    const second = store({
      endPrevious: async () => {
        held = true
        return { kind: 'ended' }
      }
    })
    expect(await second.claim(request({ unless: () => held }))).toEqual({ kind: 'withheld' })
    expect(readFileSync(files.lease, 'utf8')).toBe(before)
  })

  it('that throws is thrown, with nothing written and the lock given back', async () => {
    const { store, files } = party()
    const unless = () => {
      throw new Error('it cannot say')
    }
    await expect(store().claim(request({ unless }))).rejects.toThrow('it cannot say')
    expect(existsSync(files.lease)).toBe(false)
    expect(await new FileLock().run(files.lock, () => 'free', { waitMs: 1_000, create: () => {} })).toBe(
      'free'
    )
  })
})

describe('making the folder', () => {
  it('makes it as a claim does, for the owner alone, and leaves one that is there', async () => {
    const { store, root } = party()
    const one = store()
    one.createFolder()
    one.createFolder()
    expect(spawnSync('stat', ['-c', '%a', one.folder]).stdout.toString()).toBe('700\n')
    expect(readdirSync(`${root}/leases`)).toEqual([])
    expect((await claimed(one)).epoch).toBe(1)
  })
})
