import type { Format } from './format.ts'

/** The service stops counting transfers and payouts here: this number means this many or more. */
export const countedTo = 1_000

/** A number of transfers or payouts, with a plus sign if counting has stopped. */
export const countedText = ({ count }: Format, number: number): string =>
  number < countedTo ? count(number) : `${count(countedTo)}+`

/** The number; null if counting has stopped. */
export const knownCount = (number: number): number | null => (number < countedTo ? number : null)
