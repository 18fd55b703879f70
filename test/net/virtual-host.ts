/**
 * One computer of a virtual network: a network namespace with an Ethernet card, and a host name of its own for whatever
 * runs in it. Processes and files are otherwise those of the real computer. What was started here ends with it.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ip, runToEnd } from './ip-command.js'

export interface VirtualHostOptions {
  readonly namespace: string
  readonly hostname: string
  /** With prefix lengths; the first is `address`. */
  readonly addresses: readonly string[]
  readonly switchNamespace: string
  /** The far end of the cable, at the switch. */
  readonly port: string
}

export class VirtualHost {
  readonly hostname: string
  readonly address: string
  /** The name of its card; changes only by `rename`. */
  card = 'eth0'
  readonly #options: VirtualHostOptions
  readonly #children = new Set<ChildProcess>()

  constructor(options: VirtualHostOptions) {
    this.#options = options
    this.hostname = options.hostname
    this.address = (options.addresses[0] ?? '').split('/')[0] ?? ''
  }

  get namespace(): string {
    return this.#options.namespace
  }

  /** As it was made, with prefix lengths. */
  get addresses(): readonly string[] {
    return this.#options.addresses
  }

  get port(): string {
    return this.#options.port
  }

  /** What runs a command on this host, for whoever spawns by himself: the process is the command, its pid the child's. */
  command(command: string, args: readonly string[] = []): [string, string[]] {
    const named = ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', this.hostname]
    return ['ip', ['netns', 'exec', this.namespace, ...named, command, ...args]]
  }

  spawn(command: string, args: readonly string[] = [], options: SpawnOptions = {}): ChildProcess {
    const child = spawn(...this.command(command, args), options)
    this.#children.add(child)
    child.once('close', () => this.#children.delete(child))
    return child
  }

  /** Runs a command to its end and returns what it printed. */
  run(command: string, args: readonly string[] = []): string {
    return runToEnd(...this.command(command, args))
  }

  ip(...args: readonly string[]): string {
    return ip('-n', this.namespace, ...args)
  }

  addAddress(address: string): void {
    this.ip('addr', 'add', address, 'dev', this.card, ...(address.includes(':') ? ['nodad'] : []))
  }

  removeAddress(address: string): void {
    this.ip('addr', 'del', address, 'dev', this.card)
  }

  /** A further interface with nobody else on it, as docker0 is. */
  addLonelyInterface(name: string, address: string): void {
    this.ip('link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}-end`)
    this.ip('link', 'set', `${name}-end`, 'up')
    this.ip('link', 'set', name, 'up')
    this.ip('addr', 'add', address, 'dev', name)
  }

  rename(card: string): void {
    this.ip('link', 'set', this.card, 'down')
    this.ip('link', 'set', this.card, 'name', card)
    this.ip('link', 'set', card, 'up')
    this.card = card
  }

  /** The cable is pulled: the card stays, and keeps its addresses. */
  unplug(): void {
    this.#atSwitch('down')
  }

  plug(): void {
    this.#atSwitch('up')
  }

  /** Ends every process that was started here, and waits for them. */
  async endProcesses(): Promise<void> {
    const running = [...this.#children].filter(
      (child) => child.exitCode === null && child.signalCode === null
    )
    const ended = running.map((child) => once(child, 'close'))
    for (const child of running) {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
    }
    await Promise.all(ended)
  }

  #atSwitch(state: 'up' | 'down'): void {
    ip('-n', this.#options.switchNamespace, 'link', 'set', this.port, state)
  }
}
