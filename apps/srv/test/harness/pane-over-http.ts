/** A pane that is opened over HTTP, and the key that only its own processes know. */
import { readFileSync } from 'node:fs'
import type { HttpClient } from './http-client.js'
import type { Scene } from './scene.js'

export interface OpenedPane {
  readonly blockId: string
  readonly pid: number
  readonly key: string
}

/** Unless more is said, of an agent that reads its input and says nothing. */
export function openingOf(scene: Scene, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    uid: scene.uid,
    agent: 'Agent3',
    command: [process.execPath, '-e', 'process.stdin.resume()'],
    cwd: scene.folder,
    env: { AGENTMUX_TEST_SCENE: scene.folder },
    ...more
  }
}

export async function openPane(
  client: HttpClient,
  scene: Scene,
  more: Record<string, unknown> = {}
): Promise<OpenedPane> {
  const { status, body } = await client.post('/api/v1/agents', openingOf(scene, more))
  if (status !== 201) throw new Error(`not opened: ${status} ${body}`)
  const { block_id: blockId, pid } = JSON.parse(body)
  return { blockId, pid, key: keyOf(pid) }
}

function keyOf(pid: number): string {
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  const variable = environment.find((one) => one.startsWith('AGENTMUX_AUTH_KEY='))
  if (variable === undefined) throw new Error('the pane has no key')
  return variable.slice('AGENTMUX_AUTH_KEY='.length)
}
