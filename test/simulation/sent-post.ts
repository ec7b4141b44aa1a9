/** An entry as a backend sends it. */
export interface SentEntry {
  readonly uid: number
  readonly cuy: number
  readonly type: 2 | 3 | 4 | 5 | 9
  readonly osn: string
  readonly amount: bigint
  readonly mark: string
}

/** A post that was sent at least once. */
export interface SentPost {
  readonly entries: readonly SentEntry[]
  /** Whether an answer has said that it is stored. */
  isAccepted: boolean
  /** Whether there was any answer since it was last sent. */
  isAnswered: boolean
}
