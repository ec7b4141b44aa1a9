import { beforeEach, describe, expect, it } from 'vitest'
import type { BackendName } from '../../src/worker/common/ids.ts'
import type { HeldReason } from '../../src/worker/common/reasons.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeDecisions } from '../../src/worker/deposits/store/decisions.ts'
import { selectDeposits } from '../../src/worker/deposits/store/lists.ts'
import { removeDropped, storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import type { JudgedTransfer } from '../../src/worker/deposits/transfer.ts'
import { decideReview } from '../../src/worker/deposits/transitions.ts'
import {
  belowMinimum,
  block,
  column,
  credited,
  held,
  inReview,
  moved,
  ms,
  openDatabase,
  refused,
  seen,
  transfer,
  txid,
} from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase([1])
})

/** One text for each transfer: its state, reason and review. */
const rows = () => column(db, `SELECT concat_ws(' ', state, reason, review) FROM transfer ORDER BY id`)
const events = () => column(db, `SELECT concat_ws(' ', type, reason) FROM event ORDER BY id`)
const balance = () => column(db, 'SELECT balance FROM wallet')
const store = (...judged: JudgedTransfer[]) => storeTransfers(db, judged, ms(20))
/**
 * Stores a person's decision. `units` is the amount that a credit would have; with 0 the credit is
 * held for `reason`.
 */
const decide = async (decision: 'credit' | 'refuse', units = 0, reason: HeldReason = 'wallet-full') => {
  const [deposit] = await selectDeposits(db, [{ txid: txid(1), position: 0 }])
  if (deposit === undefined || deposit === null) throw new Error('no such transfer')
  const verdict =
    units > 0 ? ({ state: 'credited', amount: BigInt(units) } as const) : ({ state: 'held', reason } as const)
  const change = decideReview(deposit, decision, verdict, new Map())
  expect(await storeDecisions(db, [{ change, why: 'looked at' }], 'shop' as BackendName, ms(30))).toBe('stored')
}
const rescan = () =>
  db
    .prepare(`INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try)
      VALUES ('request', 90, 96, 90, 'why', 1, 1)`)
    .run()
/** The transfer of these tests in block 95, which `rescan` reads again. */
const early = (verdict: Parameters<typeof transfer>[0], changes = {}) =>
  transfer(verdict, { block: block(95), ...changes })

describe('a transfer that is held for review', () => {
  beforeEach(() => store(early(inReview())))

  it('waits, with an event, and credits nothing', async () => {
    expect(await rows()).toEqual(['held review open'])
    expect(await events()).toEqual(['deposit.held review'])
    expect(await balance()).toEqual([])
    expect(await column(db, 'SELECT amount FROM transfer')).toEqual([0])
  })

  it.each([
    ['credited', credited()],
    ['held for another reason', held('retired')],
    ['refused', refused],
    ['seen', seen()],
  ])('stays so if the scan finds it %s, also by a rescan', async (_, verdict) => {
    await rescan()
    await store(early(verdict))
    expect(await rows()).toEqual(['held review open'])
    expect(await balance()).toEqual([])
  })

  it('takes facts that are agreed later, and waits on', async () => {
    await store(early(credited(7n), { raw: 7n }))
    expect(await rows()).toEqual(['held review open'])
    expect(await column(db, 'SELECT raw FROM transfer')).toEqual(['7'])
  })

  it('has moved if its sender is an operator’s', async () => {
    await store(early(moved))
    expect(await rows()).toEqual(['moved open'])
  })

  it('is credited by the decision, in one batch, and never again', async () => {
    await decide('credit', 5)
    expect(await rows()).toEqual(['credited credit'])
    expect(await events()).toEqual(['deposit.held review', 'deposit.credited'])
    expect(await balance()).toEqual([5])
    await rescan()
    await store(early(inReview()), early(credited()))
    expect(await balance()).toEqual([5])
  })

  it('is refused by the decision, which no rescan undoes', async () => {
    await decide('refuse')
    expect(await rows()).toEqual(['refused review refuse'])
    expect(await events()).toEqual(['deposit.held review', 'deposit.refused review'])
    await rescan()
    for (const verdict of [credited(), inReview(), held('retired'), refused]) {
      await store(early(verdict))
      expect(await rows()).toEqual(['refused review refuse'])
    }
    await decide('credit', 5)
    expect(await rows()).toEqual(['credited credit'])
    expect(await column(db, 'SELECT decision FROM decision ORDER BY decision')).toEqual(['credit', 'refuse'])
  })

  it('that is to be credited and has no room is held for that, and credited without another review', async () => {
    await decide('credit', 0, 'wallet-full')
    expect(await rows()).toEqual(['held wallet-full credit'])
    await store(early(inReview()))
    expect(await rows()).toEqual(['credited credit'])
    expect(await balance()).toEqual([5])
  })

  it('that is to be credited is not refused by a minimum that was raised since', async () => {
    await decide('credit', 0, 'wallet-full')
    await store(early(belowMinimum))
    expect(await rows()).toEqual(['credited credit'])
    expect(await balance()).toEqual([5])
  })

  it('is not credited with an amount that the chain does not show', async () => {
    await decide('credit', 0, 'wallet-full')
    await store(early(belowMinimum, { raw: 1n }))
    expect(await rows()).toEqual(['refused below-minimum credit'])
    expect(await column(db, 'SELECT raw FROM transfer')).toEqual(['1'])
  })

  it('is still held for want of room where the wallet has none yet', async () => {
    await store(transfer(credited(9_007_199_254_740_990n), { txid: txid(2), raw: 9_007_199_254_740_990n }))
    await decide('credit', 0, 'wallet-full')
    await store(early(inReview()))
    expect(await rows()).toEqual(['held wallet-full credit', 'credited'])
  })
})

describe('a correction below a transfer that was held for review', () => {
  const correct = () =>
    db.prepare(`INSERT INTO correction (finalized, reason, created_at) VALUES (94, 'a wrong node', 40)`).run()
  const readAgain = async (verdict: Parameters<typeof transfer>[0]) => {
    await db.prepare('UPDATE scan SET finalized = 120').run()
    await store(early(verdict))
  }

  it('has its block read anew: it waits for the decision on', async () => {
    await store(early(inReview()))
    await correct()
    expect(await rows()).toEqual(['seen open'])
    await readAgain(credited())
    expect(await rows()).toEqual(['held review open'])
    expect(await events()).toEqual(['deposit.held review'])
  })

  it('keeps the decision', async () => {
    await store(early(inReview()))
    await decide('refuse')
    await correct()
    await readAgain(credited())
    expect(await rows()).toEqual(['refused review refuse'])
  })

  it('keeps it although it is in no block for a while', async () => {
    await store(early(inReview()))
    await decide('refuse')
    await correct()
    await db.prepare('UPDATE scan SET finalized = 120').run()
    await db.prepare('UPDATE scan SET height = 110, tried_at = 1e9').run()
    await db.prepare(`UPDATE stored_transfer SET state = 'dropped', version = version + 1, changed_at = 50`).run()
    await removeDropped(db, 10)
    expect(await rows()).toEqual(['dropped refuse'])
    await readAgain(credited())
    expect(await rows()).toEqual(['refused review refuse'])
  })
})
