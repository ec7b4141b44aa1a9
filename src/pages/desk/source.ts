import type { ListFilter, RowSource } from './walk.ts'

/** A list with a filter by state or type. */
export interface FilteredSource extends RowSource {
  /** What `state` of the filter means for this list (its label), and the values that it can have, with their names. */
  readonly states: { readonly name: string; readonly values: () => readonly (readonly [value: string, name: string])[] }
  /** Whether the service has this list: without `PAYOUTS` it has no payouts. Absent: every service has the list. */
  readonly isThere?: () => boolean
}

/** Whether the service's count is that of the filtered list. With times or amounts it is not, because only the page filters by those. */
export const isCounted = ({ from, to, least, most }: ListFilter) => from + to + least + most === ''
