/** One thing that `doctor` looked at. */
export interface Check {
  readonly name: string
  /** `fail`: the relay cannot serve, or not safely. */
  readonly level: 'ok' | 'warn' | 'fail'
  /** What was seen, for people. */
  readonly seen: string
  /** What to do about it; absent where there is nothing to do. */
  readonly todo?: string
}
