/** Shared folders on file systems that are not to be trusted: said once, and used; without locks: refused, exit 69. */
import { existsSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { Daemon } from './harness/daemon.js'
import { test } from './harness/scene.js'
import { standIn } from './harness/stand-in.js'

const NFS = 0x6969
const ENOLCK = 37

const warnings = (stderr: string) =>
  stderr.split('\n').filter((line) => line.includes('WARNING: the shared folder'))

describe('a shared folder on a network disk', () => {
  test('run says so once, and holds its agent there', async ({ scene }) => {
    const run = scene.run(['true'], { environment: standIn(scene, { fileSystem: NFS }) })
    const { code, stderr } = await run.ended
    expect(code).toBe(0)
    expect(warnings(stderr)).toHaveLength(1)
    expect(warnings(stderr)[0]).toContain(`${scene.shared} is on NFS`)
  })

  test('the daemon says so once, at its start', async ({ scene }) => {
    const environment = standIn(scene, { fileSystem: NFS })
    const daemon = await Daemon.start(scene, 'stable', { environment })
    await daemon.program.says(/WARNING: the shared folder .* is on NFS/)
  })

  test('nothing is said of an ordinary disk', async ({ scene }) => {
    const { code, stderr } = await scene.run(['true']).ended
    expect({ code, said: warnings(stderr) }).toEqual({ code: 0, said: [] })
  })
})

describe('a shared folder where flock', () => {
  for (const [how, flock] of [
    ['fails', ENOLCK],
    ['does nothing', 0]
  ] as const) {
    test(`${how}: exit 69, nothing started, the way out is named`, async ({ scene }) => {
      const started = scene.newPath('started')
      const run = scene.run(['touch', started], { environment: standIn(scene, { flock }) })
      const { code, stderr } = await run.ended
      expect(code).toBe(69)
      expect(stderr).toContain(`flock ${how} there`)
      expect(stderr).toContain('local disk')
      expect(existsSync(started)).toBe(false)
    })
  }
})
