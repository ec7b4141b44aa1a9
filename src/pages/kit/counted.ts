import { countedMax } from '../../worker/common/counted.ts'
import type { Format } from './format.ts'

/** A count of transfers or payouts as text: `1,000+` if the service has stopped counting. */
export const countedText = ({ count }: Format, number: number): string =>
  number < countedMax ? count(number) : `${count(countedMax)}+`

/**
 * A count of transfers or payouts; null if the service has stopped counting, so that there can be
 * more.
 */
export const knownCount = (number: number): number | null => (number < countedMax ? number : null)
