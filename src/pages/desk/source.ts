import type { ListFilter, RowSource } from './walk.ts'

/** A list that can be filtered. */
export interface FilteredSource extends RowSource {
  /** The name of the filter `state`, and its values with their names. */
  readonly states: { readonly name: string; readonly values: () => readonly (readonly [value: string, name: string])[] }
  /** Whether the service has such a list; absent: it has. */
  readonly isThere?: () => boolean
}

/** Whether the service applies the whole filter, so that its count is that of the list. */
export const isCounted = ({ from, to, least, most }: ListFilter) => from + to + least + most === ''
