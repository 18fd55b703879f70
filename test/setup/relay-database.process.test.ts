/** When SQLite for the relay is compiled, and what a person without a compiler reads. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import { repositoryRoot } from '../../scripts/workspace.mjs'
import { temporaryFolder } from './temporary-folder.js'

const SCRIPT = pathToFileURL(join(repositoryRoot, 'scripts/setup/relay-database.mjs')).href

let root: string
let installed: string
beforeEach(() => {
  root = temporaryFolder()
  installed = join(root, 'apps/relay/node_modules/better-sqlite3')
})

/** A package that loads once its script has been run, as the real one does, and notes each time that it was. */
function install(): void {
  mkdirSync(installed, { recursive: true })
  const build = `mkdir -p build/Release && echo > build/Release/better_sqlite3.node && echo compiled >> log`
  const manifest = { name: 'better-sqlite3', version: '1.0.0', scripts: { 'build-release': build } }
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest))
  writeFileSync(
    join(installed, 'index.js'),
    `if (!require('fs').existsSync(__dirname + '/build/Release/better_sqlite3.node')) throw new Error('not compiled')
     module.exports = class { exec() {} }`
  )
  writeFileSync(join(installed, 'log'), '')
}

function compile(env: NodeJS.ProcessEnv = process.env) {
  const script = `const { compileRelayDatabase } = await import(${JSON.stringify(SCRIPT)})
    console.log(await compileRelayDatabase(${JSON.stringify(root)}))`
  const args = ['--input-type=module', '-e', script]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  return { status, stdout: stdout.trim(), stderr }
}

test('it is compiled once, and again when what was made is gone', () => {
  install()
  const first = compile()
  expect(first).toMatchObject({ status: 0, stdout: 'true' })
  expect(first.stderr).toContain('it takes a minute')
  expect(compile()).toEqual({ status: 0, stdout: 'true', stderr: '' })
  spawnSync('rm', ['-r', join(installed, 'build')])
  expect(compile().stderr).toContain('compiling SQLite')
})

test('where the relay is not installed there is nothing to do', () => {
  expect(compile()).toEqual({ status: 0, stdout: 'true', stderr: '' })
})

test('without a compiler the first line says what is missing, and for what', () => {
  install()
  const { status, stdout, stderr } = compile({ HOME: root, PATH: root })
  expect(status).toBe(1)
  expect(stdout).toBe('false')
  expect(stderr.split('\n')[0]).toMatch(
    /SQLite for the relay \(better-sqlite3\) cannot be compiled, missing: .*make/
  )
})
