/** `--wait`, `-n` and their limits: who waits, for what, and what wakes them. */
import { parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { putLease, record } from './harness/lease-record.js'
import { bootMs, inotifyInodesOf, lives } from './harness/processes.js'
import { type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

async function holderOf(scene: Scene) {
  const stop = scene.newPath('stop')
  const holder = scene.run(scene.agent('holder', '--until', stop))
  await scene.audited('holder', 'begin')
  return { holder, end: () => scene.trigger(stop) }
}

describe('run --wait', () => {
  test('is woken by the release: it watches the lease file itself', async ({ scene }) => {
    const { holder, end } = await holderOf(scene)
    const waiting = scene.run(['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH'], { flags: ['--wait'] })
    await waiting.says(new RegExp(`Waiting for .* pid ${holder.pid}`))
    await until('it watches the lease file', () =>
      inotifyInodesOf(waiting.pid).includes(scene.inodeOf(scene.leaseFile()))
    )
    end()
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: '2\n' })
    expect((await holder.ended).code).toBe(0)
    expect(waiting.stderr.match(/Waiting for/g)).toHaveLength(1)
  })

  test('watches the next lease file when the agent has changed hands meanwhile', async ({ scene }) => {
    const { holder, end } = await holderOf(scene)
    const waiters = [1, 2, 3].map((index) =>
      scene.run(scene.agent(`waiter-${index}`, '--child', `child-${index}`), { flags: ['--wait'] })
    )
    await Promise.all(waiters.map((waiter) => waiter.says(/Waiting for/)))
    end()
    expect((await holder.ended).code).toBe(0)
    const epochs: unknown[] = []
    for (let round = 1; round <= 3; round++) {
      const begun = await until('another waiter has begun', () =>
        scene
          .auditLines()
          .find(
            ({ name, event, epoch }) =>
              name.startsWith('waiter') && event === 'begin' && !epochs.includes(epoch)
          )
      )
      epochs.push(begun.epoch)
      const index = Number(begun.name.split('-')[1])
      await scene.audited(`child-${index}`, 'begin')
      waiters[index - 1]?.signal('SIGTERM')
    }
    expect((await Promise.all(waiters.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([
      143, 143, 143
    ])
    expect(epochs).toEqual([2, 3, 4])
  })

  test('gets the agent when its holder is killed, after ending what the holder left', async ({ scene }) => {
    const { holder } = await holderOf(scene)
    const left = await scene.audited('holder', 'begin')
    const waiting = scene.run(['true'], { flags: ['--wait'] })
    await waiting.says(/Waiting for/)
    holder.signal('SIGKILL')
    expect((await waiting.ended).code).toBe(0)
    expect(lives(left.pid)).toBe(false)
  })

  for (const words of [['--wait=1'], ['--wait', '1'], ['--wait=0.2'], ['--wait=0']]) {
    test(`${words.join(' ')} runs out: exit 124, saying who holds the agent, and starts nothing`, async ({
      scene
    }) => {
      const { holder, end } = await holderOf(scene)
      const started = scene.newPath('started')
      const startedMs = bootMs()
      const { code, stderr } = await scene.run(['touch', started], { flags: words }).ended
      expect(code).toBe(124)
      expect(bootMs() - startedMs).toBeGreaterThanOrEqual(Number(words.join('=').split('=')[1]) * 1_000)
      expect(stderr).toContain('did not become free within')
      expect(stderr).toContain(`pid ${holder.pid}`)
      expect(scene.exists(started)).toBe(false)
      end()
      await holder.ended
    })
  }

  test('runs out as data with --json', async ({ scene }) => {
    const { holder, end } = await holderOf(scene)
    const { code, stdout } = await scene.run(['true'], { flags: ['--wait=0.1', '--json', '-E', '9'] }).ended
    expect(code).toBe(124)
    expect(parseRefusal(JSON.parse(stdout).refusal)).toMatchObject({
      kind: 'wait-ran-out',
      holder: { pid: holder.pid }
    })
    end()
    await holder.ended
  })

  test('limits watching, too', async ({ scene }) => {
    putLease(scene, record(scene, { hostname: 'another-host', host_boot_id: 'of-another-host' }))
    expect((await scene.run(['true'], { flags: ['--wait=1'] }).ended).code).toBe(124)
  })

  test('costs nothing when the agent is free', async ({ scene }) => {
    const { code, stderr } = await scene.run(['true'], { flags: ['--wait'] }).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

describe('run, not waiting', () => {
  test('refuses a held agent at once without --wait, and with -n', async ({ scene }) => {
    const { holder, end } = await holderOf(scene)
    for (const flags of [[], ['-n']]) {
      const { code, stderr } = await scene.run(['true'], { flags }).ended
      expect(code).toBe(75)
      expect(stderr).not.toContain('Waiting')
    }
    end()
    await holder.ended
  })

  test('-E chooses the exit code of a held agent, 0 included, and of nothing else', async ({ scene }) => {
    const { holder, end } = await holderOf(scene)
    for (const code of [0, 1, 255]) {
      expect((await scene.run(['true'], { flags: ['-E', String(code)] }).ended).code).toBe(code)
    }
    end()
    await holder.ended
    expect((await scene.run(['sh', '-c', 'exit 3'], { flags: ['-E', '9'] }).ended).code).toBe(3)
    putLease(scene, 'damaged')
    expect((await scene.run(['true'], { flags: ['-n', '-E', '9'] }).ended).code).toBe(69)
  })

  test('-n answers an open question with 69 and does not watch', async ({ scene }) => {
    putLease(scene, 'damaged')
    const { code, stderr } = await scene.run(['true'], { flags: ['-n'] }).ended
    expect(code).toBe(69)
    expect(stderr).toContain('could not be found out')
    expect(stderr).not.toContain('Watching the lease of')
    // It says what would find out.
    expect(stderr).toContain('without -n')
  })
})
