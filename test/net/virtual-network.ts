/**
 * A network of computers inside this one: network namespaces on cables to a switch, which is a bridge in a namespace of
 * its own. Nothing of the real network is touched. Needs root, Linux and iproute2.
 */
import { ip, runToEnd } from './ip-command.js'
import { VirtualHost } from './virtual-host.js'

let networks = 0

export interface HostPlan {
  readonly hostname: string
  /** With prefix lengths; by default one IPv4 address of 10.77.0.0/24. */
  readonly addresses?: readonly string[]
}

export class VirtualNetwork {
  readonly #prefix = `am${process.pid}n${networks++}`
  readonly #switch = `${this.#prefix}s`
  readonly #hosts: VirtualHost[] = []

  private constructor() {
    addNamespace(this.#switch)
    this.#inSwitch('link', 'add', 'br0', 'type', 'bridge', 'forward_delay', '0', 'mcast_snooping', '0')
    this.#inSwitch('link', 'set', 'br0', 'up')
  }

  /** Throws if this computer cannot have one; `remove` it in any case. */
  static create(): VirtualNetwork {
    return new VirtualNetwork()
  }

  get hosts(): readonly VirtualHost[] {
    return this.#hosts
  }

  addHost({ hostname, addresses }: HostPlan): VirtualHost {
    const index = this.#hosts.length + 1
    const namespace = `${this.#prefix}h${index}`
    const device = `port${index}`
    addNamespace(namespace)
    const host = new VirtualHost({
      namespace,
      hostname,
      addresses: addresses ?? [`10.77.0.${index}/24`],
      port: { namespace: this.#switch, device }
    })
    this.#hosts.push(host)
    this.#inSwitch('link', 'add', device, 'type', 'veth', 'peer', 'name', host.card, 'netns', namespace)
    this.#inSwitch('link', 'set', device, 'master', 'br0', 'up')
    host.ip('link', 'set', host.card, 'up')
    for (const address of addresses ?? [`10.77.0.${index}/24`]) host.addAddress(address)
    return host
  }

  async remove(): Promise<void> {
    for (const host of this.#hosts) {
      await host.endProcesses()
      ip('netns', 'del', host.namespace)
    }
    this.#hosts.length = 0
    ip('netns', 'del', this.#switch)
  }

  #inSwitch(...args: readonly string[]): void {
    ip('-n', this.#switch, ...args)
  }
}

/** Addresses are usable at once: there is nobody who could have them already. */
function addNamespace(name: string): void {
  ip('netns', 'add', name)
  const settings = ['all', 'default'].map((of) => `echo 0 > /proc/sys/net/ipv6/conf/${of}/accept_dad`)
  runToEnd('ip', ['netns', 'exec', name, 'sh', '-c', settings.join('; ')])
  ip('-n', name, 'link', 'set', 'lo', 'up')
}
