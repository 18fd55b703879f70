/** What a person without a compiler reads, from the real start script in a copy of the repository without dependencies. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { findProgram } from '../../scripts/setup/find-program.mjs'
import { repositoryRoot, workspacePackages } from '../../scripts/workspace.mjs'
import { temporaryFolder } from './temporary-folder.js'

let root: string
let path: string

beforeEach(() => {
  root = temporaryFolder()
  for (const file of ['scripts', 'package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml']) {
    cpSync(join(repositoryRoot, file), join(root, file), { recursive: true })
  }
  for (const { path: folder, dir } of workspacePackages()) {
    mkdirSync(join(root, folder), { recursive: true })
    cpSync(join(dir, 'package.json'), join(root, folder, 'package.json'))
  }
  path = join(root, 'only-these')
  mkdirSync(path)
})

/** Puts a program on the PATH of the start: the real one, or a stand-in. */
function provide(name: string, standIn?: string) {
  if (standIn !== undefined) writeFileSync(join(path, name), `#!/bin/sh\n${standIn}\n`, { mode: 0o755 })
  else symlinkSync(findProgram(name) ?? expect.fail(`${name} is not on the PATH`), join(path, name))
}

function start(env: NodeJS.ProcessEnv = {}) {
  const inherited = { HOME: root, PATH: path }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/start.mjs', 'status'], {
    cwd: root,
    env: { ...inherited, ...env },
    encoding: 'utf8'
  })
  return { status, stdout, lines: stderr.split('\n') }
}

test.runIf(process.platform === 'linux')(
  'without a compiler the first line says what is missing and how to get it',
  () => {
    provide('python3', 'exit 0')
    provide('make', 'exit 0')
    const { status, stdout, lines } = start()
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(lines[0]).toMatch(
      /^agentmux: the native file lock \(fs-ext\) cannot be compiled, missing: a C\+\+ compiler \(g\+\+\)\. \w/
    )
    for (const system of ['Debian/Ubuntu', 'Fedora', 'macOS', 'Windows'])
      expect(lines.join('\n')).toContain(`${system}: `)
  }
)

test.runIf(process.platform === 'linux')('everything that is missing is named at once', () => {
  expect(start().lines[0]).toContain('missing: python3, make, a C++ compiler (g++).')
})

test.runIf(process.platform === 'linux')('a Python that is no Python 3 does not count', () => {
  provide('python3', 'exit 1')
  provide('make', 'exit 0')
  provide('clang++', 'exit 0')
  expect(start().lines[0]).toContain('missing: python3.')
})

test.runIf(process.platform === 'linux')(
  '$CXX and $PYTHON are believed, and named when they lead nowhere',
  () => {
    provide('python3', 'exit 0')
    provide('make', 'exit 0')
    provide('g++', 'exit 0')
    const { lines } = start({ CXX: 'no-such-compiler -O2', PYTHON: '/no/such/python' })
    expect(lines[0]).toContain('$PYTHON is /no/such/python')
    expect(lines[0]).toContain('$CXX is no-such-compiler -O2')
  }
)

test.runIf(process.platform === 'linux')(
  'with the tools there the next step is tried, and its failure is told first',
  () => {
    for (const name of ['python3', 'make', 'g++']) provide(name, 'exit 0')
    provide(
      'npx',
      'echo "npm error code ECONNREFUSED"; echo "npm error FetchError: request to x failed"; exit 1'
    )
    provide('sh')
    const { status, stdout, lines } = start()
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(lines.slice(0, 3)).toEqual([
      'agentmux: installing dependencies',
      'agentmux: fetching pnpm failed: npm error FetchError: request to x failed',
      'npm error code ECONNREFUSED'
    ])
  }
)
