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
    addNamespace(namespace)
    const host = new VirtualHost({
      namespace,
      hostname,
      addresses: addresses ?? [`10.77.0.${index}/24`],
      switchNamespace: this.#switch,
      port: `port${index}`
    })
    this.#hosts.push(host)
    this.#connect(host)
    return host
  }

  /** Takes the card out of a host and puts in another one, with the same name and addresses. */
  replaceCard(host: VirtualHost): void {
    host.ip('link', 'del', host.card)
    this.#connect(host)
  }

  async remove(): Promise<void> {
    for (const host of this.#hosts) {
      await host.endProcesses()
      ip('netns', 'del', host.namespace)
    }
    this.#hosts.length = 0
    ip('netns', 'del', this.#switch)
  }

  #connect(host: VirtualHost): void {
    const { namespace, card, port } = host
    this.#inSwitch('link', 'add', port, 'type', 'veth', 'peer', 'name', card, 'netns', namespace)
    this.#inSwitch('link', 'set', port, 'master', 'br0', 'up')
    host.ip('link', 'set', card, 'up')
    for (const address of host.addresses) host.addAddress(address)
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
