/** Judges the imports of one package's sources by the table of layers. A finding names the way out. */
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, posix } from 'node:path'
import { filesUnder } from '../setup/fingerprint.mjs'
import { importSpecifiers } from './import-specifiers.mjs'
import { declaredDependencies } from './manifest-rules.mjs'

const SOURCE = /\.[cm]?[jt]sx?$/
const BUILTINS = new Set(builtinModules)

/** `zod/mini` -> `zod`, `@agentmux/lease-model/testing` -> `@agentmux/lease-model`. */
function packageOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

const isAllowed = (list, name) => list === 'any' || list.includes(name)
const listed = (list) => (list === 'any' || list.length > 0 ? [list].flat().join(', ') : 'none')

/** What is wrong with importing `specifier` from `file`, or undefined. */
function faultOf(specifier, { file, owner, layer, declared, rules }) {
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(file), specifier)
    if (target === owner.path || target.startsWith(`${owner.path}/`)) return undefined
    return 'a relative import leaves the package; import what the other package exports, by its name'
  }
  if (specifier.startsWith('/') || specifier.startsWith('#') || /^(file|data|https?):/.test(specifier)) {
    return 'neither relative nor a package; import by package name'
  }
  if (specifier.startsWith('node:') || BUILTINS.has(specifier)) {
    const name = specifier.startsWith('node:') ? specifier : `node:${specifier}`
    if (isAllowed(layer.builtins, name)) return undefined
    return `${owner.manifest.name} may use of Node: ${listed(layer.builtins)}; do this in a layer above and pass it in as a port`
  }
  const name = packageOf(specifier)
  if (name === owner.manifest.name) return 'a package does not import itself by name; use a relative path'
  if (name === rules.nativeLock.name && owner.manifest.name !== rules.nativeLock.importer) {
    return `only ${rules.nativeLock.importer} touches the native lock; use its LeaseStore`
  }
  if (name in rules.layers || name.startsWith('@agentmux/')) {
    if (!layer.internal.includes(name)) {
      return `${owner.manifest.name} may use of ours: ${listed(layer.internal)}; arrows only go down: have an app pass it in as a port`
    }
  } else if (!isAllowed(layer.external, name)) {
    return `${owner.manifest.name} may use from the registry: ${listed(layer.external)}; do without, or change the table in scripts/check-layers.mjs`
  }
  if (declared.has(name)) return undefined
  return `not declared; add "${name}" to the dependencies in ${owner.path}/package.json`
}

/** @returns {string[]} */
export function importViolations(owner, rules) {
  const layer = rules.layers[owner.manifest.name]
  if (layer === undefined) return []
  const declared = new Set(declaredDependencies(owner.manifest).map(({ name }) => name))
  const violations = []
  for (const file of filesUnder(rules.root, `${owner.path}/src`).filter((name) => SOURCE.test(name))) {
    for (const { specifier, line, text } of importSpecifiers(
      file,
      readFileSync(join(rules.root, file), 'utf8')
    )) {
      const fault =
        specifier === undefined
          ? 'the module is computed, so nobody can check it; name it in a string'
          : faultOf(specifier, { file, owner, layer, declared, rules })
      if (fault) violations.push(`${file}:${line}: import ${text}: ${fault}`)
    }
  }
  return violations
}
