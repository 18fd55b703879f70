/**
 * What compiling the native file lock needs: python3, make and a C++ compiler. Looked for before anything else is
 * done, because a failed compilation hides the reason under pages of output.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findProgram } from './find-program.mjs'

const INSTALL_WITH = {
  'Debian/Ubuntu': 'sudo apt-get install -y python3 make g++',
  Fedora: 'sudo dnf install -y python3 make gcc-c++',
  Alpine: 'sudo apk add python3 make g++',
  macOS: 'xcode-select --install',
  Windows: 'winget install Python.Python.3.12 Microsoft.VisualStudio.2022.BuildTools, with the C++ workload'
}

function thisSystem() {
  if (process.platform === 'darwin') return 'macOS'
  if (process.platform === 'win32') return 'Windows'
  try {
    const release = readFileSync('/etc/os-release', 'utf8')
    const like = /^ID(_LIKE)?=.*\b(fedora|rhel|centos)\b/m.test(release) ? 'Fedora' : undefined
    return like ?? (/^ID=alpine/m.test(release) ? 'Alpine' : 'Debian/Ubuntu')
  } catch {
    return 'Debian/Ubuntu'
  }
}

const succeeds = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

function missingPython(env) {
  const isPython3 = (name) =>
    findProgram(name, env) && succeeds(name, ['-c', 'import sys; sys.exit(sys.version_info < (3, 6))'])
  const chosen = env.npm_config_python ?? env.PYTHON
  if (chosen) return isPython3(chosen) ? [] : [`python3 ($PYTHON is ${chosen}, which is not a Python 3)`]
  return isPython3('python3') || isPython3('python') ? [] : ['python3']
}

function compilerOf(env) {
  if (env.CXX) return findProgram(env.CXX.trim().split(/\s+/)[0], env) && env.CXX
  return ['g++', 'c++', 'clang++'].find((name) => findProgram(name, env))
}

/** What is missing, in words; empty if everything is there. On Windows node-gyp itself is the best judge. */
export function missingTools(env = process.env) {
  if (process.platform === 'win32') return missingPython(env)
  // macOS has stand-ins for all of these that only offer to install the real ones.
  if (process.platform === 'darwin' && !succeeds('xcode-select', ['-p']))
    return ['the Xcode command line tools']
  return [
    ...missingPython(env),
    ...(findProgram(env.MAKE ?? 'make', env) ? [] : ['make']),
    ...(compilerOf(env)
      ? []
      : [env.CXX ? `a C++ compiler ($CXX is ${env.CXX}, which is not there)` : 'a C++ compiler (g++)'])
  ]
}

/** Its message is complete, and for a person. */
export class MissingTools extends Error {}

/** The message for missing tools. All that matters is in the first line; the other systems follow. */
export function explainMissing(missing, what = 'the native file lock (fs-ext)') {
  const here = thisSystem()
  const others = Object.entries(INSTALL_WITH).filter(([system]) => system !== here)
  return [
    `agentmux: ${what} cannot be compiled, missing: ${missing.join(', ')}. ` +
      `${here}: ${INSTALL_WITH[here]}`,
    ...others.map(([system, command]) => `  ${system}: ${command}`),
    ''
  ].join('\n')
}

/** Where this Node's own headers are, if it came with them: then compiling needs no download. */
function ownHeaders() {
  const prefix = dirname(dirname(process.execPath))
  try {
    const header = readFileSync(join(prefix, 'include/node/node_version.h'), 'utf8')
    const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(header)?.[1]
    const version = `${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`
    return version === process.versions.node ? prefix : undefined
  } catch {
    return undefined
  }
}

/**
 * The environment in which native code compiles: make knows g++ only, headers at hand are used, and what would rather
 * fetch a binary from somewhere (SQLite for the relay) compiles as well.
 */
export function compileEnvironment(env = process.env) {
  const added = {}
  const compiler = compilerOf(env)
  if (!env.CXX && compiler && compiler !== 'g++') added.CXX = compiler
  const headers = env.npm_config_nodedir ? undefined : ownHeaders()
  if (headers) added.npm_config_nodedir = headers
  return { npm_config_build_from_source: 'true', ...env, ...added }
}
