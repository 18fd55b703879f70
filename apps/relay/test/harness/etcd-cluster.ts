/** A cluster of etcd on loopback, each member a process of ours, that can be killed, stopped and asked who leads. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Etcd3 } from 'etcd3'
import { until } from './until.js'

interface Member {
  readonly name: string
  readonly clientUrl: string
  readonly args: readonly string[]
  process: ChildProcess
}

export class EtcdCluster {
  readonly #members: readonly Member[]
  readonly #folder: string

  private constructor(members: readonly Member[], folder: string) {
    this.#members = members
    this.#folder = folder
  }

  /** Resolves once it answers. */
  static async start(size: number): Promise<EtcdCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'relay-etcd-'))
    const ports = await freePorts(size * 2)
    const peers = Array.from({ length: size }, (_, index) => `http://127.0.0.1:${ports[size + index]}`)
    const initial = peers.map((url, index) => `m${index}=${url}`).join(',')
    const members = peers.map((peerUrl, index) => {
      const clientUrl = `http://127.0.0.1:${ports[index]}`
      const args = [
        ['--name', `m${index}`],
        ['--data-dir', join(folder, `m${index}`)],
        ['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
        ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ['--initial-cluster', initial, '--initial-cluster-state', 'new', '--initial-cluster-token', folder],
        ['--log-level', 'error', '--logger', 'zap', '--log-outputs', 'stderr']
      ].flat()
      return { name: `m${index}`, clientUrl, args, process: startMember(args) }
    })
    const cluster = new EtcdCluster(members, folder)
    await cluster.answers()
    return cluster
  }

  get urls(): string[] {
    return this.#members.map(({ clientUrl }) => clientUrl)
  }

  get size(): number {
    return this.#members.length
  }

  /** Resolves once a majority agrees on something. */
  async answers(): Promise<void> {
    const client = new Etcd3({ hosts: this.urls })
    try {
      await until('etcd answers', async () => {
        await client.put('/test/answers').value('yes')
        return true
      })
    } finally {
      client.close()
    }
  }

  /** The index of the member that leads. */
  leader(): Promise<number> {
    return until('there is a leader', async () => {
      for (const [index, { clientUrl, process: child }] of this.#members.entries()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const client = new Etcd3({ hosts: clientUrl })
        try {
          const { header, leader } = await client.maintenance.status({ deadline: Date.now() + 1_000 })
          if (leader !== '0' && header.member_id === leader) return index
        } catch {
          // It does not answer: not this one.
        } finally {
          client.close()
        }
      }
      return undefined
    })
  }

  async kill(index: number): Promise<void> {
    const member = this.#member(index)
    const gone = once(member.process, 'exit')
    member.process.kill('SIGKILL')
    await gone
  }

  /** Starts one that was killed, on what it had written. */
  revive(index: number): void {
    const member = this.#member(index)
    member.process = startMember(member.args)
  }

  /** To the others it is as if its network were cut, and it notices nothing itself. */
  freeze(index: number): void {
    this.#member(index).process.kill('SIGSTOP')
  }

  thaw(index: number): void {
    this.#member(index).process.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#members.map(async ({ process: child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      })
    )
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #member(index: number): Member {
    const member = this.#members[index]
    if (member === undefined) throw new RangeError(`there is no member ${index}`)
    return member
  }
}

function startMember(args: readonly string[]): ChildProcess {
  const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch }
  const child = spawn('etcd', args, { stdio: 'ignore', env })
  child.on('error', (error) => {
    throw new Error(`etcd cannot be started (Debian: apt-get install etcd-server): ${error.message}`)
  })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

/** Free just now; they are all held until the last one is known, so that none is given twice. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    })
  )
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  for (const server of servers) server.close()
  return ports
}
