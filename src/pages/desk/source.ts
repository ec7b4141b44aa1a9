import type { RowSource } from './rows.ts'
import type { ListFilter } from './walk.ts'

/** A list that can be filtered. */
export interface FilteredSource extends RowSource {
  /** What the filter of `state` is called, and its values with their names. */
  readonly states: { readonly name: string; readonly values: () => readonly (readonly [value: string, name: string])[] }
  /** Whether the service has such a list; it has where this is missing. */
  readonly isThere?: () => boolean
}

/** What the service filters by itself: then its count is that of the list. */
export const isCounted = ({ from, to, least, most }: ListFilter) => from + to + least + most === ''

/** The parameters of a path; what is empty or null is left out. */
export function query(parameters: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== '')
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
}
