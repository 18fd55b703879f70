/** Runs `ip` and other programs that change the network. A failure says what is missing, or what the program said. */
import { spawnSync } from 'node:child_process'

export function ip(...args: readonly string[]): string {
  return runToEnd('ip', args)
}

export function runToEnd(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) {
    throw new Error(
      `${command} cannot be started (${error.message}); node scripts/setup/test-tools.mjs installs it`
    )
  }
  if (status === 0) return stdout
  const hint = process.getuid?.() === 0 ? '' : ' (network namespaces need root: run the tests as root)'
  throw new Error(`${[command, ...args].join(' ')}: ${stderr.trim() || `exit code ${status}`}${hint}`)
}
