import type { DatabaseSync } from 'node:sqlite'
import type { LineOf } from './lines.ts'

/** The sum of all entries of a currency and type up to the end of a day, as `day` has it. */
interface DaySum extends Pick<LineOf<'entry'>, 'cuy' | 'type'> {
  readonly day: number
  readonly entries: number
  readonly high: bigint
  readonly low: bigint
}

const dayMs = 86_400_000
const carry = 1_000_000_000n

/** Stores the sums of days, each from the one before it, as the trigger of entries does. */
export function createDays(db: DatabaseSync) {
  const insert = db.prepare('INSERT INTO day (cuy, type, day, entries, high, low) VALUES (?, ?, ?, ?, ?, ?)')
  const sums = new Map<string, DaySum>()
  const store = ({ cuy, type, day, entries, high, low }: DaySum) => insert.run(cuy, type, day, entries, high, low)
  return {
    take({ cuy, type, created_at }: LineOf<'entry'>, amount: bigint) {
      const key = `${cuy} ${type}`
      const sum = sums.get(key) ?? { cuy, type, day: 0, entries: 0, high: 0n, low: 0n }
      const day = Math.max(Math.floor(created_at / dayMs), sum.day)
      if (sum.entries > 0 && day > sum.day) store(sum)
      const low = sum.low + amount
      sums.set(key, { ...sum, day, entries: sum.entries + 1, high: sum.high + low / carry, low: low % carry })
    },
    end() {
      for (const sum of sums.values()) store(sum)
    },
  }
}

/** Blocks between two marks. */
const markBlocks = 1_000

/**
 * Stores which entries there were at a finalized height, each thousand blocks. After a correction
 * none is stored: there are entries of higher blocks then, and no reader asks for a higher mark.
 */
export function createMarks(db: DatabaseSync) {
  const insert = db.prepare('INSERT INTO credit_mark (height, entry_id) VALUES (?, ?)')
  let [newest, next, isOver] = [0, 0, false]
  return {
    entry(id: number) {
      newest = id
    },
    scan({ finalized }: LineOf<'scan'>) {
      if (isOver || finalized === undefined || finalized < next) return
      insert.run(finalized, newest)
      next = finalized + markBlocks
    },
    end() {
      isOver = true
    },
  }
}
