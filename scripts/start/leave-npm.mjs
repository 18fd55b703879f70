/**
 * Undoes what `npm start` and `npm test` do to a process, so that what is started under them sees the caller's folder and
 * PATH, and an npm among it is not told to be silent or to work in this repository.
 */
import { delimiter, join, sep } from 'node:path'

/** What npm adds on its own; other npm_config_* variables may be the caller's. */
const ADDED = [
  /^npm_(lifecycle|package)_/,
  /^npm_(command|execpath|node_execpath)$/,
  /^npm_config_(loglevel|local_prefix|npm_version|user_agent|node_gyp)$/,
  /^INIT_CWD$/
]

/** npm puts the node_modules/.bin of every folder above on the PATH. */
function ancestors(folder) {
  const parts = folder.split(sep)
  return parts.map((_, index) => parts.slice(0, index + 1).join(sep) || sep)
}

/**
 * The environment as it was before npm ran a script of the package in `root`.
 *
 * @param {string} root
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {NodeJS.ProcessEnv}
 */
export function environmentOutsideNpm(root, env = process.env) {
  if (env.npm_lifecycle_event === undefined) return { ...env }
  const kept = Object.entries(env).filter(([name]) => !ADDED.some((pattern) => pattern.test(name)))
  const bins = new Set(ancestors(root).map((folder) => join(folder, 'node_modules', '.bin')))
  const path = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !bins.has(folder) && !folder.endsWith(`${sep}node-gyp-bin`))
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) }
}

/** Makes this process one that was not started by npm: environment and working folder. */
export function leaveNpm(root) {
  const callersFolder = process.env.npm_lifecycle_event && process.env.INIT_CWD
  const outside = environmentOutsideNpm(root)
  for (const name of Object.keys(process.env)) if (!(name in outside)) delete process.env[name]
  Object.assign(process.env, outside)
  if (callersFolder) process.chdir(callersFolder)
}
