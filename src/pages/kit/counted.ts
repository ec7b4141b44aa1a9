import type { Format } from './format.ts'

/** The service counts transfers and payouts only up to this number. A count of exactly this number means this many or more. */
export const countedTo = 1_000

/** A count of transfers or payouts as text: `1,000+` if the service has stopped counting. */
export const countedText = ({ count }: Format, number: number): string =>
  number < countedTo ? count(number) : `${count(countedTo)}+`

/** A count of transfers or payouts; null if the service has stopped counting, so that there can be more. */
export const knownCount = (number: number): number | null => (number < countedTo ? number : null)
