/**
 * `npm run breaks`: shows that the tests notice when a rule is broken. Applies each patch of test/breaks to a copy of the
 * last commit, builds it, runs the suites that the patch names, and prints which test failed. A patch that no test
 * notices, or that no longer applies, is an error. The work tree is not touched.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyOfLastCommit } from './breaks/copy-of-last-commit.mjs'
import { readPatch } from './breaks/read-patch.mjs'
import { repositoryRoot } from './workspace.mjs'

/** A broken rule may hang a suite; no whole suite takes this long. */
const SUITE_LIMIT_MS = 900_000

const USAGE = `npm run breaks [-- PATCH…]

Breaks one rule after the other in a copy of the last commit, and shows which tests notice. PATCH: names, or parts of names, of
test/breaks; without any, all of them, which takes hours. For example: npm run breaks -- r05 r07-silent
`

const patchFolder = join(repositoryRoot, 'test/breaks')
const wanted = process.argv.slice(2)
if (wanted.some((word) => word.startsWith('-'))) {
  const help = wanted.every((word) => word === '--help' || word === '-h')
  process[help ? 'stdout' : 'stderr'].write(
    help ? USAGE : `unknown option ${wanted.find((word) => word.startsWith('-'))}\n\n${USAGE}`
  )
  process.exit(help ? 0 : 64)
}
const patches = readdirSync(patchFolder)
  .filter((name) => name.endsWith('.patch'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort()
  .map((name) => readPatch(join(patchFolder, name)))

if (patches.length === 0) {
  console.error(`no patch in test/breaks matches ${wanted.join(' ')}`)
  process.exit(1)
}

const reports = mkdtempSync(join(tmpdir(), 'breaks-'))
const copy = copyOfLastCommit()
let unnoticed = 0
try {
  for (const patch of patches) {
    const started = Date.now()
    const verdict = await tryPatch(patch)
    const seconds = Math.round((Date.now() - started) / 1000)
    if (!verdict.noticed) unnoticed++
    console.log(
      `${verdict.noticed ? 'noticed  ' : 'UNNOTICED'} ${patch.rule.padEnd(4)} ${patch.breaks} (${seconds} s)`
    )
    for (const line of verdict.lines) console.log(`            ${line}`)
  }
} finally {
  copy.remove()
  rmSync(reports, { recursive: true, force: true })
}
console.log(`${patches.length - unnoticed} of ${patches.length} breaks noticed`)
process.exit(unnoticed === 0 ? 0 : 1)

/** @param {import('./breaks/read-patch.mjs').Patch} patch */
async function tryPatch(patch) {
  copy.reset()
  try {
    copy.apply(patch.file)
    await copy.build()
  } catch (error) {
    return { noticed: false, lines: [error instanceof Error ? error.message : String(error)] }
  }
  const report = join(reports, 'report.json')
  for (const { folder, files } of patch.suites) {
    rmSync(report, { force: true })
    spawnSync('npx', ['vitest', 'run', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...files], {
      cwd: join(copy.folder, folder),
      stdio: 'ignore',
      timeout: SUITE_LIMIT_MS
    })
    const failed = failures(report)
    if (failed.length > 0) return { noticed: true, lines: failed.flatMap((one) => failureLines(folder, one)) }
  }
  return { noticed: false, lines: ['no test failed'] }
}

/** Which test, and on the second line why: a test may fail for a reason that is not the broken rule. */
function failureLines(
  /** @type {string} */ folder,
  /** @type {{ name: string, why: string }} */ { name, why }
) {
  return [`${folder}: ${name}`, `  ${why}`]
}

/** The tests that failed, by their full names, and the first line of what each said. */
function failures(report) {
  let results
  try {
    results = JSON.parse(readFileSync(report, 'utf8')).testResults
  } catch {
    return []
  }
  return results.flatMap((/** @type {any} */ file) =>
    file.assertionResults
      .filter((/** @type {any} */ test) => test.status === 'failed')
      .map((/** @type {any} */ test) => ({
        name: [...test.ancestorTitles, test.title].join(' > '),
        why: withoutColours(test.failureMessages[0] ?? '').split('\n')[0]
      }))
  )
}

function withoutColours(/** @type {string} */ text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
  return text.replace(/\x1b\[[0-9;]*m/g, '')
}
