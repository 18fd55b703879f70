/** One question by itself, for whoever asks once and keeps nothing: `who`, or another program. */
import { LanHoldings, type LanHoldingsOptions } from './lan-holdings.js'
import type { LanLook } from './lan-look.js'

/** Asks every peer at once who holds an agent. Leaves no connection behind. Errors as `LanHoldings.lanHolders`. */
export async function lanHolders(
  uid: string,
  options: LanHoldingsOptions & { readonly signal?: AbortSignal }
): Promise<LanLook> {
  const holdings = new LanHoldings(options)
  try {
    return await holdings.lanHolders(uid, options.signal)
  } finally {
    await holdings.close()
  }
}
