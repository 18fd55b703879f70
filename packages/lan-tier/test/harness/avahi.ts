/**
 * Avahi on a virtual host: its daemon, with a bus of its own, and its command line tools. The daemon's folder for its pid
 * and socket is the same for all of one computer, so it gets a private /run; nothing of the real one's is touched.
 */
import type { ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { VirtualHost } from '../../../../test/net/index.js'

const BUS = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=BUS_SOCKET</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_type="method_return"/>
    <allow send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="signal"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
  </policy>
</busconfig>
`
const DAEMON = `[server]
use-ipv4=yes
use-ipv6=yes
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
publish-hinfo=no
`
const WITHIN_MS = 40_000

export class Avahi {
  readonly #host: VirtualHost
  readonly #folder: string
  readonly #daemon: ChildProcess
  #log = ''

  private constructor(host: VirtualHost) {
    this.#host = host
    this.#folder = mkdtempSync(join(tmpdir(), 'avahi-'))
    const socket = join(this.#folder, 'bus')
    writeFileSync(join(this.#folder, 'bus.conf'), BUS.replace('BUS_SOCKET', socket))
    writeFileSync(join(this.#folder, 'avahi.conf'), DAEMON)
    // A mount namespace of its own, in which /run is empty, and one shell that ends with both of them.
    const script = [
      'mount -t tmpfs tmpfs /run && mkdir -p /run/avahi-daemon',
      `dbus-daemon --config-file='${this.#folder}/bus.conf' --nofork --nopidfile & bus=$!`,
      "trap 'kill $avahi' TERM",
      `while ! [ -S '${socket}' ]; do sleep 0.05; done`,
      `export DBUS_SYSTEM_BUS_ADDRESS='unix:path=${socket}'`,
      `avahi-daemon --no-drop-root --no-chroot --no-rlimits -f '${this.#folder}/avahi.conf' & avahi=$!`,
      'wait $avahi; wait $avahi; kill $bus; wait $bus'
    ].join('\n')
    this.#daemon = host.spawn('unshare', ['--mount', 'sh', '-c', script], {
      env: this.#env(),
      stdio: ['ignore', 'pipe', 'pipe']
    })
    for (const stream of [this.#daemon.stdout, this.#daemon.stderr]) {
      stream?.on('data', (chunk) => {
        this.#log += chunk
      })
    }
  }

  /** Resolves once the daemon answers on its bus. */
  static async start(host: VirtualHost): Promise<Avahi> {
    const avahi = new Avahi(host)
    const giveUpAt = Date.now() + WITHIN_MS
    while (!avahi.#log.includes('Server startup complete')) {
      if (Date.now() > giveUpAt || avahi.#daemon.exitCode !== null) throw new Error(`avahi: ${avahi.#log}`)
      await sleep(50)
    }
    return avahi
  }

  /** What `avahi-browse --resolve --parsable` prints, until it prints a line that fits. */
  async browse(fits: (line: string) => boolean): Promise<string> {
    const child = this.#tool('avahi-browse', ['--resolve', '--parsable', '--no-db-lookup', '_agentmux._tcp'])
    try {
      return await firstLine(child, fits)
    } finally {
      child.kill('SIGKILL')
    }
  }

  /** Publishes one service of our kind until `kill`ed; resolves once it is established. */
  async publish(name: string, port: number, txt: readonly string[]): Promise<ChildProcess> {
    const child = this.#tool('avahi-publish', ['--service', name, '_agentmux._tcp', String(port), ...txt])
    await firstLine(child, (line) => line.includes('Established under name'))
    return child
  }

  async stop(): Promise<void> {
    const closed = once(this.#daemon, 'close')
    this.#daemon.kill('SIGTERM')
    await closed
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #env(): NodeJS.ProcessEnv {
    const PATH = `${process.env.PATH}:/usr/sbin:/sbin`
    return { ...process.env, PATH, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${join(this.#folder, 'bus')}` }
  }

  #tool(command: string, args: readonly string[]): ChildProcess {
    return this.#host.spawn(command, args, { env: this.#env(), stdio: ['ignore', 'pipe', 'pipe'] })
  }
}

function firstLine(child: ReturnType<typeof spawn>, fits: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    const timer = setTimeout(() => reject(new Error(`never printed: ${output}`)), WITHIN_MS)
    const hear = (chunk: Buffer) => {
      output += chunk
      const line = output.split('\n').slice(0, -1).find(fits)
      if (line === undefined) return
      clearTimeout(timer)
      resolve(line)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('close', (code) => {
      clearTimeout(timer)
      reject(new Error(`ended with ${code}: ${output}`))
    })
  })
}
