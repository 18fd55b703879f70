/** The refusal that the repository's README shows is the one that a refused person reads. */
import { readFileSync } from 'node:fs'
import { deniedMessage } from '@agentmux/refusals'
import { expect, test } from 'vitest'
import { adviceFor } from '../src/advice.js'
import { PROGRAM } from '../src/output.js'

test('the sample in the README is word for word what `run` says', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const shown = /```text\n(agentmux-srv: [\s\S]*?)\n```/.exec(readme)?.[1]?.replaceAll('\n', ' ')
  const nowMs = 1_700_000_000_000
  const holder = {
    place: 'this-host',
    hostname: 'mill',
    channel: 'stable',
    version: '0.1.0',
    pid: 4_242,
    acquiredAtMs: nowMs - 180_000,
    epoch: 1,
    blockId: ''
  } as const
  expect(shown).toBe(
    `${PROGRAM}: ${deniedMessage({ uid: '7c0e2f', name: 'Agent3' }, holder, nowMs, adviceFor({}))}`
  )
})
