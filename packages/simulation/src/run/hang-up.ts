/**
 * A terminal that is gone takes with it what it ran. Only where older builds take part: they end nothing that a dead daemon has
 * left running, so that it would go on for ever, and nothing else could be told from it.
 */
import type { Process } from '../kernel/process.js'

export function hangUp(daemon: Process): void {
  const { host, name } = daemon
  const { world } = host
  for (const child of host.processes.values()) {
    if (!child.alive || !child.name.endsWith(`child-of-${name}`)) continue
    world.after(world.random.int(1_000, 2_000_000), () => child.exit())
  }
}
