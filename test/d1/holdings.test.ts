import { beforeEach, describe, expect, it } from 'vitest'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import {
  addMissingHoldings,
  type Holding,
  selectCompareWork,
  selectDueHoldings,
  storeHoldings,
} from '../../src/worker/reconciliation/store/holdings.ts'
import { appendStep } from '../../src/worker/scan/store/steps.ts'
import {
  addressAt,
  column,
  credited,
  cuy,
  height,
  held,
  measure,
  moved,
  ms,
  numbers,
  openDatabase,
  sent,
  step,
  stranger,
  transfer,
  txid,
  withoutTriggers,
} from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1, 2, 3])
})

const none = { cuy: cuy(1), first: 0, last: 0 }
const due = (at = 100_000, max = 20) => selectDueHoldings(db, cuy(1), ms(at), max)
const outcome = (changes: Partial<Holding> = {}) => ({
  reading: { balance: 7n, fromHeight: height(90), toHeight: height(150) },
  accepted: -2n,
  acceptedSent: 1,
  readSent: 1,
  differing: 2,
  difference: 4n,
  dueAt: ms(500_000),
  ...changes,
})

describe('holdings', () => {
  it('have what is recorded, in exact numbers of any size', async () => {
    const largest = 2n ** 256n - 1n
    const token = (position: number, raw: bigint, verdict = held()) =>
      transfer(verdict, { native: false, position, raw })
    await storeTransfers(db, [token(1, largest), token(2, 3n, credited()), token(3, 10n, moved)], ms(10))
    await storeTransfers(db, [transfer(moved, { txid: txid(2), from: addressAt(0), to: stranger, raw: 4n })], ms(20))
    expect(await due()).toMatchObject([
      {
        cuy: 1,
        address: addressAt(0),
        recorded: largest + 9n,
        sent: 0,
        changedHeight: 101,
        dueAt: 60_010,
        reading: null,
        accepted: 0n,
        acceptedSent: 0,
        readSent: 0,
        difference: 0n,
        differing: 0,
      },
    ])
  })

  it('can be below zero, in each of their parts', async () => {
    const out = transfer(moved, { from: addressAt(0), to: stranger, raw: 10n ** 30n + 1n })
    await storeTransfers(db, [out], ms(10))
    expect(await due()).toMatchObject([{ recorded: -(10n ** 30n) - 1n }])
  })

  it('are made for addresses that have none, page by page, due at once', async () => {
    await storeTransfers(db, [transfer(held(), { to: addressAt(0) })], ms(10))
    const work = async () => (await selectCompareWork(db, [cuy(1)], ms(0)))[0] ?? none
    const added: unknown[] = []
    for (let i = 0; i < 3; i += 1) {
      await addMissingHoldings(db, await work(), 2, ms(0))
      added.push(await work())
    }
    const range = { cuy: 1, first: 1, dueAt: 0 }
    expect(added).toEqual([
      { ...range, last: 2, hasNew: true },
      { ...range, last: 3, hasNew: false },
      { ...range, last: 3, hasNew: false },
    ])
    expect(await column(db, 'SELECT address FROM holding ORDER BY due_at, address')).toEqual(
      [1, 2, 0].map((index) => addressAt(index)),
    )
  })

  it('that are due are returned, those first that have been due longest', async () => {
    await addMissingHoldings(db, none, 9, ms(0))
    await db
      .prepare(
        `UPDATE stored_holding SET due_at = 30 WHERE address_id = (SELECT id FROM address WHERE address = '${addressAt(0)}')`,
      )
      .run()
    await db
      .prepare(
        `UPDATE stored_holding SET due_at = 20 WHERE address_id = (SELECT id FROM address WHERE address = '${addressAt(2)}')`,
      )
      .run()
    expect((await due(20)).map(({ address }) => address)).toEqual([addressAt(1), addressAt(2)])
    expect((await due(99, 1)).map(({ address }) => address)).toEqual([addressAt(1)])
    expect(await selectDueHoldings(db, cuy(2), ms(99), 9)).toEqual([])
  })

  it('keep a comparison', async () => {
    await addMissingHoldings(db, none, 1, ms(0))
    const [before] = (await due()) as [Holding]
    expect(await storeHoldings(db, [{ before, after: outcome() }])).toBe(1)
    expect(await due()).toEqual([])
    expect(await due(500_000)).toEqual([{ ...before, ...outcome() }])
    const [then] = (await due(500_000)) as [Holding]
    await storeHoldings(db, [{ before: then, after: outcome({ reading: null, differing: 0, difference: 0n }) }])
    expect(await due(500_000)).toMatchObject([{ reading: null, differing: 0, difference: 0n }])
    expect(await storeHoldings(db, [])).toBe(0)
  })

  it.each([
    ['a transfer', () => storeTransfers(db, [transfer()], ms(99_000))],
    ['a transfer below the newest change', () => storeTransfers(db, [transfer(held(), { raw: 1n })], ms(99_000))],
    ['a sent transaction', () => appendStep(db, step({ sent: [sent(1)] }))],
    ['another comparison', () => db.prepare('UPDATE stored_holding SET due_at = 50').run()],
  ])('keep no comparison that was made before %s', async (_, change) => {
    await addMissingHoldings(db, none, 1, ms(0))
    await db.prepare('UPDATE stored_holding SET changed_height = 119').run()
    const [before] = (await due()) as [Holding]
    await change()
    expect(await storeHoldings(db, [{ before, after: outcome() }])).toBe(0)
    expect(await column(db, 'SELECT balance FROM holding')).toEqual([null])
  })

  it('cost as much with 100,000 addresses and a long history as with few', async () => {
    await addMissingHoldings(db, none, 9, ms(0))
    const costs = async (tx: number) => {
      const found = await measure(db, (metered) => selectDueHoldings(metered, cuy(1), ms(9), 3))
      const changes = found.result.map((before) => ({ before, after: outcome({ dueAt: ms(1) }) }))
      const stored = await measure(db, (metered) => storeHoldings(metered, changes))
      const payment = transfer(credited(), { txid: txid(tx) })
      const paid = await measure(db, (metered) => storeTransfers(metered, [payment], ms(10)))
      return [found.rows, stored.rows, paid.rows]
    }
    const few = await costs(1)
    await withoutTriggers(db, [
      `${numbers(100_000)} INSERT INTO stored_holding (cuy, address_id, due_at) SELECT 1, i + 999999, 5 FROM n`,
      `UPDATE stored_holding SET due_at = 5`,
    ])
    const many = await costs(2)
    expect(many.map((rows, i) => rows <= (few[i] ?? 0) + 8)).toEqual([true, true, true])
  })
})
