import { query } from '../kit/api.ts'
import { type ListFilter, noFilter } from './walk.ts'

// The lists of the desk in the page's URL: the queue of what waits, and a list with its filter.

/** A list of the desk, and its filter. */
export interface Listed {
  readonly name: string
  readonly filter: ListFilter
}

/** A part of the queue of what waits for a person. */
export interface QueuePlace {
  readonly list: 'payouts' | 'deposits'
  /** The number of a currency; empty for all. */
  readonly cuy: string
  /** Only what has a higher id than this. */
  readonly after: number
  /** The id of the row that has the focus; 0 for the first one. */
  readonly at: number
}

/** The fragment of the page's URL that stands for a part of the queue. */
export const fragmentOfQueue = ({ list, cuy, after, at }: QueuePlace): string =>
  `#${query({ queue: list, cuy, after: after || null, at: at || null })}`

/** The part of the queue that a URL fragment names; null if it names none. */
export function queueAt(fragment: string): QueuePlace | null {
  const parameters = new URLSearchParams(fragment.slice(1))
  const list = parameters.get('queue')
  const digitsOf = (name: string) => /^\d{1,15}$/.exec(parameters.get(name) ?? '')?.[0] ?? ''
  if (list !== 'payouts' && list !== 'deposits') return null
  return { list, cuy: digitsOf('cuy'), after: Number(digitsOf('after')), at: Number(digitsOf('at')) }
}

/** The fragment of the page's URL that stands for a list with a filter. */
export const fragmentOfList = ({ name, filter }: Listed): string => `#${query({ list: name, ...filter })}`

/** The list that a URL fragment names, with its filter; null if it names none. */
export function listAt(fragment: string): Listed | null {
  const parameters = new URLSearchParams(fragment.slice(1))
  const name = parameters.get('list')
  if (name === null) return null
  const values = Object.keys(noFilter).map((one) => [one, parameters.get(one) ?? ''])
  return { name, filter: Object.fromEntries(values) as ListFilter } // safe: its fields have the names of the filter
}
