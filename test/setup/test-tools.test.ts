/** What the tests need of the system is found, installed without starting anything, or named in one sentence. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { installTestTools, missingPackages, TEST_TOOLS } from '../../scripts/setup/test-tools.mjs'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-tools-'))
  mkdirSync(join(folder, 'bin'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const program = (name: string, script: string) =>
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })

/** An apt-get that writes down what it is told and whether services may start, and "installs" the programs. */
function fakeApt(installs: readonly string[]): void {
  const lines = [
    `echo "$DEBIAN_FRONTEND $*" >> '${folder}/apt.log'`,
    `'${folder}/policy'; echo "policy says $?" >> '${folder}/apt.log'`,
    ...installs.map(
      (name) => `printf '#!/bin/sh\\n' > '${folder}/bin/${name}'; /bin/chmod 755 '${folder}/bin/${name}'`
    )
  ]
  program('apt-get', lines.join('\n'))
}

function options(isRoot: boolean) {
  const said: string[] = []
  const env = { PATH: join(folder, 'bin') }
  return {
    said,
    options: { env, isRoot, policyFile: join(folder, 'policy'), say: (text: string) => void said.push(text) }
  }
}

describe('tools for the tests', () => {
  test('that are all there cost nothing', async () => {
    for (const name of Object.keys(TEST_TOOLS)) program(name, 'exit 0')
    const { said, options: given } = options(true)
    expect(await installTestTools(given)).toBe(true)
    expect(said).toEqual([])
  })

  test('are installed as root, each package once, while no service may start', async () => {
    for (const name of Object.keys(TEST_TOOLS)) if (!name.startsWith('avahi')) program(name, 'exit 0')
    fakeApt(Object.keys(TEST_TOOLS))
    const { options: given } = options(true)
    expect(missingPackages(given.env)).toEqual(['avahi-daemon', 'avahi-utils'])
    expect(await installTestTools(given)).toBe(true)
    expect(readFileSync(join(folder, 'apt.log'), 'utf8')).toBe(
      'noninteractive install -y --no-install-recommends avahi-daemon avahi-utils\npolicy says 101\n'
    )
    expect(existsSync(given.policyFile)).toBe(false)
  })

  test('leave a policy that was there as it was', async () => {
    writeFileSync(join(folder, 'policy'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    fakeApt(Object.keys(TEST_TOOLS))
    const { options: given } = options(true)
    expect(await installTestTools(given)).toBe(true)
    expect(existsSync(given.policyFile)).toBe(true)
  })

  test('are named for somebody who may not install them, with the command', async () => {
    const { said, options: given } = options(false)
    expect(await installTestTools(given)).toBe(false)
    expect(said.join('')).toMatch(/^agentmux: .*only root.*sudo apt-get install -y .*avahi-daemon/)
  })

  test('are named when installing them fails, with the reason', async () => {
    program('apt-get', 'echo "E: Unable to locate package avahi-daemon" >&2; exit 100')
    const { said, options: given } = options(true)
    expect(await installTestTools(given)).toBe(false)
    expect(said.join('')).toMatch(/Unable to locate package avahi-daemon.*sudo apt-get install/)
  })
})
