import type { DeskContext } from './context.ts'
import type { RowSource } from './rows.ts'
import type { ListFilter } from './walk.ts'

/** A list that can be filtered. */
export interface FilteredSource extends RowSource {
  /** What the filter of `state` is called, and its values with their names. */
  readonly states: { readonly name: string; readonly values: () => readonly (readonly [value: string, name: string])[] }
  /** Whether the service has such a list; it has where this is missing. */
  readonly isThere?: () => boolean
}

/** The service counts so many deposits or payouts at most: where it says this, there can be more. */
const countedMax = 1_000

/** What the service filters by itself: then its count is that of the list. */
export const isCounted = ({ from, to, least, most }: ListFilter) => from + to + least + most === ''

/** The number of rows that a filter leaves, as far as the service has counted them: null where there can be more. */
export const countOf = (filter: ListFilter, count: number) => (isCounted(filter) && count < countedMax ? count : null)

/** A number that was counted, for people. */
export const countText = ({ format }: Pick<DeskContext, 'format'>, count: number) =>
  format.count(count) + (count < countedMax ? '' : '+')
