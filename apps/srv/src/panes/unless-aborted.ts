/** Waits for something that goes on by itself, for as long as whoever waits wants to. @throws the signal's reason. */
export async function unlessAborted(finished: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return finished
  signal.throwIfAborted()
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    await Promise.race([finished, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
