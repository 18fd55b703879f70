/** What a command finds in its environment: the marks of its claim, and no key or address of anybody else (R12, R16). */
import { describe, expect } from 'vitest'
import { type RunOptions, type Scene, test } from './harness/scene.js'

async function environmentOf(scene: Scene, options: RunOptions = {}): Promise<Record<string, string>> {
  const script = 'process.stdout.write(JSON.stringify(process.env))'
  const { code, stdout } = await scene.run([process.execPath, '-e', script], options).ended
  expect(code).toBe(0)
  const all: Record<string, string> = JSON.parse(stdout)
  return Object.fromEntries(Object.entries(all).filter(([name]) => /^(AGENTMUX_(?!TEST_)|PLAIN)/.test(name)))
}

const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)

describe('run, the environment of its command', () => {
  test('names the agent, the pane, the claim and the epoch', async ({ scene }) => {
    expect(await environmentOf(scene, { flags: ['--agent', 'Agent3'] })).toEqual({
      AGENTMUX_AGENT_ID: 'Agent3',
      AGENTMUX_AGENT_UID: scene.uid,
      AGENTMUX_BLOCKID: UUID,
      AGENTMUX_CLAIM_ID: UUID,
      AGENTMUX_LEASE_EPOCH: '1',
      AGENTMUX_SHARED_DIR: scene.shared
    })
  })

  test('has a fresh claim id each time, the one in the lease', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const first = await environmentOf(scene)
    const run = scene.run(scene.agent('agent', '--until', stop))
    const agent = await scene.audited('agent', 'begin')
    expect(agent.claim).toBe(scene.lease().claim_id)
    expect(agent.claim).not.toBe(first.AGENTMUX_CLAIM_ID)
    scene.trigger(stop)
    await run.ended
  })

  test('has nothing of the pane in which the run was started, and no key', async ({ scene }) => {
    const outer = {
      AGENTMUX_AGENT_ID: 'Outer',
      AGENTMUX_AGENT_UID: 'outer-uid',
      AGENTMUX_BLOCKID: 'outer-block',
      AGENTMUX_LOCAL_URL: 'http://127.0.0.1:1',
      AGENTMUX_AUTH_KEY: 'outer-key',
      AGENTMUX_CLAIM_ID: 'outer-claim',
      AGENTMUX_LEASE_EPOCH: '99',
      AGENTMUX_LAN_SECRET: 'outer-secret',
      AGENTMUX_CHANNEL: 'beta',
      PLAIN: 'kept'
    }
    expect(await environmentOf(scene, { environment: outer })).toEqual({
      AGENTMUX_AGENT_ID: '',
      AGENTMUX_AGENT_UID: scene.uid,
      AGENTMUX_BLOCKID: UUID,
      AGENTMUX_CLAIM_ID: UUID,
      AGENTMUX_LEASE_EPOCH: '1',
      AGENTMUX_CHANNEL: 'beta',
      AGENTMUX_SHARED_DIR: scene.shared,
      PLAIN: 'kept'
    })
  })

  test('a run inside a run, for another agent, has marks of its own; for the same agent it is refused', async ({
    scene
  }) => {
    const inner = (uid: string) =>
      scene.runWords(['sh', '-c', 'echo $AGENTMUX_AGENT_UID $AGENTMUX_LEASE_EPOCH'], { uid })
    expect(await scene.run(inner('inner-agent')).ended).toMatchObject({ code: 0, stdout: 'inner-agent 1\n' })
    expect(await scene.run(inner(scene.uid)).ended).toMatchObject({ code: 75, stdout: '' })
  })

  test('the command gets its arguments, folder, stdin and stdout as they are', async ({ scene }) => {
    const run = scene.run(
      ['sh', '-c', 'cat; pwd -P; printf "<%s>" "$@"', 'sh', '--json', '-n', '', 'a b', '*', '--'],
      {
        spawn: { stdio: ['pipe', 'pipe', 'pipe'] }
      }
    )
    run.type('typed\n')
    run.endInput()
    const { code, stdout } = await run.ended
    expect(code).toBe(0)
    expect(stdout).toBe(`typed\n${scene.folder}\n<--json><-n><><a b><*><-->`)
  })
})
