import type { EntryId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { EntrySelection } from './entry.ts'

/** A period of whole UTC days. An entry is in it if `from` ≤ its `created_at` < `to`. */
export interface Period {
  readonly from: UnixMs
  readonly to: UnixMs
}

/** A statement, and the page of its entries to read: those with ids above `after`. */
export interface StatementSelection extends Pick<EntrySelection, 'cuy' | 'limit'> {
  readonly period: Period
  /** The user; absent for a statement of all users together. */
  readonly uid?: Uid | undefined
  /** The id of the last entry of the page before; absent for the first page. */
  readonly after?: EntryId | undefined
}
