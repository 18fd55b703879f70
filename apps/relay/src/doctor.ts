/** `doctor`: whether the relay can serve here, and what to do where it cannot. It changes nothing. */
import { existsSync } from 'node:fs'
import type { CommonFlags } from './commands/common-flags.js'
import { dataDir } from './data-dir.js'
import type { Check } from './doctor/check.js'
import { checkCertificate } from './doctor/check-certificate.js'
import { checkPort } from './doctor/check-port.js'
import { checkTokens } from './doctor/check-tokens.js'
import { EXIT } from './exit-codes.js'
import { print } from './output.js'
import { databasePath } from './store/sqlite/open-database.js'

export interface DoctorFlags extends CommonFlags {
  readonly host: string
  readonly port: number
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
}

/** Resolves with the exit code: 69 if anything failed. */
export async function doctor(flags: DoctorFlags): Promise<number> {
  const checks: readonly Check[] = [
    ...(await checkStore(flags)),
    checkCertificate(flags.tlsCert, flags.tlsKey),
    await checkPort(flags.host, flags.port)
  ]
  if (flags.json) print(JSON.stringify({ checks }, undefined, 2))
  else for (const check of checks) show(check)
  return checks.some(({ level }) => level === 'fail') ? EXIT.unavailable : EXIT.ok
}

async function checkStore(flags: CommonFlags): Promise<Check[]> {
  if (flags.etcd !== undefined) {
    const { checkEtcd } = await import('./doctor/check-etcd.js')
    const checks = await checkEtcd(flags.etcd)
    return checks.some(({ level }) => level === 'fail') ? checks : [...checks, await checkTokens(flags)]
  }
  const { checkSqlite } = await import('./doctor/check-sqlite.js')
  const folder = dataDir(flags.data, process.env)
  const checks = checkSqlite(folder)
  const isThere = existsSync(databasePath(folder)) && checks.every(({ level }) => level !== 'fail')
  return isThere ? [...checks, await checkTokens(flags)] : checks
}

function show({ name, level, seen, todo }: Check): void {
  print(`${level.padEnd(4)}  ${name}: ${seen}`)
  if (todo !== undefined) print(`      ${todo}`)
}
