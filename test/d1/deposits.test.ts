import { beforeEach, describe, expect, it } from 'vitest'
import { countedMax } from '../../src/worker/common/counted.ts'
import type { EndpointKey } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import type { DepositFilter, DepositKey, DepositPage } from '../../src/worker/deposits/deposit.ts'
import { listDeposits } from '../../src/worker/deposits/deposits.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { databaseBytesMax } from '../../src/worker/scan/size.ts'
import { selectHealth } from '../../src/worker/scan/store/position.ts'
import { depositStates } from '../../src/worker/schemas/deposit.ts'
import { type SummaryData, summaryDays } from '../../src/worker/schemas/summary.ts'
import { readSummary } from '../../src/worker/summary/summary.ts'
import { registerEndpoints } from '../../src/worker/webhooks/store/endpoint-state.ts'
import { twoCurrencies } from '../support/currencies.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import {
  addressAt,
  below,
  block,
  credited,
  cuy,
  held,
  measure,
  moved,
  ms,
  nth,
  numbers,
  openDatabase,
  refused,
  seen,
  stranger,
  txid,
  uid,
  withoutTriggers,
} from './fixtures.ts'

let db: WriteDatabase
const today = 20_000 * 86_400_000
const endpoint = { key: 'e'.repeat(64) as EndpointKey, number: 1 }

beforeEach(async () => {
  db = await openDatabase([1, 2, Number.MAX_SAFE_INTEGER])
})

const clock = createVirtualClock(today + 5_000)
type Question = Partial<DepositFilter> | DepositKey
const list = (filter: Question = {}, page: Partial<DepositPage> = {}, from = db) => {
  const all = 'txid' in filter || 'address' in filter ? filter : { uid: null, state: null, cuy: null, ...filter }
  return listDeposits({ db: from, clock, currencies: twoCurrencies }, all, { before: null, limit: 20, ...page })
}
const idsOf = async (...args: Parameters<typeof list>) => (await list(...args)).list.map(({ id }) => id)
const readStored = (from = db) =>
  readSummary({ db: from, clock, currencies: twoCurrencies, payouts: null }, [endpoint], () => selectHealth(from))
/** The summary as a reader of its JSON has it. */
const summary = async (from = db) => JSON.parse(JSON.stringify(await readStored(from))) as SummaryData
const toSecond = { uid: uid(2), to: addressAt(1) }

describe('the transfers of all callers', () => {
  beforeEach(async () => {
    await storeTransfers(
      db,
      [
        nth(1),
        nth(2, credited(), { ...toSecond, cuy: cuy(2), native: false }),
        nth(2, held(), { position: 1, cuy: cuy(2), native: false }),
        nth(3, refused, toSecond),
        nth(4, seen(), { block: block(121) }),
        nth(5, moved),
        nth(2, moved, { position: 2, cuy: cuy(2), native: false }),
      ],
      ms(10),
    )
  })

  it('are listed newest first without what moved, each with its caller and its entry', async () => {
    const found = await list()
    expect(found.list.map(({ id, uid: owner, state, entry }) => [id, owner, state, entry])).toEqual([
      [5, 1, 'seen', null],
      [4, 2, 'refused', null],
      [3, 1, 'held', null],
      [2, 2, 'credited', 2],
      [1, 1, 'credited', 1],
    ])
    expect(found.count).toBe(5)
    expect(await idsOf({}, { before: below(4), limit: 2 })).toEqual([3, 2])
  })

  it('are filtered by state, by currency and by both', async () => {
    expect(await list({ state: 'credited' })).toMatchObject({ list: [{ id: 2 }, { id: 1 }], count: 2 })
    expect(await idsOf({ cuy: cuy(2) })).toEqual([3, 2])
    expect(await idsOf({ state: 'credited', cuy: cuy(1) })).toEqual([1])
    expect(await idsOf({ state: 'dropped' })).toEqual([])
  })

  it('are listed oldest first above an id, by every filter', async () => {
    expect(await idsOf({}, { after: 0 })).toEqual([1, 2, 3, 4, 5])
    expect(await idsOf({}, { after: below(2), limit: 2 })).toEqual([3, 4])
    expect(await idsOf({ state: 'credited' }, { after: 0 })).toEqual([1, 2])
    expect(await idsOf({ uid: uid(2) }, { after: below(2) })).toEqual([4])
    expect(await idsOf({ txid: txid(2) }, { after: 0 })).toEqual([2, 3])
    expect(await idsOf({ address: addressAt(1) }, { after: below(2) })).toEqual([4])
  })

  it('are filtered by the reason for which they are held, of all users', async () => {
    await storeTransfers(db, [nth(6, held('too-large')), nth(7, held('too-large'), toSecond)], ms(10))
    const found = await list({ state: 'held', reason: 'too-large' }, { after: 0 })
    expect(found).toMatchObject({ list: [{ id: 8 }, { id: 9 }], count: 2 })
    expect(await idsOf({ state: 'held', reason: 'too-large' })).toEqual([9, 8])
    expect(await idsOf({ state: 'held', reason: 'too-large', cuy: cuy(2) })).toEqual([])
    expect(await idsOf({ state: 'held', reason: 'review' })).toEqual([])
  })

  it('have the seconds until they are final by the newest final block, and none if nothing has moved since then', async () => {
    await storeTransfers(db, [nth(6, seen(), { block: block(138) })], ms(10))
    let now = 1_000 // at this time block 120 was the newest final one
    const context = { db, clock: { ...clock, now: () => ms(now) }, currencies: twoCurrencies }
    const secondsAt = async (time: number) => {
      now = time
      const found = await listDeposits(context, { uid: null, state: 'seen', cuy: null }, { before: null, limit: 20 })
      return found.list.map(({ finalIn }) => finalIn)
    }
    expect([await secondsAt(1_000), await secondsAt(2_001), await secondsAt(16_000), await secondsAt(17_000)]).toEqual([
      [57, 6],
      [56, 5],
      [42, 1],
      [41, null],
    ])
  })

  it('are found by transaction and by address, whoever they are for', async () => {
    expect(await list({ txid: txid(2) })).toMatchObject({
      list: [
        { id: 3, uid: 1 },
        { id: 2, uid: 2 },
      ],
      count: 2,
    })
    expect(await list({ txid: txid(5) })).toEqual({ list: [], count: 0 })
    expect(await idsOf({ address: addressAt(1) })).toEqual([4, 2])
    expect(await list({ address: addressAt(0) }, { before: below(5), limit: 1 })).toMatchObject({
      list: [{ id: 3 }],
      count: 3,
    })
    for (const address of [addressAt(2), stranger]) expect(await list({ address })).toEqual({ list: [], count: 0 })
  })
})

const instant = (at: number) => new Date(at).toISOString()
const dayOf = (at: number) => instant(at).slice(0, 10)

describe('the summary', () => {
  it('has what is owed and held, the days, and everything that is open', async () => {
    await db.prepare('UPDATE scan SET advanced_at = ?').bind(today).run()
    await storeTransfers(
      db,
      [nth(1, credited(7n)), nth(2, held('retired')), nth(3, held('too-large'))],
      ms(today - 86_400_000),
    )
    await storeTransfers(
      db,
      [nth(4, held('too-large')), nth(5, seen(), { block: block(121) }), nth(6, credited(2n), toSecond)],
      ms(today),
    )
    await db.batch([
      db.prepare(
        `UPDATE stored_holding SET balance = '20', read_from = 1, read_to = 1, differing = 3, difference = '-2' WHERE address_id = (SELECT id FROM address WHERE address = '${addressAt(0)}')`,
      ),
      db.prepare(`INSERT INTO rescan (kind, from_height, to_height, next_height, why, created_at, next_try, attempts,
        tried_at)
        VALUES ('gap', 90, 91, 90, 'unreadable', 60, 70, 4, 65)`),
      db.prepare(`INSERT INTO alarm VALUES ('gap-unread', '{"from":90}', 61, 62)`),
    ])
    await registerEndpoints(db, [endpoint], ms(today))
    await db.prepare('UPDATE scan SET finalized_time = ?1, tried_at = ?1').bind(today).run()
    await storeTransfers(db, [nth(7, credited(1n))], ms(today + 2_000))
    const found = await summary()
    const unfrozen = { frozen: 0, frozen_addresses: 0, destroyed: 0 }
    // The currencies come in the order of `CURRENCIES`.
    expect(found.currencies.map(({ days, owed_by, held_by, ...sums }) => sums)).toEqual([
      {
        ...{ cuy: 2, symbol: 'FINE', owed: 0, held: null, held_at: null, compared: 0, unread: 0 },
        ...unfrozen,
        ...{ unexplained: 0, differing: 0 },
      },
      {
        ...{ cuy: 1, symbol: 'TRX', owed: 0.00001, held: 0.00002, held_at: instant(today), compared: 1, unread: 2 },
        ...unfrozen,
        ...{ unexplained: -0.000002, differing: 1 },
      },
    ])
    const [, first] = found.currencies
    expect(first?.owed_by.filter(({ sum }) => sum !== 0)).toEqual([{ type: 1, sum: 0.00001 }])
    expect(first?.held_by.map(({ what }) => what)).toEqual(['credited', 'held', 'refused', 'gas', 'collected', 'fees'])
    expect(first?.held_by[0]?.sum).toBe(0.000015) // raw amounts: three transfers of 5
    const [, days = []] = found.currencies.map((one) => one.days)
    expect(days).toHaveLength(summaryDays)
    expect(days.slice(-3)).toEqual([
      { day: dayOf(today - 2 * 86_400_000), deposits: 0, sum: 0, entries: [] },
      {
        ...{ day: dayOf(today - 86_400_000), deposits: 1, sum: 0.000007 },
        entries: [{ type: 1, count: 1, sum: 0.000007 }],
      },
      { day: dayOf(today), deposits: 2, sum: 0.000003, entries: [{ type: 1, count: 2, sum: 0.000003 }] },
    ])
    expect(found).toMatchObject({
      addresses: 3,
      transfers: {
        seen: 1,
        held: 3,
        held_for: [
          { reason: 'retired', cuy: 1, count: 1, oldest_at: instant(today - 86_400_000) },
          { reason: 'too-large', cuy: 1, count: 2, oldest_at: instant(today - 86_400_000) },
        ],
      },
      gaps: [{ from: 90, to: 91, attempts: 4, why: 'unreadable', since: instant(60), seen: 0 }],
      alarms: [{ kind: 'gap-unread', subject: { from: 90 }, since: instant(61) }],
      scan: { status: 'ok', scanned: 100, finalized: 120, behind: 20, oldest_held_at: instant(today - 86_400_000) },
      endpoints: [{ number: 1, behind_seconds: 3, failing_since: null }],
    })
  })

  it('counts the addresses whose newest reading can lack a transfer, and says why the newest tick read less', async () => {
    await storeTransfers(db, [nth(1, credited(7n)), nth(2, credited(2n), toSecond)], ms(today))
    await db.batch([
      db.prepare(
        `UPDATE stored_holding SET balance = '7', read_from = changed_height, read_to = changed_height WHERE cuy = 1`,
      ),
      db.prepare(`UPDATE scan SET problem = 'no-answer'`),
    ])
    expect(await summary()).toMatchObject({
      currencies: [{ unread: 0 }, { unread: 0 }],
      scan: { problem: 'no-answer' },
    })
    await storeTransfers(db, [nth(3, credited(1n), { ...toSecond, block: block(102) })], ms(today))
    expect(await summary()).toMatchObject({ currencies: [{ unread: 0 }, { unread: 1 }] })
  })

  it('counts the transfers that were seen in each gap', async () => {
    await storeTransfers(
      db,
      [121, 122].map((n) => nth(n, seen(), { block: block(n) })),
      ms(today),
    )
    await db.batch([
      db.prepare(`UPDATE scan SET height = 122, finalized = 122, hash = '${block(122).hash}'`),
      ...[119, 121].map((from) =>
        db.prepare(`INSERT INTO rescan (kind, from_height, to_height, next_height, why, created_at, next_try)
          VALUES ('gap', ${from}, ${from + 1}, ${from}, 'unreadable', 60, 70)`),
      ),
    ])
    expect((await summary()).gaps).toMatchObject([
      { from: 119, seen: 0 },
      { from: 121, seen: 2 },
    ])
  })

  describe('says when the database is full', () => {
    const day = today / 86_400_000
    /**
     * The summary's `database`, where D1 reports a size of `bytes` and `sizes` has what it reported
     * on earlier days.
     */
    const withSizes = async (bytes: number, sizes: readonly (readonly [daysAgo: number, bytes: number])[]) => {
      await db.batch(sizes.map(([ago, size]) => db.prepare('INSERT INTO size VALUES (?, ?)').bind(day - ago, size)))
      const batch: WriteDatabase['batch'] = async <T>(statements: D1PreparedStatement[]) => {
        const results = await db.batch<T>(statements)
        return results.map((result) => ({ ...result, meta: { ...result.meta, size_after: bytes } }))
      }
      return (await summary({ ...db, prepare: db.prepare.bind(db), batch })).database
    }
    const inDays = (count: number) => today + count * 86_400_000

    it.each<[what: string, bytes: number, sizes: [number, number][], fullAt: number | null]>([
      ['at the rate since the first known day', 4e9, [[3, 1e9]], inDays(6)],
      [
        'at the rate of the last 30 days',
        7e9,
        [
          [31, 0],
          [30, 1e9],
          [29, 6e9],
          [0, 7e9],
        ],
        inDays(15),
      ],
      ['today once it is', 10_000_004_096, [[1, 9e9]], inDays(0)],
      [
        'never where it has not grown',
        4e9,
        [
          [3, 4e9],
          [1, 3e9],
        ],
        null,
      ],
      ['never where that is in more than a century', 4e9, [[30, 4e9 - 1_000]], null],
      ['never where nothing is known of earlier days', 4e9, [[0, 1e9]], null],
    ])('%s', async (_, bytes, sizes, fullAt) => {
      const full_on = fullAt === null ? null : dayOf(fullAt)
      expect(await withSizes(bytes, sizes)).toEqual({ bytes, limit: databaseBytesMax, full_on })
    })
  })

  it('of an empty database has no sums', async () => {
    const found = await summary(await openDatabase())
    const transfers = { seen: 0, held: 0, held_for: [] }
    expect(found).toMatchObject({ addresses: 0, transfers, gaps: [], alarms: [], endpoints: [] })
    expect(found.currencies.map(({ owed, held: sums }) => [owed, sums])).toEqual([
      [0, null],
      [0, null],
    ])
  })
})

/**
 * The number of rows of a long history. A million rows would cost as many reads, but storing them
 * takes half a minute.
 */
const large = 100_000

describe('the cost', () => {
  /**
   * Stores `count` transfers: a seventh are movements, which are no deposits, and the others are in
   * the five states of deposits. Half as many entries, balances that are due to be read, open
   * rescans and raised alarms come with them.
   */
  const fill = (count: number) =>
    withoutTriggers(db, [
      'DELETE FROM stored_transfer',
      'DELETE FROM stored_flow',
      'DELETE FROM stored_holding',
      'DELETE FROM day',
      'DELETE FROM rescan',
      'DELETE FROM alarm',
      `${numbers(count)}
      INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state,
        reason, amount, seconds, created_at, changed_at)
      SELECT unhex(printf('%064x', 1000000 + i)), 0, 100, 1 + (i / 5) % 2, iif(i % 7 = 0, NULL, 1 + i % 2),
        unhex('${stranger}'),
        unhex(iif(i % 2, '${addressAt(1)}', '${addressAt(0)}')), '5', 1,
          iif(i % 7 = 0, 'moved', '${JSON.stringify(depositStates)}' ->> (i % 5)),
        iif(i % 7 = 0, NULL, CASE i % 5 WHEN 1 THEN 'retired' WHEN 3 THEN 'dust' END), i % 7 > 0
          AND i % 5 = 2, NULL, 5, 5 FROM n`,
      `${numbers(count / 2)}
      INSERT INTO stored_flow (wallet_id, type, transfer_id, amount, balance, mark, created_at, posted_by, number,
        type_number)
      SELECT 1, 1, i, 1, i, '', ${today} - 86400000 * (i % 400), '', i, i FROM n`,
      `INSERT INTO day SELECT 1, 1, created_at / 86400000, 0, 0, 0 FROM stored_flow GROUP BY 3`,
      `${numbers(count / 2)} INSERT INTO stored_holding (cuy, address_id, due_at) SELECT 1, i + 999999, 5 FROM n`,
      `${numbers(count / 2)} INSERT INTO rescan (kind, from_height, to_height, next_height, why, created_at, next_try)
      SELECT 'gap', i * 2, i * 2, i * 2, 'why', 1, 1 FROM n`,
      `${numbers(count / 2)} INSERT INTO alarm SELECT 'gap-unread', json_object('from', i), 1, 1 FROM n`,
    ])
  const questions: readonly Question[] = [
    {},
    { state: 'held' },
    { state: 'seen' },
    { state: 'credited' },
    { state: 'refused' },
    { state: 'dropped', cuy: cuy(1) },
    { cuy: cuy(2) },
    { uid: uid(1) },
    { uid: uid(1), state: 'refused' },
    { uid: uid(1), cuy: cuy(2) },
    { uid: uid(2), state: 'held', cuy: cuy(1) },
    { uid: uid(3) },
    { uid: uid(3), cuy: cuy(1) },
    { address: addressAt(0) },
    { txid: txid(1_000_001) },
  ]
  const costs = async () => {
    const rows = [(await measure(db, readStored)).rows]
    for (const question of questions) {
      for (const page of [{}, { before: below(700), limit: 100 }]) {
        rows.push((await measure(db, (metered) => list(question, page, metered))).rows)
      }
    }
    return rows
  }

  it('of every list and of the summary is the same with a long history as with a short one, and bounded', async () => {
    await fill(20 * countedMax) // of each kind more rows than the summary counts
    const few = await costs()
    await fill(large)
    const many = await costs()
    expect(many).toEqual(few)
    await fill(1_000)
    const fewest = await costs()
    expect(many.map((rows, i) => rows - (fewest[i] ?? 0)).filter((more) => more > 3 * countedMax)).toEqual([])
    expect(Math.max(...many)).toBeLessThan(4_500)
    expect((await measure(db, (metered) => list({ uid: uid(1) }, {}, metered))).trips).toBe(1)
  })

  it('of a list is bounded by a count up to a limit, which means that many or more', async () => {
    await fill(20 * countedMax)
    const newest = { list: [{ id: 20_000 }], count: countedMax }
    expect(await list({}, { limit: 1 })).toMatchObject(newest)
    expect(await list({ uid: uid(1) }, { limit: 1 })).toMatchObject(newest)
    expect((await list({ uid: uid(2), cuy: cuy(1), state: 'held' })).count).toBe(countedMax)
  })
})
