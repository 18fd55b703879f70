/**
 * A cluster of etcd, each member a process of ours, that can be killed, frozen and asked who leads: on loopback, or with a
 * cable of its own to each member that can be cut (cables.mjs).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const BOUND_MS = 100_000
const CALL_MS = 1_000

export class EtcdCluster {
  #members
  #folder
  #cables

  constructor(members, folder, cables) {
    this.#members = members
    this.#folder = folder
    this.#cables = cables
  }

  /** Resolves once it answers. Its data is under `parent`. `cables`: between the members; they go with it. */
  static async start(size, parent = tmpdir(), cables = undefined) {
    const folder = mkdtempSync(join(parent, 'relay-etcd-'))
    const places = cables?.places ?? (await loopbackPlaces(size))
    const initial = places.map(({ peerUrl }, index) => `m${index}=${peerUrl}`).join(',')
    const members = places.map(({ url, peerUrl, command }, index) => {
      const args = [
        ['--name', `m${index}`, '--data-dir', join(folder, `m${index}`)],
        ['--listen-client-urls', url, '--advertise-client-urls', url],
        ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ['--initial-cluster', initial, '--initial-cluster-state', 'new', '--initial-cluster-token', folder],
        ['--logger', 'zap', '--log-level', 'error', '--log-outputs', 'stderr']
      ].flat()
      const words = [...command, ...args]
      return { url, words, process: startMember(words) }
    })
    const cluster = new EtcdCluster(members, folder, cables)
    await cluster.answers()
    return cluster
  }

  get urls() {
    return this.#members.map(({ url }) => url)
  }

  /** Of the members that run. */
  get pids() {
    return this.#members
      .filter(({ process: child }) => isRunning(child))
      .map(({ process: child }) => child.pid)
  }

  /** Resolves once a majority agrees on something. */
  async answers() {
    const put = { key: base64('/test/answers'), value: base64('yes') }
    await until('etcd answers', () => this.#firstThat(({ url }) => call(url, '/v3/kv/put', put)))
  }

  /** The index of the member that leads. */
  leader() {
    return until('there is a leader', () =>
      this.#firstThat(async ({ url }, index) => {
        const { header, leader } = await call(url, '/v3/maintenance/status', {})
        return leader !== undefined && header.member_id === leader ? index : undefined
      })
    )
  }

  async kill(index) {
    const { process: child } = this.#members[index]
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Starts one that was killed, on what it had written. */
  revive(index) {
    const member = this.#members[index]
    member.process = startMember(member.words)
  }

  /** To the others it is as if its network were cut, and it notices nothing itself. */
  freeze(index) {
    this.#members[index].process.kill('SIGSTOP')
  }

  thaw(index) {
    this.#members[index].process.kill('SIGCONT')
  }

  /** The others do not hear it any more, nor it them; its clients do. Only with cables. */
  cut(index) {
    this.#cables.cut(index)
  }

  mend(index) {
    this.#cables.mend(index)
  }

  async stop() {
    const running = this.#members.filter(({ process: child }) => isRunning(child))
    await Promise.all(
      running.map(async ({ process: child }) => {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      })
    )
    rmSync(this.#folder, { recursive: true, force: true })
    this.#cables?.remove()
  }

  async #firstThat(look) {
    for (const [index, member] of this.#members.entries()) {
      if (!isRunning(member.process)) continue
      const seen = await look(member, index).catch(() => undefined)
      if (seen !== undefined) return seen
    }
    return undefined
  }
}

function startMember([command, ...args]) {
  const child = spawn(command, args, { stdio: 'ignore' })
  child.on('error', (error) => {
    throw new Error(`etcd cannot be started (Debian: apt-get install etcd-server): ${error.message}`)
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  return child
}

function isRunning(child) {
  return child.exitCode === null && child.signalCode === null
}

async function call(url, path, body) {
  const signal = AbortSignal.timeout(CALL_MS)
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body), signal })
  const json = await response.json()
  if (!response.ok) throw new Error(JSON.stringify(json))
  return json
}

async function until(what, look) {
  const endMs = performance.now() + BOUND_MS
  while (performance.now() < endMs) {
    const seen = await look()
    if (seen !== undefined) return seen
    await sleep(50)
  }
  throw new Error(`never: ${what}`)
}

function base64(text) {
  return Buffer.from(text).toString('base64')
}

async function loopbackPlaces(size) {
  const ports = await freePorts(size * 2)
  return Array.from({ length: size }, (_, index) => ({
    url: `http://127.0.0.1:${ports[index]}`,
    peerUrl: `http://127.0.0.1:${ports[size + index]}`,
    command: ['etcd']
  }))
}

/** Free just now; all are held until the last one is known, so that none is given twice. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => server.address().port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}
