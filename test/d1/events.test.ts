import { beforeEach, describe, expect, it } from 'vitest'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { formatUnits } from '../../src/worker/common/amount.ts'
import type { EventId } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { eventItem, eventsMax } from '../../src/worker/events/events.ts'
import { removeOldEvents, type StoredEvent, selectEvents } from '../../src/worker/events/store/events.ts'
import { appendStep } from '../../src/worker/scan/store/steps.ts'
import { currencies } from '../support/currencies.ts'
import {
  addressAt,
  block,
  credited,
  held,
  measure,
  ms,
  numbers,
  openDatabase,
  refused,
  seen,
  step,
  transfer,
  txid,
  upTo,
  withoutTriggers,
} from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1])
})

const id = (n: number) => n as EventId
const idsOf = (events: readonly StoredEvent[]) => events.map((event) => Number(event.id))

/**
 * Stores `count` events of dropped deposits: their transfers are removed too, so that the event is
 * the only row.
 */
const storeDropped = (count: number, at = 5) =>
  withoutTriggers(db, [
    `${numbers(count)} INSERT INTO stored_event (id, type, uid, created_at, txid, position)
      SELECT (SELECT id FROM last_event) + i, 'deposit.dropped', 1, ${at}, unhex(printf('%064x', i)), 0 FROM n`,
  ])

describe('reading events', () => {
  it('returns what each type reports, with its caller and time', async () => {
    await storeTransfers(db, [transfer(seen(), { txid: txid(9) })], ms(1500))
    await appendStep(db, step({ at: ms(1600) }))
    const token = transfer(credited(), { txid: txid(2), native: false, position: 12 })
    await storeTransfers(db, [transfer(), token], ms(1800))
    await storeTransfers(db, [transfer(refused, { txid: txid(3) })], ms(1900))
    await storeTransfers(db, [transfer(held('decimals-unknown'), { txid: txid(4) })], ms(2000))
    await db
      .prepare(`INSERT INTO posting VALUES (?, 'shop', 2100)`)
      .bind(JSON.stringify([posted]))
      .run()

    const shown = { position: 0, cuy: 1, address: formatBase58(addressAt(0)) }
    const events = await selectEvents(db, 0, eventsMax)
    const items = events.map((event) => eventItem(event, currencies, formatUnits))
    const recharge = { type: 1, cuy: 1, amt: '0.000005', by: '' }
    expect(items.map(({ type, data }) => ({ type, ...data }))).toMatchObject([
      { type: 'deposit.seen', txid: txid(9), ...shown, amt: '0.000005', seconds: 57 },
      { type: 'deposit.dropped', txid: txid(9), position: 0 },
      { type: 'deposit.credited', txid: txid(1), position: 0, address: shown.address, entry: { id: 3, ...recharge } },
      { type: 'deposit.credited', txid: txid(2), position: 12, entry: { id: 4, ...recharge, balance: '0.00001' } },
      {
        type: 'deposit.refused',
        txid: txid(3),
        ...shown,
        reason: 'dust',
        why: expect.stringContaining('0.000005 TRX'),
      },
      { type: 'deposit.held', txid: txid(4), ...shown, reason: 'decimals-unknown', why: expect.any(String) },
      { type: 'entry.posted', entry: { id: 7, type: 5, osn: 'x', by: 'shop', created_at: '1970-01-01T00:00:02.100Z' } },
    ])
    expect(items.map((item) => [item.id, item.uid, Date.parse(item.created_at)])).toEqual(
      [1500, 1600, 1800, 1800, 1900, 2000, 2100].map((at, n) => [n + 1, 1, at]),
    )
  })

  it('returns pages in order, and an empty one at the end', async () => {
    await storeDropped(150)
    const first = await selectEvents(db, 0, eventsMax)
    const second = await selectEvents(db, id(100), eventsMax)
    expect([...idsOf(first), ...idsOf(second)]).toEqual(upTo(150).map((i) => i + 1))
    expect(await selectEvents(db, id(150), eventsMax)).toEqual([])
    expect(await selectEvents(db, id(9_000), eventsMax)).toEqual([])
  })

  it('reads as many rows at any depth of 100,000, and four for an event of a deposit', async () => {
    await storeDropped(100_000)
    const rowsAt = async (last: number) =>
      (await measure(db, (metered) => selectEvents(metered, id(last), eventsMax))).rows
    const rows = await rowsAt(1_000)
    expect(rows).toBeLessThanOrEqual(eventsMax * 3)
    expect([await rowsAt(50_000), await rowsAt(99_900), await rowsAt(100_000)]).toEqual([rows, rows, 6])
    const list = upTo(50).map((n) => transfer(credited(), { txid: txid(n), block: block(102) }))
    await storeTransfers(db, list, ms(5))
    expect(await rowsAt(100_000)).toBeLessThanOrEqual(4 * 50 + 5)
  })
})

const posted = { uid: 1, cuy: 1, type: 5, osn: 'x', amount: 3, mark: '' }

describe('removing old events', () => {
  const left = async () => idsOf(await selectEvents(db, 0, eventsMax))

  it('removes the oldest in batches, and none that is younger', async () => {
    await storeDropped(5, 10)
    await storeDropped(2, 20)
    expect(await removeOldEvents(db, ms(15), 3)).toBe(3)
    expect(await left()).toEqual([4, 5, 6, 7])
    expect(await removeOldEvents(db, ms(15), 3)).toBe(2)
    expect(await removeOldEvents(db, ms(15), 3)).toBe(0)
    expect(await left()).toEqual([6, 7])
  })

  it('leaves no hole, whatever the clocks of those who wrote them', async () => {
    for (const at of [10, 11, 30, 12, 13]) await storeDropped(1, at)
    await removeOldEvents(db, ms(20), 10)
    expect(await left()).toEqual([3, 4, 5])
  })

  it('reads a few rows for each of 100,000 events that it removes, and next to none where the oldest stays', async () => {
    await storeDropped(100_000, 10)
    const removed = await measure(db, (metered) => removeOldEvents(metered, ms(15), 1_000))
    expect(removed.result).toBe(1_000)
    expect(removed.rows).toBeLessThanOrEqual(13_000)
    expect((await measure(db, (metered) => removeOldEvents(metered, ms(5), 1_000))).rows).toBeLessThanOrEqual(14)
  })
})
