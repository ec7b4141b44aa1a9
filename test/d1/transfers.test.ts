import { beforeEach, describe, expect, it } from 'vitest'
import { amountMax } from '../../src/worker/common/amount.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { selectHeldAgain, selectOldestHeld } from '../../src/worker/deposits/store/held.ts'
import {
  selectCreditedSince,
  selectFirstSeen,
  selectMovedIn,
  selectOpenTransfers,
  selectTransfersOf,
} from '../../src/worker/deposits/store/of-caller.ts'
import { storeSeen, storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { selectBalances } from '../../src/worker/ledger/store/entries.ts'
import {
  addressAt,
  block,
  column,
  credited,
  cuy,
  held,
  measure,
  moved,
  ms,
  numbers,
  openDatabase,
  refused,
  seen,
  stranger,
  transfer,
  txid,
  uid,
  upTo,
  withoutTriggers,
} from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1, 2])
})

const statesOf = () => column(db, `SELECT state || coalesce(':' || reason, '') FROM transfer ORDER BY id`)
const balance = async (owner = 1) => (await selectBalances(db, uid(owner)))[0]?.amount ?? 0n
const token = (position: number, verdict = credited(), changes = {}) =>
  transfer(verdict, { cuy: cuy(2), native: false, position, ...changes })

describe('storing transfers', () => {
  it('keeps every fact, and credits what is credited', async () => {
    expect(await storeTransfers(db, [transfer(), token(3, held('too-large'))], ms(10))).toBe('stored')
    const facts = { txid: txid(1), block: { height: 101 }, uid: 1, from: stranger, to: addressAt(0), raw: 5n }
    const times = { version: 1, review: null, seconds: null, createdAt: 10, changedAt: 10 }
    expect(await selectTransfersOf(db, uid(1), txid(1))).toEqual([
      { id: 1, ...facts, ...times, position: 0, cuy: 1, native: true, state: 'credited', reason: null, amount: 5n },
      { id: 2, ...facts, ...times, position: 3, cuy: 2, native: false, state: 'held', reason: 'too-large', amount: 0n },
    ])
    expect(await selectTransfersOf(db, uid(2), txid(1))).toEqual([])
    expect(await balance()).toBe(5n)
  })

  it('replaces what is not credited by what was agreed later, facts included', async () => {
    await storeTransfers(db, [transfer(seen(), { raw: 500n, block: block(119), cuy: cuy(2) })], ms(10))
    await storeTransfers(db, [transfer(held('decimals-unknown'), { raw: 50n })], ms(20))
    await storeTransfers(db, [transfer(credited(5n))], ms(30))
    expect(await selectTransfersOf(db, uid(1), txid(1))).toMatchObject([
      {
        raw: 5n,
        block: { height: 101 },
        cuy: 1,
        state: 'credited',
        amount: 5n,
        seconds: 57,
        createdAt: 10,
        changedAt: 30,
      },
    ])
    expect(await balance()).toBe(5n)
  })

  it('leaves what moved: it is never a deposit', async () => {
    await storeTransfers(db, [transfer(moved)], ms(10))
    await storeTransfers(db, [transfer()], ms(20))
    expect(await statesOf()).toEqual(['moved'])
    expect(await selectMovedIn(db, txid(1))).toEqual([0])
    expect(await selectTransfersOf(db, uid(1), txid(1))).toEqual([])
  })

  it('leaves what is refused, unless a requested rescan of its block is under way', async () => {
    await storeTransfers(db, [transfer(refused, { block: block(95) })], ms(10))
    await storeTransfers(db, [transfer(credited(), { block: block(95) })], ms(20))
    expect(await statesOf()).toEqual(['refused:dust'])
    await db
      .prepare(`INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try)
      VALUES ('request', 90, 96, 90, 'why', 1, 1)`)
      .run()
    await storeTransfers(db, [transfer(credited(), { block: block(95) })], ms(30))
    expect(await statesOf()).toEqual(['credited'])
  })

  it('does not write what is known as it is', async () => {
    await storeTransfers(db, [transfer(held())], ms(10))
    await storeTransfers(db, [transfer(held())], ms(20))
    expect(await column(db, 'SELECT changed_at FROM transfer')).toEqual([10])
    await storeTransfers(db, [transfer(held('decimals-differ'))], ms(30))
    expect(await column(db, 'SELECT changed_at FROM transfer')).toEqual([30])
  })

  it('sees nothing at or below the position, and nothing that is decided', async () => {
    await storeTransfers(db, [transfer(seen(), { block: block(100) })], ms(10))
    expect(await statesOf()).toEqual([])
    await storeTransfers(db, [transfer(held(), { block: block(119) })], ms(10))
    await storeTransfers(db, [transfer(seen(), { block: block(121) })], ms(20))
    expect(await statesOf()).toEqual(['held:retired'])
  })

  it('changes a transfer that is mined again in another block', async () => {
    await storeTransfers(db, [transfer(seen(), { block: block(121) })], ms(10))
    await storeTransfers(db, [transfer(seen(30), { block: block(122) })], ms(20))
    expect(await selectOpenTransfers(db, uid(1))).toMatchObject([
      { block: { height: 122 }, seconds: 57, changedAt: 20 },
    ])
  })

  it('stores nothing of a list with a block that a correction has made not final', async () => {
    await db.prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (100, 'a node lied', 9)`).run()
    const list = [transfer(held(), { txid: txid(2), block: block(95) }), transfer()]
    expect(await storeTransfers(db, list, ms(10))).toBe('superseded')
    expect(await statesOf()).toEqual([])
  })

  it('stores nothing while the scan is halted', async () => {
    await db.prepare(`UPDATE scan SET halted = 'forked'`).run()
    expect(await storeTransfers(db, [transfer(held(), { txid: txid(2) }), transfer()], ms(10))).toBe('halted')
    expect(await statesOf()).toEqual([])
    expect(await storeTransfers(db, [], ms(10))).toBe('stored')
  })
})

describe('a credit that does not fit into its wallet', () => {
  const full = credited(amountMax - 9n)

  it('is held, and smaller ones and those of others are not', async () => {
    const list = [token(0, full), token(1, credited(10n)), token(2, credited(1n))]
    await storeTransfers(db, [...list, token(3, credited(), { uid: uid(2), to: addressAt(1) })], ms(10))
    expect(await statesOf()).toEqual(['credited', 'held:wallet-full', 'credited', 'credited'])
    expect(await balance()).toBe(amountMax - 8n)
  })

  it('is offered again once there is room', async () => {
    const accepted = [{ cuy: cuy(2), decimals: 6, scale: 6 }]
    await storeTransfers(db, [token(0, full), token(1, credited(12n), { raw: 12n })], ms(10))
    const again = async () =>
      (await selectHeldAgain(db, { accepted, known: [], agreed: [], senders: [], max: 9 })).map((one) => one.position)
    expect(await again()).toEqual([])
    const paid = [{ uid: 1, cuy: 2, type: 4, osn: 'x', amount: -3, mark: '' }]
    await db.prepare(`INSERT INTO posting VALUES (?, 'shop', 11)`).bind(JSON.stringify(paid)).run()
    expect(await again()).toEqual([1])
    expect(await selectHeldAgain(db, { accepted: [], known: [], agreed: [], senders: [], max: 9 })).toEqual([])
    await storeTransfers(db, [token(1, credited(12n), { raw: 12n })], ms(20))
    expect(await balance()).toBe(amountMax)
  })
})

describe('storing while others store the same', () => {
  /**
   * A database that runs `write` just before each of the first `times` batches that store
   * transfers, like a faster concurrent writer.
   */
  const overtaking = (times: number, write: () => Promise<unknown>): WriteDatabase => {
    let left = times
    let isWriting = false
    const overtaken = {
      prepare(sql: string) {
        isWriting ||= /^\n(?:UPDATE|INSERT INTO) "stored_transfer"/.test(sql)
        return db.prepare(sql)
      },
      async batch(statements: D1PreparedStatement[]) {
        const isNow = isWriting && left > 0
        isWriting = false
        if (isNow) left -= 1
        if (isNow) await write()
        return await db.batch(statements)
      },
    }
    return overtaken as WriteDatabase // safe: the code that stores transfers calls only these two methods
  }

  it('is decided again: what another one has credited meanwhile is not credited twice', async () => {
    const store = () => storeTransfers(db, [transfer()], ms(20))
    expect(await storeTransfers(overtaking(1, store), [transfer()], ms(30))).toBe('stored')
    await storeTransfers(db, [transfer(held(), { txid: txid(2) })], ms(40))
    const credit = () => storeTransfers(db, [transfer(credited(), { txid: txid(2) })], ms(50))
    expect(await storeTransfers(overtaking(1, credit), [transfer(credited(), { txid: txid(2) })], ms(60))).toBe(
      'stored',
    )
    expect(await balance()).toBe(10n)
  })

  it('is held where another one has filled the wallet meanwhile', async () => {
    const fill = () => storeTransfers(db, [transfer(credited(amountMax), { txid: txid(2) })], ms(20))
    expect(await storeTransfers(overtaking(1, fill), [transfer()], ms(30))).toBe('stored')
    expect(await statesOf()).toEqual(['credited', 'held:wallet-full'])
  })

  it('ends after some tries where others change the same again and again', async () => {
    await storeTransfers(db, [transfer(held())], ms(10))
    let raw = 10n
    const change = () => {
      raw += 1n
      return storeTransfers(db, [transfer(held(), { raw })], ms(20))
    }
    expect(await storeTransfers(overtaking(3, change), [transfer()], ms(30))).toBe('superseded')
    expect(await storeTransfers(overtaking(2, change), [transfer()], ms(30))).toBe('stored')
    expect(await balance()).toBe(5n)
  })
})

describe('reading transfers', () => {
  it('returns those that are open, held ones first', async () => {
    const list = [transfer(), token(1, held()), token(2, refused), token(3, seen()), token(4, moved)]
    await storeTransfers(db, [...list, token(5, held(), { uid: uid(2), to: addressAt(1) })], ms(10))
    expect((await selectOpenTransfers(db, uid(1))).map(({ position }) => position)).toEqual([1, 3])
  })

  it('returns 100 of those that are held however many are seen, and the other way round', async () => {
    const shown = async () => Map.groupBy(await selectOpenTransfers(db, uid(1)), ({ state }) => state)
    const [manySeen, manyHeld] = [seen(), held()].map((state, i) =>
      upTo(150).map((n) => token(n, state, { txid: txid(i + 7) })),
    )
    await storeTransfers(db, [...(manySeen ?? []), token(1, held(), { txid: txid(6) })], ms(10))
    expect((await shown()).get('held')).toMatchObject([{ txid: txid(6) }])
    await storeTransfers(db, manyHeld ?? [], ms(20))
    expect((await shown()).get('seen')).toHaveLength(100)
    expect((await shown()).get('held')).toHaveLength(100)
  })

  it('returns once what a node shows in two blocks that are not final', async () => {
    const twice = [120, 121].map((n) => token(1, seen(), { block: block(n) }))
    await storeSeen(db, twice, 9, ms(10))
    expect(await selectOpenTransfers(db, uid(1))).toMatchObject([{ position: 1, state: 'seen' }])
  })

  it('returns what was credited since a time, by currency', async () => {
    await storeTransfers(db, [transfer(credited(3n))], ms(10))
    await storeTransfers(db, [token(1, credited(4n)), token(2, credited(5n)), token(3, held())], ms(20))
    expect(await selectCreditedSince(db, uid(1), ms(20))).toEqual([{ cuy: 2, amount: 9n }])
    expect(await selectCreditedSince(db, uid(1), ms(10))).toEqual([
      { cuy: 1, amount: 3n },
      { cuy: 2, amount: 9n },
    ])
    expect(await selectCreditedSince(db, uid(1), ms(21))).toEqual([])
    expect(await selectCreditedSince(db, uid(2), ms(0))).toEqual([])
  })

  it('returns a sum that no wallet can hold, exact to the last unit, where money was spent between two credits', async () => {
    await storeTransfers(db, [token(0, credited(amountMax - 9n))], ms(10))
    const paid = [{ uid: 1, cuy: 2, type: 4, osn: 'x', amount: -13, mark: '' }]
    await db.prepare(`INSERT INTO posting VALUES (?, 'shop', 11)`).bind(JSON.stringify(paid)).run()
    const before = (await selectCreditedSince(db, uid(1), ms(10)))[0]?.amount ?? 0n
    await storeTransfers(db, [token(1, credited(13n), { raw: 13n })], ms(20))
    expect(before + 13n).toBeGreaterThan(amountMax)
    expect(await selectCreditedSince(db, uid(1), ms(10))).toEqual([{ cuy: 2, amount: before + 13n }])
  })

  it('returns held ones whose reason may have ended', async () => {
    const reasons = ['retired', 'decimals-unknown', 'decimals-differ', 'too-large'] as const
    await storeTransfers(
      db,
      [1, 2].flatMap((currency) =>
        reasons.map((why, i) => token(i, held(why), { cuy: cuy(currency), txid: txid(currency) })),
      ),
      ms(10),
    )
    const accepted = [{ cuy: cuy(1), decimals: 6, scale: 6 }]
    const again = await selectHeldAgain(db, { accepted, known: [cuy(2)], agreed: [cuy(2)], senders: [], max: 9 })
    expect(again.map((one) => [one.cuy, one.reason])).toEqual([
      [1, 'retired'],
      [2, 'decimals-unknown'],
      [2, 'decimals-differ'],
    ])
    expect(await selectOldestHeld(db, [cuy(1), cuy(2), cuy(3)])).toMatchObject([
      { txid: txid(1), reason: 'too-large' },
      { txid: txid(2), reason: 'too-large' },
    ])
  })

  it('returns the lowest height above the position at which a transfer was seen', async () => {
    expect(await selectFirstSeen(db)).toBeNull()
    await storeTransfers(db, [token(1, seen(), { block: block(125) }), token(2, seen(), { block: block(123) })], ms(10))
    expect(await selectFirstSeen(db)).toEqual({ height: 123 })
    await db.prepare(`UPDATE scan SET finalized = 130, height = 123, hash = '${block(123).hash}'`).run()
    expect(await selectFirstSeen(db)).toEqual({ height: 125 })
  })
})

describe('cost', () => {
  /** Stores `count` transfers to caller 1, a quarter in each of four states. */
  const fill = async (count: number) => {
    const rows = (state: string, reason: string, start: number) => `${numbers(count / 4)}
      INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state,
        reason, amount, seconds, created_at, changed_at)
      SELECT unhex(printf('%064x', ${start} + i)), 0, 100, 1, 1, unhex('${stranger}'), unhex('${addressAt(0)}'), '5', 1,
        '${state}', ${reason}, iif('${state}' = 'credited', 1, 0), NULL, 5, 5 FROM n`
    await withoutTriggers(db, [
      rows('credited', 'NULL', 10_000_000),
      rows('refused', `'dust'`, 20_000_000),
      rows('held', `'retired'`, 30_000_000),
      rows('dropped', 'NULL', 40_000_000),
    ])
  }

  it('of crediting 5,000 deposits in one transaction is linear', async () => {
    const credit = (count: number, tx: number) =>
      measure(db, (metered) =>
        storeTransfers(
          metered,
          upTo(count).map((n) => token(n, credited(), { txid: txid(tx) })),
          ms(10),
        ),
      )
    const few = await credit(500, 1)
    const many = await credit(5_000, 2)
    expect(many.rows).toBeLessThan(few.rows * 11)
    expect(many.rows / 5_000).toBeLessThan(55)
    expect(many.trips).toBe(2) // one round trip reads what is stored, the other stores the decisions
    expect(await balance()).toBe(27_500n)
  })

  it('of storing and reading does not grow with history', async () => {
    const [accepted, known] = [[{ cuy: cuy(1), decimals: 6, scale: 6 }], [cuy(1)]]
    const query = { accepted, known, agreed: known, senders: [], max: 50 }
    const costs = async (tx: number) => [
      (await measure(db, (metered) => storeTransfers(metered, [transfer(credited(), { txid: txid(tx) })], ms(10))))
        .rows,
      (await measure(db, (metered) => selectTransfersOf(metered, uid(1), txid(1)))).rows,
      (await measure(db, (metered) => selectOpenTransfers(metered, uid(1)))).rows,
      (await measure(db, (metered) => selectCreditedSince(metered, uid(1), ms(10)))).rows,
      (await measure(db, (metered) => selectHeldAgain(metered, query))).rows,
      (await measure(db, (metered) => selectFirstSeen(metered))).rows,
      (await measure(db, (metered) => selectOldestHeld(metered, [cuy(1), cuy(2)]))).rows,
    ]
    await fill(1_000)
    const before = await costs(5)
    await db.prepare('DROP TRIGGER transfer_is_rarely_deleted').run()
    await db.prepare('DELETE FROM stored_transfer WHERE height = 100').run()
    await fill(100_000)
    const after = await costs(6)
    expect(after.map((rows, i) => rows <= (before[i] ?? 0) + 8)).toEqual(after.map(() => true))
    expect(Math.max(...after)).toBeLessThan(250)
  })
})
