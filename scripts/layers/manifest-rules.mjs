/** Judges one package's manifest and folder by the table of layers. A finding names the line and the way out. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FIELDS = ['dependencies', 'peerDependencies', 'optionalDependencies']
const REQUIRED = { type: 'module', license: 'Apache-2.0', sideEffects: false }
const ENGINE = '>=20.19'

/** @returns {{ name: string, field: string }[]} what a user of the package gets with it */
export function declaredDependencies(manifest) {
  return FIELDS.flatMap((field) => Object.keys(manifest[field] ?? {}).map((name) => ({ name, field })))
}

/** How `from` reaches `target` through our own manifests, as a list of names; undefined if it does not. */
function chainTo(target, from, byName, seen = new Set()) {
  if (seen.has(from)) return undefined
  seen.add(from)
  const names = declaredDependencies(byName.get(from)?.manifest ?? {}).map(({ name }) => name)
  if (names.includes(target)) return [from, target]
  for (const name of names) {
    const chain = byName.has(name) && chainTo(target, name, byName, seen)
    if (chain) return [from, ...chain]
  }
  return undefined
}

function dependencyFault(name, { owner, layer, rules }) {
  if (name === rules.nativeLock.name && !rules.nativeLock.dependents.includes(owner.manifest.name)) {
    return `only ${rules.nativeLock.dependents.join(', ')} may depend on it; use the LeaseStore of ${rules.nativeLock.importer}`
  }
  if (name in rules.layers || name.startsWith('@agentmux/')) {
    if (layer.internal.includes(name)) return undefined
    return `not a layer below ${owner.manifest.name} (${layer.internal.join(', ') || 'it has none'}); have an app pass it in as a port`
  }
  if (layer.external === 'any' || layer.external.includes(name)) return undefined
  return `not allowed for ${owner.manifest.name}; do without, or change the table in scripts/check-layers.mjs`
}

/** @returns {string[]} */
export function manifestViolations(owner, rules) {
  const { manifest, path } = owner
  const file = `${path}/package.json`
  const lines = readFileSync(join(owner.dir, 'package.json'), 'utf8').split('\n')
  const at = (text) =>
    `${file}:${
      Math.max(
        0,
        lines.findIndex((line) => line.includes(text))
      ) + 1
    }`

  const layer = rules.layers[manifest.name]
  if (layer === undefined) {
    return [
      `${at('"name"')}: ${manifest.name} is in no layer; give it a row in the table of scripts/check-layers.mjs`
    ]
  }
  const violations = []
  for (const { name, field } of declaredDependencies(manifest)) {
    const fault = dependencyFault(name, { owner, layer, rules })
    if (fault) violations.push(`${at(`"${name}"`)}: ${field} ${name}: ${fault}`)
  }
  if (layer.compilerFree) {
    const byName = new Map(rules.packages.map((p) => [p.manifest.name, p]))
    const chain = chainTo(rules.nativeLock.name, manifest.name, byName)
    if (chain) {
      violations.push(
        `${at(`"${chain[1]}"`)}: reaches ${rules.nativeLock.name} (${chain.join(' -> ')}), but must install without a compiler; remove ${chain[1]}`
      )
    }
  }
  for (const [field, value] of Object.entries(REQUIRED)) {
    if (manifest[field] === value) continue
    violations.push(`${at(`"${field}"`)}: ${field} must be ${JSON.stringify(value)}, as in every package`)
  }
  if (manifest.engines?.node !== ENGINE) {
    violations.push(`${at('"node"')}: engines.node must be "${ENGINE}", as in every package`)
  }
  if (!existsSync(join(owner.dir, 'README.md'))) {
    violations.push(
      `${path}/README.md:1: missing; say purpose, guarantees, non-guarantees and give an example`
    )
  }
  return violations
}
