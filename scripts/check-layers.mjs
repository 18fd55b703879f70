/**
 * Fails when a manifest or an import breaks the layers: arrows only go down, siblings never meet, and what must install
 * without a compiler never reaches the native lock. The table is the whole truth; everything else is judged by it.
 */
import { pathToFileURL } from 'node:url'
import { importViolations } from './layers/import-rules.mjs'
import { manifestViolations } from './layers/manifest-rules.mjs'
import { repositoryRoot, workspacePackages } from './workspace.mjs'

/**
 * What a package may depend on.
 *
 * @typedef {object} Layer
 * @property {readonly string[]} internal our packages below it
 * @property {readonly string[] | 'any'} external packages from the registry
 * @property {readonly string[] | 'any'} builtins modules of Node
 * @property {boolean} compilerFree whether it must install without a compiler: nothing below it reaches fs-ext
 */

/** @type {Omit<Layer, 'external'>} */
const TIER = { internal: ['@agentmux/lease-model'], builtins: 'any', compilerFree: true }

const EVERY_PACKAGE_BELOW_THE_APPS = [
  '@agentmux/host-admission',
  '@agentmux/lan-tier',
  '@agentmux/lease-model',
  '@agentmux/lease-store',
  '@agentmux/refusals',
  '@agentmux/wan-client'
]

/**
 * The native lock: one package imports it, whatever `external` says. An app that is bundled into one file carries that
 * import along, so it has to declare it, and no more than that.
 */
export const NATIVE_LOCK = {
  name: 'fs-ext',
  importer: '@agentmux/lease-store',
  dependents: ['@agentmux/lease-store', '@agentmux/srv']
}

/** @type {Readonly<Record<string, Layer>>} */
export const LAYERS = {
  '@agentmux/lease-model': {
    internal: [],
    external: [],
    builtins: ['node:os', 'node:perf_hooks'],
    compilerFree: true
  },
  '@agentmux/refusals': {
    internal: ['@agentmux/lease-model'],
    external: [],
    builtins: [],
    compilerFree: true
  },
  '@agentmux/lease-store': {
    internal: ['@agentmux/lease-model'],
    external: ['fs-ext', 'zod'],
    builtins: 'any',
    compilerFree: false
  },
  '@agentmux/lan-tier': { ...TIER, external: ['multicast-dns', 'undici', 'zod'] },
  '@agentmux/wan-client': { ...TIER, external: ['undici', 'zod'] },
  '@agentmux/host-admission': {
    internal: ['@agentmux/lease-model', '@agentmux/lease-store', '@agentmux/refusals'],
    external: [],
    builtins: 'any',
    compilerFree: false
  },
  '@agentmux/simulation': {
    internal: EVERY_PACKAGE_BELOW_THE_APPS,
    external: 'any',
    builtins: 'any',
    compilerFree: false
  },
  '@agentmux/srv': {
    internal: EVERY_PACKAGE_BELOW_THE_APPS,
    external: 'any',
    builtins: 'any',
    compilerFree: false
  },
  '@agentmux/relay': {
    internal: EVERY_PACKAGE_BELOW_THE_APPS,
    external: 'any',
    builtins: 'any',
    compilerFree: false
  }
}

/**
 * Every violation in a workspace, one line each, sorted; empty if there is none.
 *
 * @param {string} [root]
 * @returns {Promise<string[]>}
 */
export async function layerViolations(root = repositoryRoot) {
  const packages = workspacePackages(root)
  const rules = { layers: LAYERS, nativeLock: NATIVE_LOCK, root, packages }
  return packages.flatMap((p) => [...manifestViolations(p, rules), ...importViolations(p, rules)]).sort()
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const violations = await layerViolations(process.argv[2])
  for (const line of violations) process.stderr.write(`${line}\n`)
  process.stdout.write(
    violations.length === 0 ? 'layers hold\n' : `${violations.length} violations of the layers\n`
  )
  process.exitCode = violations.length === 0 ? 0 : 1
}
