import type { ListFilter, RowSource } from './walk.ts'

/** A list that can be filtered. */
export interface FilteredSource extends RowSource {
  /** What the filter of `state` is called, and its values with their names. */
  readonly states: { readonly name: string; readonly values: () => readonly (readonly [value: string, name: string])[] }
  /** Whether the service has such a list; it has where this is missing. */
  readonly isThere?: () => boolean
}

/** What the service filters by itself: then its count is that of the list. */
export const isCounted = ({ from, to, least, most }: ListFilter) => from + to + least + most === ''
