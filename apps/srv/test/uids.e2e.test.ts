/** What can be an agent's UID: nothing that could leave the folder or share a file with another (R1). */
import { existsSync, readdirSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { type Scene, test } from './harness/scene.js'

const UNUSABLE: readonly (readonly [string, string])[] = [
  ['the empty string', ''],
  ['a path', 'a/b'],
  ['an absolute path', '/tmp/agent'],
  ['a path upwards', '../agent'],
  ['..', '..'],
  ['.', '.'],
  ['a backslash', 'a\\b'],
  ['a drive', 'C:agent'],
  ['300 characters', 'x'.repeat(300)],
  ['300 bytes in 100 characters', '€'.repeat(100)],
  ['a Windows device', 'CON'],
  ['a Windows device with an ending', 'nul.txt'],
  ['a Windows port', 'com1'],
  ['a line break', 'a\nb'],
  ['a terminal sequence', '\x1b[31mred'],
  ['a space at the end', 'agent '],
  ['a dot at the end', 'agent.'],
  ['a flag whose value was left out', '--'],
  ['another flag', '-n']
]

/** Everything below the shared folder. */
function created(scene: Scene): string[] {
  return existsSync(scene.shared) ? readdirSync(scene.shared, { recursive: true }).map(String).sort() : []
}

describe('run --uid', () => {
  for (const [what, uid] of UNUSABLE) {
    test(`refuses ${what}: exit 64, the flag named, an example, no file`, async ({ scene }) => {
      const { code, stdout, stderr } = await scene.run(['touch', scene.newPath('started')], { uid }).ended
      expect(code).toBe(64)
      expect(stdout).toBe('')
      expect(stderr).toContain('--uid')
      expect(stderr).toContain('Example: agentmux-srv run --uid')
      // Nothing of it reaches the terminal as it is.
      expect(stderr.replaceAll('\n', '')).toMatch(/^\P{Cc}*$/u)
      expect(readdirSync(scene.folder)).toEqual([])
    })
  }

  test('refuses another letter case of an existing key, naming both, and makes no file for it', async ({
    scene
  }) => {
    expect((await scene.run(['true'], { uid: 'Agent-A' }).ended).code).toBe(0)
    const before = created(scene)
    const { code, stderr } = await scene.run(['touch', scene.newPath('started')], { uid: 'agent-a' }).ended
    expect(code).toBe(69)
    expect(stderr).toContain('agent-a')
    expect(stderr).toContain('Agent-A')
    expect(stderr).toContain('only in letter case')
    expect(created(scene)).toEqual(before)
    expect((await scene.run(['true'], { uid: 'Agent-A' }).ended).code).toBe(0)
  })

  test('takes any other text as it is, and keeps its files in the folder', async ({ scene }) => {
    const uids = ['7c0e2f', 'agent 1', 'Zoë', '日本', 'a.b', 'x'.repeat(200), "it's $HOME `x` %s"]
    for (const uid of uids) {
      const { code, stdout } = await scene.run(['sh', '-c', 'printf %s "$AGENTMUX_AGENT_UID"'], { uid }).ended
      expect({ code, stdout }).toEqual({ code: 0, stdout: uid })
    }
    expect(created(scene).filter((path) => path.endsWith('.epoch'))).toHaveLength(uids.length)
  })
})
