/** Runs a command whose output a person should see as it comes. */
import { spawn } from 'node:child_process'

/** Nothing here takes near as long; a command that hangs must not hang everything after it. */
const LIMIT_MS = 40 * 60_000
const GRACE_MS = 10_000

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<number>} its exit code; 128 or more if a signal or the time limit ended it
 */
export function runVisible(command, args, { cwd, env } = {}) {
  return new Promise((resolve) => {
    const shell = process.platform === 'win32' && command !== process.execPath
    const child = spawn(command, args, { cwd, env, shell, stdio: ['ignore', 'inherit', 'inherit'] })
    const limit = setTimeout(() => {
      process.stderr.write(`${command}: still running after ${LIMIT_MS / 60_000} minutes, ended\n`)
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref()
    }, LIMIT_MS)
    const settle = (code) => {
      clearTimeout(limit)
      resolve(code)
    }
    child.on('error', (error) => {
      process.stderr.write(`${command}: ${error.message}\n`)
      settle(127)
    })
    child.on('exit', (code, signal) => settle(code ?? (signal ? 128 : 1)))
  })
}
