/** Reads a patch of test/breaks: which rule it breaks, how, and which suites must notice. Its header is plain text. */
import { readFileSync } from 'node:fs'

/**
 * @typedef {{ folder: string, files: string[] }} Suite `files`: parts of test file names; none means the whole suite
 * @typedef {{ file: string, rule: string, breaks: string, suites: Suite[] }} Patch
 */

/**
 * @param {string} file
 * @returns {Patch}
 */
export function readPatch(file) {
  const text = readFileSync(file, 'utf8')
  const header = text.slice(0, text.indexOf('\ndiff --git ') + 1)
  const field = (/** @type {string} */ name) => {
    const value = new RegExp(`^${name}: (.+)$`, 'm').exec(header)?.[1]
    if (value === undefined) throw new Error(`${file}: the header lacks a line "${name}: …"`)
    return value.trim()
  }
  const suites = field('Suites')
    .split(',')
    .map((suite) => {
      const [folder, ...files] = suite.trim().split(/\s+/)
      return { folder: folder ?? '', files }
    })
  return { file, rule: field('Rule'), breaks: field('Breaks'), suites }
}
