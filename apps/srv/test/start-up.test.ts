/** What is loaded before a command starts: nothing that a run does not need, as every part of it makes the start later. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { CLI, fixture, test } from './harness/scene.js'

/** As only the web server has it in its code. */
const WEB_SERVER = 'FST_ERR_'
/** Each takes longer to load than a claim takes. */
const NOT_NEEDED = ['crypto', 'http', 'fs/promises', 'readline', 'v8']

function built(file: string): string {
  return readFileSync(join(dirname(CLI), file), 'utf8')
}

describe('the program', () => {
  test('has its web server in a file of its own, which only the daemon loads', () => {
    expect(built('cli.js')).not.toContain(WEB_SERVER)
    expect(built('daemon.js')).toContain(WEB_SERVER)
  })

  test('loads no part of Node before its command starts that the start does not need', async ({ scene }) => {
    const loaded = scene.newPath('loaded')
    const run = scene.run(['true'], {
      nodeFlags: ['--require', fixture('loaded-at-start.cjs')],
      environment: { LOADED_AT_START: loaded }
    })
    expect(await run.ended).toMatchObject({ code: 0 })
    const modules = readFileSync(loaded, 'utf8').split('\n')
    expect(modules).toContain('NativeModule child_process')
    expect(modules.filter((name) => NOT_NEEDED.includes(name.replace('NativeModule ', '')))).toEqual([])
  })
})
