/** `npm start` in this repository, which is set up: a test runs after the set-up. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environmentOutsideNpm } from '../../scripts/start/leave-npm.mjs'
import { repositoryRoot } from '../../scripts/workspace.mjs'
import { temporaryFolder } from './temporary-folder.js'

test('stdout has the data of the command and nothing else', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['start', '--', '--version'], {
    cwd: repositoryRoot,
    env: environmentOutsideNpm(repositoryRoot),
    encoding: 'utf8'
  })
  expect(status, stderr).toBe(0)
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/)
})

test('the exit code is that of the command', () => {
  const args = ['start', '--', 'run', '--no-such-flag']
  const { status } = spawnSync('npm', args, {
    cwd: repositoryRoot,
    env: environmentOutsideNpm(repositoryRoot)
  })
  expect(status).toBe(64)
})

test('what npm adds to the environment is gone, what the caller had is kept', () => {
  const env = {
    npm_lifecycle_event: 'start',
    npm_package_name: 'agentmux-leases',
    npm_config_loglevel: 'silent',
    npm_config_registry: 'https://registry.example',
    INIT_CWD: '/elsewhere',
    HOME: '/home/me',
    PATH: [
      join(repositoryRoot, 'node_modules/.bin'),
      '/node_modules/.bin',
      '/npm/node-gyp-bin',
      '/usr/bin'
    ].join(':')
  }
  expect(environmentOutsideNpm(repositoryRoot, env)).toEqual({
    npm_config_registry: 'https://registry.example',
    HOME: '/home/me',
    PATH: '/usr/bin'
  })
})

test('an environment without npm stays as it is', () => {
  const env = { HOME: '/home/me', INIT_CWD: '/elsewhere', PATH: '/usr/bin' }
  expect(environmentOutsideNpm(repositoryRoot, env)).toEqual(env)
})

test('a command started from another folder runs there', () => {
  const folder = temporaryFolder()
  const args = [
    '--prefix',
    repositoryRoot,
    'start',
    '--',
    'run',
    '--uid',
    'from-elsewhere',
    '--shared-dir',
    folder,
    '--',
    'pwd'
  ]
  const { stdout, stderr } = spawnSync('npm', args, {
    cwd: folder,
    env: environmentOutsideNpm(repositoryRoot),
    encoding: 'utf8'
  })
  expect(stdout.trim(), stderr).toBe(folder)
})

test('a Node that is too old is told so in one line, before anything else is loaded', () => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.3' } })`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(pretend)}`,
      join(repositoryRoot, 'scripts/start.mjs')
    ],
    { encoding: 'utf8' }
  )
  expect(status).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^agentmux: Node 20\.18\.3 is too old: 20\.19 or newer is needed\. .*\n$/)
})
