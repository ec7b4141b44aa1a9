import type { EntryId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { EntrySelection } from './entry.ts'

/** Whole days of UTC: `from` ≤ created_at < `to`. */
export interface Period {
  readonly from: UnixMs
  readonly to: UnixMs
}

/** Selects a statement and a page of its entries. */
export interface StatementSelection extends Pick<EntrySelection, 'cuy' | 'limit'> {
  readonly period: Period
  /** Absent: all users, in all currencies. */
  readonly uid?: Uid | undefined
  /** Only entries above this id. */
  readonly after?: EntryId | undefined
}
