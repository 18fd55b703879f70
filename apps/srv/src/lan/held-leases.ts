/** What is driven here, in the words of the LAN. Read from the leases that are held now. */
import type { HostAdmission } from '@agentmux/host-admission'
import type { OwnLease } from '@agentmux/lan-tier'

export class HeldLeases {
  readonly #admission: Pick<HostAdmission, 'held' | 'claimant'>
  #read: ReadonlyMap<string, OwnLease> | undefined

  constructor(admission: Pick<HostAdmission, 'held' | 'claimant'>) {
    this.#admission = admission
  }

  /** By UID, as of now. */
  now(): Map<string, OwnLease> {
    const { hostname } = this.#admission.claimant
    const leases = new Map<string, OwnLease>()
    for (const { agent, claimId, acquiredAtMs, held } of this.#admission.held) {
      if (held) leases.set(agent.uid, { claimId, acquiredAtMs, hostname })
    }
    return leases
  }

  /** One of them. Asked once for each agent and peer in a row: they are gone through once for all of these. */
  of(uid: string): OwnLease | undefined {
    if (this.#read === undefined) {
      this.#read = this.now()
      queueMicrotask(() => {
        this.#read = undefined
      })
    }
    return this.#read.get(uid)
  }

  /** As it is written here, of a UID as others may write it; itself if none of ours is meant. */
  ourWritingOf(uid: string): string {
    const asked = comparable(uid)
    for (const { agent } of this.#admission.held) if (comparable(agent.uid) === asked) return agent.uid
    return uid
  }
}

/** As holding questions compare them: blanks around them and the case of ASCII letters do not count. */
function comparable(uid: string): string {
  return uid.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
