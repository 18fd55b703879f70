/** What is done to a cluster of three in the middle of a storm, and undone before its end. */

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
  'the leader cut off': {
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

/** For a second undoing, which does nothing. */
function once(mend) {
  mend()
  return () => {}
}

/** Breaks at a third of the claims and undoes it at two thirds. Give `onClaim` to the storm; await `done` after it. */
export function duringStorm(fault, cluster, claims) {
  let undo = Promise.resolve(() => {})
  return {
    onClaim(count) {
      if (count === Math.floor(claims / 3)) undo = fault.break(cluster)
      if (count === Math.floor((claims * 2) / 3)) undo = undo.then(once)
    },
    async done() {
      const mend = await undo
      mend()
      await cluster.answers()
    }
  }
}
