/** Finds programs as a shell would, without starting one. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

const EXTENSIONS = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', ''] : ['']

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The full path of `name`, or undefined if PATH does not lead to it. */
export function findProgram(name, env = process.env) {
  const folders = isAbsolute(name) ? [''] : (env.PATH ?? '').split(delimiter).filter(Boolean)
  for (const folder of folders) {
    for (const extension of EXTENSIONS) {
      const file = folder === '' ? name + extension : join(folder, name + extension)
      if (isExecutable(file)) return file
    }
  }
  return undefined
}
