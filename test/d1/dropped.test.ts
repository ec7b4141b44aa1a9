import { beforeEach, describe, expect, it } from 'vitest'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { removeDropped } from '../../src/worker/deposits/store/transfers.ts'
import { column, measure, numbers, openDatabase, withoutTriggers } from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1])
})

/** Stores `count` dropped transfers; the n-th was dropped at time n in milliseconds. */
const dropped = (count: number) =>
  withoutTriggers(db, [
    `${numbers(count)} INSERT INTO stored_transfer (txid, position, height, cuy, native, raw, from_address, to_address,
      uid, state, amount, created_at, changed_at)
      SELECT unhex(printf('%064x', i)), 0, 101, 1, 1, '5', unhex(printf('%040x', 1)), (SELECT address
        FROM stored_address), 1, 'dropped', 0, 1, i FROM n`,
  ])
const left = () => column<number>(db, 'SELECT changed_at FROM transfer ORDER BY changed_at')

describe('transfers that were dropped', () => {
  it('are removed the oldest first, so many at a time, and none that was dropped later', async () => {
    await dropped(6)
    await db.prepare('UPDATE scan SET tried_at = 86400005').run()
    await removeDropped(db, 3)
    expect(await left()).toEqual([4, 5, 6])
    await removeDropped(db, 3)
    expect(await left()).toEqual([6])
  })

  it('cost as much to remove beside 100,000 others as beside few', async () => {
    const costs: number[] = []
    for (const count of [1_000, 100_000]) {
      db = await openDatabase([1])
      await dropped(count)
      await db.prepare('UPDATE scan SET tried_at = 99999999999').run()
      costs.push((await measure(db, (metered) => removeDropped(metered, 500))).rows)
    }
    expect(costs[1]).toBeLessThanOrEqual((costs[0] ?? 0) + 10)
  })
})
