import type { EntryId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { EntrySelection } from './entry.ts'

/** Whole days of UTC: `from` ≤ created_at < `to`. */
export interface Period {
  readonly from: UnixMs
  readonly to: UnixMs
}

/** A statement, and the page of its entries to read: those with ids above `after`. */
export interface StatementSelection extends Pick<EntrySelection, 'cuy' | 'limit'> {
  readonly period: Period
  /** Absent: the statement is of all users together. */
  readonly uid?: Uid | undefined
  /** The id of the last entry of the page before; absent for the first page. */
  readonly after?: EntryId | undefined
}
