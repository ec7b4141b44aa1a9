import { minuteMs } from '../../worker/common/time.ts'
import type { TimeStep } from './format.ts'

/**
 * The marks of a time axis: `at` in milliseconds since 1970, and how precisely their times are
 * written.
 */
export interface Ticks {
  readonly step: TimeStep
  readonly at: readonly number[]
}

/** Most marks. More would touch each other on a phone. */
const ticksMax = 4
const dayMinutes = 24 * 60
const monthMinutes = 30.5 * dayMinutes

// Each step is at most two and a half times the one before, so there are always at least two marks.
const minutes = [1, 2, 5, 10, 15, 30, 60, 2 * 60, 3 * 60, 6 * 60, 12 * 60]
const days = [1, 2, 3, 5, 7, 10, 14]
const months = [1, 2, 3, 6, 12, 24, 48, 96, 192, 384, 768]

/**
 * Marks between two times at full minutes, days or months of the reader's time zone, as close as
 * they can be read.
 */
export function ticksBetween(start: number, end: number): Ticks {
  const span = (end - start) / minuteMs
  const ofMinutes = minutes.find((count) => span / count <= ticksMax)
  if (ofMinutes !== undefined) return { step: 'minute', at: marks(start, end, ofMinutes, 0, 0) }
  const ofDays = days.find((count) => span / (count * dayMinutes) <= ticksMax)
  if (ofDays !== undefined) return { step: 'day', at: marks(start, end, 0, ofDays, 0) }
  const ofMonths = months.find((count) => span / (count * monthMinutes) <= ticksMax) ?? 1_200
  return { step: 'month', at: marks(start, end, 0, 0, ofMonths) }
}

/**
 * The marks from `start` to `end`, counted from the beginning of a day or month. Two of the three
 * distances are 0. The marks follow the calendar, because a day may have 23 hours and a month 28
 * days.
 */
function marks(start: number, end: number, everyMinutes: number, everyDays: number, everyMonths: number): number[] {
  const first = new Date(start)
  const year = first.getFullYear()
  const month = first.getMonth()
  const fromMonth = everyMonths === 0 ? month : Math.floor((year * 12 + month) / everyMonths) * everyMonths - year * 12
  const fromDay = everyMonths === 0 ? first.getDate() : 1
  const found: number[] = []
  for (let index = 0; ; index += 1) {
    const at = new Date(year, fromMonth + index * everyMonths, fromDay + index * everyDays, 0, index * everyMinutes)
    if (!(at.getTime() <= end)) return found
    // If a clock change skips an hour, the next hour appears twice, so it is added only once.
    if (at.getTime() >= start && at.getTime() > (found.at(-1) ?? Number.NEGATIVE_INFINITY)) found.push(at.getTime())
  }
}
