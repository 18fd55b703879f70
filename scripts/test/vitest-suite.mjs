/**
 * Runs the tests of one folder and counts them from vitest's own report. Whatever makes a run worthless counts as a
 * failure: a file that does not load, an error outside of any test, no test at all.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runVisible } from '../run-visible.mjs'

/** @typedef {{ passed: number, failed: number, problems: string[] }} Outcome */

/** @returns {Outcome} */
function count(report) {
  const problems = []
  let passed = 0
  for (const file of report.testResults) {
    const failures = file.assertionResults.filter(({ status }) => status === 'failed')
    passed += file.assertionResults.filter(({ status }) => status === 'passed').length
    for (const { fullName } of failures) problems.push(fullName)
    if (failures.length === 0 && file.status === 'failed') problems.push(`${file.name} did not run`)
  }
  return { passed, failed: problems.length, problems }
}

function readReport(file) {
  try {
    return count(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    return { passed: 0, failed: 1, problems: [`no report: ${error.message}`] }
  }
}

/**
 * @param {string} root
 * @param {string} folder relative to root; it has a vitest.config.ts
 * @returns {Promise<Outcome>}
 */
export async function runVitest(root, folder) {
  const reports = mkdtempSync(join(tmpdir(), 'test-report-'))
  const file = join(reports, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  try {
    const code = await runVisible(
      process.execPath,
      [vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
      { cwd: join(root, folder) }
    )
    const outcome = readReport(file)
    if (outcome.failed > 0) return outcome
    if (outcome.passed === 0) return { ...outcome, failed: 1, problems: ['ran no test'] }
    if (code !== 0)
      return { ...outcome, failed: 1, problems: [`vitest exited with ${code}: an error outside of any test`] }
    return outcome
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}
