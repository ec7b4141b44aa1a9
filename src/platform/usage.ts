/** Trips to one outside party: how many, and for how long at least one was under way. */
export interface Meter {
  calls: number
  /** Milliseconds; trips at the same time count once. */
  ms: number
  /** Trips under way now, and when the first of them began. */
  open: number
  openedAt: number
}

/** What one invocation has cost so far. Whoever makes a trip adds to it; the log line and `Server-Timing` tell it. */
export interface Usage {
  /** HTTP requests to nodes. */
  readonly node: Meter
  /** Statements. */
  readonly database: Meter
  rowsRead: number
}
