import type { Format } from './format.ts'

/** The service counts transfers and payouts to here: so many are that many or more. */
export const countedTo = 1_000

/** A number of transfers or payouts, with a plus sign where nobody has counted further. */
export const countedText = ({ count }: Format, number: number): string =>
  number < countedTo ? count(number) : `${count(countedTo)}+`

/** The same as a number; null where nobody has counted further. */
export const knownCount = (number: number): number | null => (number < countedTo ? number : null)
