/** Loads the built packages: what is measured is what ships. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Another checkout can be measured with AGENTMUX_BENCH_ROOT, to compare two builds. */
export const measuredRoot = resolve(process.env.AGENTMUX_BENCH_ROOT || ROOT)

export function builtFile(path) {
  return join(measuredRoot, path)
}

export function isBuilt(path) {
  return existsSync(builtFile(path))
}

export async function loadPackage(name) {
  const entry = builtFile(`packages/${name}/dist/index.js`)
  if (!existsSync(entry)) {
    process.stderr.write(`${entry} is missing: build first (npm run build)\n`)
    process.exit(69)
  }
  return import(pathToFileURL(entry).href)
}
