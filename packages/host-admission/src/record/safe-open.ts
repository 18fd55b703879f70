/** What every open of a record's file adds: the name might have been given to something else by somebody. */
import { constants } from 'node:fs'

/** O_NOFOLLOW: a link is not ours. O_NONBLOCK: opening a pipe must not hang. Both are 0 where unknown. */
export const SAFE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
