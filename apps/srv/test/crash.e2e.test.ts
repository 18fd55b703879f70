/** A run that is killed cannot end what it started: whoever claims next does, before it starts anything (R3, R12). */
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { lives, stateOf } from './harness/processes.js'
import { quoted, type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

const FAMILY = ['shim', 'native', 'grandchild'] as const

/** A shim with a native child in its group and a grandchild in a session of its own that ignores SIGTERM. */
function shim(scene: Scene): string[] {
  return scene.agent('shim', '--child', 'native', '--session-child', 'grandchild')
}

async function familyOf(scene: Scene): Promise<number[]> {
  const lines = await Promise.all(FAMILY.map((name) => scene.audited(name, 'begin')))
  return lines.map(({ pid }) => pid)
}

describe('run, killed', () => {
  test('the next claim succeeds at once, with the next epoch, after ending the shim, its native child and a grandchild in another session', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const poll = await pollClaims(scene)
    const first = scene.run(shim(scene))
    const family = await familyOf(scene)
    const firstClaim = scene.lease().claim_id
    await poll.sees(firstClaim)
    first.signal('SIGKILL')
    await first.ended
    expect(family.map(lives)).toEqual([true, true, true])

    const second = scene.run(scene.agent('successor', '--until', stop))
    const successor = await scene.audited('successor', 'begin')
    expect(successor.epoch).toBe(2)
    expect(family.map(lives)).toEqual([false, false, false])
    await poll.sees(successor.claim)
    scene.trigger(stop)
    expect((await second.ended).code).toBe(0)

    const lines = scene.auditLines()
    const began = lines.findIndex(({ name, event }) => name === 'successor' && event === 'begin')
    expect(began).toBeGreaterThan(0)
    expect(lines.slice(began).filter(({ claim }) => claim === firstClaim)).toEqual([])
    // Those that heed SIGTERM were given the chance to.
    for (const name of ['shim', 'native']) {
      expect(lines).toContainEqual(expect.objectContaining({ name, event: 'end', claim: firstClaim }))
    }
    expect((await poll.end()).overlaps).toEqual([])
  })

  test('claim after claim: five runs killed in a row never overlap, and no epoch is given twice', async ({
    scene
  }) => {
    const poll = await pollClaims(scene)
    for (let round = 1; round <= 5; round++) {
      const run = scene.run(scene.agent(`round-${round}`, '--session-child', `daemon-${round}`))
      await Promise.all([scene.audited(`round-${round}`, 'begin'), scene.audited(`daemon-${round}`, 'begin')])
      run.signal('SIGKILL')
      await run.ended
    }
    const last = await scene.run(['true']).ended
    expect(last.code).toBe(0)
    const epochs = scene
      .auditLines()
      .flatMap(({ name, event, epoch }) => (event === 'begin' && name.startsWith('round') ? [epoch] : []))
    expect(epochs).toEqual([1, 2, 3, 4, 5])
    expect((await poll.end()).overlaps).toEqual([])
  })

  test('a holder that is a zombie is dead', async ({ scene }) => {
    const words = scene.runWords(scene.agent('first')).map(quoted).join(' ')
    // Its parent never waits for it.
    const parent = scene.start(['sh', '-c', `${words} & exec sleep 600`])
    await scene.audited('first', 'begin')
    const { pid } = scene.lease()
    process.kill(pid, 'SIGKILL')
    await until('the holder is a zombie', () => stateOf(pid) === 'Z')
    const next = await scene.run(['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH']).ended
    expect(next).toMatchObject({ code: 0, stdout: '2\n' })
    expect(stateOf(pid)).toBe('Z')
    parent.signal('SIGKILL')
  })

  test('a run started by what a killed run left behind does not end its own ancestors: it is refused', async ({
    scene
  }) => {
    const go = scene.newPath('go')
    const inner = scene.runWords(scene.agent('inner')).map(quoted).join(' ')
    const result = scene.newPath('result')
    const script = `echo $$ > ${go}; while [ ! -e ${go}.now ]; do sleep 0.05; done; ${inner} 2> ${result}; echo "exit $?" >> ${result}; sleep 600`
    const outer = scene.run(['sh', '-c', script])
    await until('the outer command runs', () => scene.lines(go)[0])
    outer.signal('SIGKILL')
    await outer.ended
    scene.trigger(`${go}.now`)
    const said = await until('the inner run has ended', () => {
      const text = scene.lines(result).join('\n')
      return /exit \d+$/.test(text) && text
    })
    expect(said).toMatch(/exit 75$/)
    expect(said).toContain('processes of its previous run are still there')
    expect(said).toContain('is this command itself, or what started it')
    expect(lives(Number(scene.lines(go)[0]))).toBe(true)
  })
})
