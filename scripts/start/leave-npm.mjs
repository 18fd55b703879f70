/**
 * Undoes what `npm start` does to a process, so that the agent started under it sees the caller's folder and PATH, and
 * an npm that it runs is not told to be silent or to work in this repository.
 */
import { delimiter, join, sep } from 'node:path'

/** What npm adds on its own; other npm_config_* variables may be the caller's. */
const ADDED = [
  /^npm_(lifecycle|package)_/,
  /^npm_(command|execpath|node_execpath)$/,
  /^npm_config_(loglevel|local_prefix|npm_version|user_agent|node_gyp)$/,
  /^INIT_CWD$/
]

/** @param {string} root */
export function leaveNpm(root, env = process.env) {
  if (env.npm_lifecycle_event !== 'start') return
  if (env.INIT_CWD) process.chdir(env.INIT_CWD)
  const addedToPath = (folder) =>
    folder.endsWith(`${sep}node-gyp-bin`) ||
    ancestors(root).some((at) => folder === join(at, 'node_modules', '.bin'))
  env.PATH = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !addedToPath(folder))
    .join(delimiter)
  for (const name of Object.keys(env)) if (ADDED.some((pattern) => pattern.test(name))) delete env[name]
}

/** npm puts the node_modules/.bin of every folder above on the PATH. */
function ancestors(folder) {
  const parts = folder.split(sep)
  return parts.map((_, index) => parts.slice(0, index + 1).join(sep) || sep)
}
