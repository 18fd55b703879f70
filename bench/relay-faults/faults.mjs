/** What is done to a cluster of three in the middle of a storm, and undone before its end: to any, or to one with cables. */

export const FAULTS = {
  none: { break: async () => () => {} },
  'a member killed': {
    async break(cluster) {
      const index = ((await cluster.leader()) + 1) % 3
      await cluster.kill(index)
      return () => cluster.revive(index)
    }
  },
  'the leader killed': {
    async break(cluster) {
      const index = await cluster.leader()
      await cluster.kill(index)
      return () => cluster.revive(index)
    }
  },
  'the leader stopped': {
    async break(cluster) {
      const index = await cluster.leader()
      cluster.freeze(index)
      return () => cluster.thaw(index)
    }
  },
  'no majority for a while': {
    async break(cluster) {
      const index = await cluster.leader()
      const other = (index + 1) % 3
      cluster.freeze(index)
      cluster.freeze(other)
      setTimeout(() => cluster.thaw(other), 3_000)
      return () => cluster.thaw(index)
    }
  }
}

/** Whoever is cut off from the others is still asked by those who use it. */
export const PARTITIONS = {
  'the leader cut off': {
    async break(cluster) {
      const index = await cluster.leader()
      cluster.cut(index)
      return () => cluster.mend(index)
    }
  },
  'a follower cut off': {
    async break(cluster) {
      const index = ((await cluster.leader()) + 1) % 3
      cluster.cut(index)
      return () => cluster.mend(index)
    }
  },
  'all cut off from each other for a while': {
    async break(cluster) {
      for (const index of [0, 1, 2]) cluster.cut(index)
      setTimeout(() => cluster.mend(0), 3_000)
      setTimeout(() => cluster.mend(1), 3_000)
      return () => cluster.mend(2)
    }
  }
}

/** For a second undoing, which does nothing. */
function once(mend) {
  mend()
  return () => {}
}

/**
 * Breaks at a third of the claims, and undoes it once a third of the claims has come after that. Give `onClaim` to the storm;
 * await `done` after it: it resolves with how many claims came while it was broken.
 */
export function duringStorm(fault, cluster, claims) {
  const third = Math.floor(claims / 3)
  let undo = Promise.resolve(() => {})
  let brokenAt = Number.POSITIVE_INFINITY
  let mendedAt = 0
  let latest = 0
  return {
    onClaim(count) {
      latest = count
      if (count === third) {
        undo = fault.break(cluster).then((mend) => {
          brokenAt = latest
          return mend
        })
      }
      if (mendedAt === 0 && count >= brokenAt + third) {
        mendedAt = count
        undo = undo.then(once)
      }
    },
    async done() {
      const mend = await undo
      mend()
      await cluster.answers()
      return (mendedAt || latest) - brokenAt
    }
  }
}
