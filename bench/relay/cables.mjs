/**
 * Cables between the members of a cluster, so that one can be cut off from the others while those who use it still reach it:
 * each member is in a network namespace of its own, with one card to a switch that they share and one to us. Needs root,
 * iproute2 and a network of our own (`inOwnNetwork`), which goes, with all that is in it, when the last process ends.
 */
import { spawn, spawnSync } from 'node:child_process'

const MARK = 'AGENTMUX_BENCH_OWN_NETWORK'
const SWITCH = 'peers'

/** Runs this very program again in a network of its own and exits with its code; in there it does nothing. */
export function inOwnNetwork() {
  if (process.env[MARK] !== undefined) return
  const prepared = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  const words = [...prepared, process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const { status, error } = spawnSync('unshare', words, {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: '1' }
  })
  if (error) process.stderr.write(`a network of its own cannot be had: ${error.message}\n`)
  process.exit(status ?? 69)
}

export class Cables {
  #holders

  constructor(holders) {
    this.#holders = holders
  }

  static async lay(count) {
    run('ip', 'link', 'add', SWITCH, 'type', 'bridge', 'forward_delay', '0')
    run('ip', 'link', 'set', SWITCH, 'up')
    const holders = await Promise.all(Array.from({ length: count }, holdNamespace))
    for (const [index, { pid }] of holders.entries()) {
      const inside = (...words) => run('nsenter', `--net=/proc/${pid}/ns/net`, 'ip', ...words)
      run('ip', 'link', 'add', peerPort(index), 'type', 'veth', 'peer', 'name', 'peers', 'netns', String(pid))
      run('ip', 'link', 'set', peerPort(index), 'master', SWITCH, 'up')
      run(
        'ip',
        'link',
        'add',
        ourPort(index),
        'type',
        'veth',
        'peer',
        'name',
        'clients',
        'netns',
        String(pid)
      )
      run('ip', 'addr', 'add', `10.79.${index}.1/24`, 'dev', ourPort(index))
      run('ip', 'link', 'set', ourPort(index), 'up')
      inside('addr', 'add', `${peerAddress(index)}/24`, 'dev', 'peers')
      inside('addr', 'add', `${clientAddress(index)}/24`, 'dev', 'clients')
      for (const card of ['lo', 'peers', 'clients']) inside('link', 'set', card, 'up')
    }
    return new Cables(holders)
  }

  /** Where each member listens, and how it is started there. */
  get places() {
    return this.#holders.map(({ pid }, index) => ({
      url: `http://${clientAddress(index)}:2379`,
      peerUrl: `http://${peerAddress(index)}:2380`,
      command: ['nsenter', `--net=/proc/${pid}/ns/net`, 'etcd']
    }))
  }

  cut(index) {
    run('ip', 'link', 'set', peerPort(index), 'down')
  }

  mend(index) {
    run('ip', 'link', 'set', peerPort(index), 'up')
  }

  remove() {
    for (const holder of this.#holders) holder.kill('SIGKILL')
    run('ip', 'link', 'del', SWITCH)
  }
}

const peerPort = (index) => `peer${index}`
const ourPort = (index) => `ours${index}`
const peerAddress = (index) => `10.78.0.${index + 1}`
const clientAddress = (index) => `10.79.${index}.2`

/** A process that does nothing but be in a namespace of its own; resolves once it is in there. */
async function holdNamespace() {
  const child = spawn('unshare', ['--net', 'sh', '-c', 'echo here; exec sleep infinity'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`a network namespace cannot be had (${code})`)))
    child.stdout.once('data', resolve)
  })
  return child
}

function run(command, ...args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`)
}
