/** The built relay as a process of its own, with a token of it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { builtFile } from '../measuring/packages.mjs'

const CLI = builtFile('apps/relay/dist/cli.js')
/** Of /proc: 100 per second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/** @param {string[]} store `--data D` or `--etcd URLS` */
export function newToken(store) {
  if (!existsSync(CLI)) {
    process.stderr.write(`${CLI} is missing: build first (npm run build)\n`)
    process.exit(69)
  }
  const args = [CLI, 'token', 'add', '--account', 'bench', ...store]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout.trim()
}

export class RelayProcess {
  #child

  constructor(child, url) {
    this.#child = child
    this.url = url
  }

  /** Resolves once it answers. No limit of a token stands in the way. */
  static async start(store, more = []) {
    const limits = ['--rate', '1000000', '--agents-per-account', '10000000']
    const args = [CLI, 'serve', '--port', '0', ...store, ...limits, ...more]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    const [printed] = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the relay ended with ${code}`)))
    ])
    return new RelayProcess(child, printed.toString().trim())
  }

  get pid() {
    return this.#child.pid
  }

  get port() {
    return new URL(this.url).port
  }

  async end(signal = 'SIGTERM') {
    const gone = once(this.#child, 'exit')
    this.#child.kill(signal)
    await gone
  }
}

/** CPU seconds that these processes have used. */
export function cpuSeconds(pids) {
  const ticks = pids.map((pid) => {
    const [, fields] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    const parts = fields.split(' ')
    return Number(parts[11]) + Number(parts[12])
  })
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND
}

/** Memory that they use now, bytes. */
export function memoryBytes(pids) {
  const kilobytes = pids.map((pid) => {
    const [, text] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return Number(text)
  })
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024
}
