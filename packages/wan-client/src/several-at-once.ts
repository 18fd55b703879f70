/** Works through many items, a few at a time: a thousand agents must not mean a thousand sockets. */

/**
 * `work` says `stop` when the others would fare no better; then none is begun any more. Returns the items never begun.
 *
 * @throws the first fault, after those under way have ended; none is begun after it.
 */
export async function severalAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<'stop' | undefined>
): Promise<T[]> {
  const left = [...items].reverse()
  const faults: unknown[] = []
  let stopped = false
  const worker = async () => {
    while (!stopped) {
      const item = left.pop()
      if (item === undefined) return
      try {
        if ((await work(item)) === 'stop') stopped = true
      } catch (fault) {
        stopped = true
        faults.push(fault)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, left.length) }, worker))
  if (faults.length > 0) throw faults[0]
  return left.reverse()
}
