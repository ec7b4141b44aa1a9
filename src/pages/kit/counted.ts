import type { Format } from './format.ts'

/** The service counts transfers and payouts up to here: as a count, this number means this many or more. */
export const countedTo = 1_000

/** A count of transfers or payouts as text, with a plus sign if there can be more. */
export const countedText = ({ count }: Format, number: number): string =>
  number < countedTo ? count(number) : `${count(countedTo)}+`

/** A count of transfers or payouts; null if there can be more. */
export const knownCount = (number: number): number | null => (number < countedTo ? number : null)
