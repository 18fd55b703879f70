/** How what drives an agent behaves: it hears SIGTERM at once, late or never, may fork, may end by itself. */
import { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'

export interface StartedDriver {
  readonly uid: string
  readonly claimId: string
  readonly environment: Readonly<Record<string, string>>
  readonly parent: Process
  readonly onExit: () => void
  /** Whether it may still end by itself. */
  readonly restless: () => boolean
}

export function startDriver(driver: StartedDriver, world: World): Process {
  const { parent, uid, claimId } = driver
  const { host } = parent
  const { random } = world
  const child: Process = new Process(host, {
    name: `child-of-${parent.name}`,
    parent,
    environment: driver.environment,
    ownGroup: true,
    onTerminate: hearing(world, () => child),
    onExit: driver.onExit
  })
  const seat = host.observer.seat(host, uid)
  host.observer.drivers.started(child, seat, { claimId, forked: false })
  // What an older build starts carries no claim, and nobody could ever end what it left behind.
  const forks = driver.environment.AGENTMUX_CLAIM_ID !== undefined
  if (random.chance(0.25) && forks)
    world.after(random.int(100_000, 20_000_000), () => fork(child, driver, world))
  if (random.chance(0.2)) {
    world.after(random.int(200_000, 60_000_000), () => {
      if (child.alive && driver.restless()) child.exit()
    })
  }
  return child
}

/** In the same environment, perhaps in a group of its own, so that no signal to the group reaches it. */
function fork(child: Process, { uid, claimId, environment }: StartedDriver, world: World): void {
  if (!child.alive || child.stopped || child.host.asleep) return
  const { host } = child
  const forked: Process = new Process(host, {
    name: `grand${child.name}`,
    parent: child,
    environment,
    ownGroup: world.random.chance(0.5),
    onTerminate: hearing(world, () => forked)
  })
  host.observer.drivers.started(forked, host.observer.seat(host, uid), { claimId, forked: true })
}

function hearing(world: World, process: () => Process): () => void {
  const { random } = world
  const kind = random.float()
  return () => {
    // Deaf.
    if (kind > 0.85) return
    const delayUs = kind > 0.6 ? random.int(300_000, 9_000_000) : random.int(300, 200_000)
    world.after(delayUs, () => process().exit())
  }
}
