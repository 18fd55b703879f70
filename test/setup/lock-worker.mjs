/**
 * Does one thing under the set-up lock of a folder, and keeps a journal there: `work MS`, `start-child MS` (a child that
 * goes on when this process is killed), `fail`.
 */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withSetupLock } from '../../scripts/setup/setup-lock.mjs'

const [root = '', what, ms = '0'] = process.argv.slice(2)
const journal = join(root, 'journal')
const note = (word) => appendFileSync(journal, `${word} ${process.pid}\n`)

await withSetupLock(
  root,
  (line) => process.stderr.write(`${line}\n`),
  async (started) => {
    if (what === 'fail') throw new Error('as told')
    note('begin')
    if (what === 'start-child') {
      const script = `
        const { appendFileSync } = require('node:fs')
        appendFileSync(${JSON.stringify(journal)}, 'child-begin\\n')
        setTimeout(() => appendFileSync(${JSON.stringify(journal)}, 'child-end\\n'), ${ms})`
      const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' })
      started(child.pid ?? 0)
      await new Promise((resolve) => child.on('exit', resolve))
    }
    await sleep(Number(ms))
    note('end')
  }
)
