/**
 * The programs that only tests need: network namespaces, independent peers, file systems. As root on Debian what is missing is
 * installed, without starting any of its services; otherwise one sentence names the packages.
 * Also a script: `node scripts/setup/test-tools.mjs`.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { findProgram } from './find-program.mjs'
import { runStep } from './step.mjs'

/** Which Debian package each program comes in. */
export const TEST_TOOLS = {
  ip: 'iproute2',
  unshare: 'util-linux',
  hostname: 'hostname',
  strace: 'strace',
  'dbus-daemon': 'dbus',
  'avahi-daemon': 'avahi-daemon',
  'avahi-browse': 'avahi-utils',
  'avahi-publish': 'avahi-utils',
  etcd: 'etcd-server',
  'mkfs.ext4': 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  'mkfs.btrfs': 'btrfs-progs'
}

/** Debian asks this program before a package starts a service; 101 means no. */
const POLICY_FILE = '/usr/sbin/policy-rc.d'

/** Daemons are not on everybody's PATH. */
export const withSbin = (env = process.env) => ({ ...env, PATH: `${env.PATH ?? ''}:/usr/sbin:/sbin` })

/** @returns {string[]} the packages of what is missing, each once */
export function missingPackages(env = process.env) {
  const missing = Object.entries(TEST_TOOLS).filter(([program]) => !findProgram(program, env))
  return [...new Set(missing.map(([, name]) => name))]
}

async function install(packages, { env, policyFile }) {
  const aptEnv = { ...env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const apt = (...args) => runStep(`apt-get ${args[0]}`, { command: 'apt-get', args, cwd: '/', env: aptEnv })
  const ownPolicy = !existsSync(policyFile)
  if (ownPolicy) writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const installing = ['install', '-y', '--no-install-recommends', ...packages]
  try {
    // Package lists that are old name versions that are gone; often they are good enough.
    await apt(...installing).catch(async () => {
      await apt('update')
      await apt(...installing)
    })
  } finally {
    if (ownPolicy) rmSync(policyFile, { force: true })
  }
}

/**
 * Whether the tools are there afterwards. Only Linux has tests that need any.
 *
 * @param {{ env?: NodeJS.ProcessEnv, isRoot?: boolean, policyFile?: string, say?: (text: string) => void }} [options]
 * @returns {Promise<boolean>}
 */
export async function installTestTools(options = {}) {
  const { isRoot = process.getuid?.() === 0, policyFile = POLICY_FILE } = options
  const { say = (text) => process.stderr.write(text) } = options
  const env = options.env ?? withSbin()
  if (process.platform !== 'linux') return true
  const packages = missingPackages(env)
  if (packages.length === 0) return true
  let why = isRoot ? 'there is no apt-get here' : 'only root can install them'
  if (isRoot && findProgram('apt-get', env)) {
    say(`installing what the tests need: ${packages.join(' ')}\n`)
    try {
      await install(packages, { env, policyFile })
    } catch (error) {
      why = error.message
    }
    if (missingPackages(env).length === 0) return true
  }
  say(
    `agentmux: some tests need programs that are missing here (${why}). Debian/Ubuntu: sudo apt-get install -y ${packages.join(' ')}\n`
  )
  return false
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = (await installTestTools()) ? 0 : 1
}
