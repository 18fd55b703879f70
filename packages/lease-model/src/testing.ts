/** What the tests of a user of these packages need: time that moves only when told to. */
export { createManualClock, type ManualClock } from './manual-clock.js'
