import { beforeEach, expect, it } from 'vitest'
import { countedMax } from '../../src/worker/common/counted.ts'
import type { EventId, PayoutId } from '../../src/worker/common/ids.ts'
import { payoutStates } from '../../src/worker/common/payout-states.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { orderRowsMax } from '../../src/worker/ledger/store/entries.ts'
import { selectCompared, selectLeavingFacts } from '../../src/worker/payouts/store/facts.ts'
import {
  type PayoutSelection,
  selectOpenSums,
  selectPayoutPage,
  selectTroubles,
} from '../../src/worker/payouts/store/lists.ts'
import { insertPayouts, selectPayoutRequestFacts } from '../../src/worker/payouts/store/payout-requests.ts'
import { selectWithOutflows, storeDecided } from '../../src/worker/payouts/store/rows.ts'
import { selectOffer, selectSigningFacts } from '../../src/worker/payouts/store/signing.ts'
import { claimDue, selectConcerned, selectExpired, selectUntaken } from '../../src/worker/payouts/store/transactions.ts'
import { selectWork } from '../../src/worker/scan/store/work.ts'
import { addressAt, cuy, measure, ms, numbers, openDatabase, stranger, txid, uid, withoutTriggers } from './fixtures.ts'

let db: WriteDatabase
beforeEach(async () => {
  db = await openDatabase([1, 2])
})

const now = 20_000 * 86_400_000
const minute = 60_000

/**
 * Stores `count` payouts of ten users in two currencies, one each minute until now. The newest 120
 * are in the four open states, 30 in each; the older ones are paid or cancelled.
 */
async function fill(count: number): Promise<void> {
  const state = `iif(${count} - i < 120, '["waiting","approved","signed","stuck"]' ->> (i % 4), iif(i % 3, 'paid', 'cancelled'))`
  await withoutTriggers(db, [
    'DELETE FROM payout',
    'DELETE FROM payout_transaction',
    'DELETE FROM payout_hour',
    'DELETE FROM payout_sum',
    'DELETE FROM stored_event',
    `${numbers(count)} INSERT INTO payout (id, uid, cuy, osn, amount, fee, to_address, contract, raw, mark, posted_by,
        created_at, changed_at, state, approved_by, approved_at, counted, attempts, attempts_max, txid, expires_at,
        height, reason, cancelled_by, why)
      SELECT i, 1 + i % 10, 1 + i % 2, 'o' || i, 5, 0, '${stranger}', '', '5', '', 'shop',
        ${now} - ${minute} * (${count} - i), ${now} - ${minute} * (${count} - i),
        state, iif(state = 'waiting', NULL, ''), iif(state = 'waiting', NULL, ${now} - ${minute} * (${count} - i)),
        state NOT IN ('waiting', 'cancelled'),
        iif(state = 'stuck', 1, 0), 3, iif(state IN ('signed', 'paid', 'stuck'), printf('%064x', i), NULL),
        iif(state IN ('signed', 'paid', 'stuck'), ${now} + 9, NULL), iif(state IN ('paid', 'stuck'), 90, NULL),
        iif(state = 'stuck', 'failed', NULL),
        iif(state = 'cancelled', 'shop', NULL), iif(state = 'cancelled', 'x', NULL)
      FROM (SELECT i, ${state} AS state FROM n)`,
    `INSERT INTO payout_transaction (txid, address, payout_id, bytes, reference, expires_at, changed_at, next_send,
      height, succeeded, moved, ended)
      SELECT txid, '${addressAt(40)}', id, 'ab', 80, expires_at, changed_at, 0, height,
        iif(height IS NULL, NULL, state = 'paid'),
        iif(height IS NULL, NULL, '[]'), iif(state = 'signed', NULL, iif(state = 'paid', 'paid', 'failed')) FROM payout
          WHERE txid IS NOT NULL`,
    `INSERT INTO payout_hour SELECT cuy, owner.value, approved_at / 3600000, sum(amount), count(*)
      FROM payout, json_each(json_array(0, uid)) AS owner
      WHERE counted AND approved_at > ${now} - 48 * 60 * ${minute} GROUP BY 1, 2, 3`, // older ones are removed
    `INSERT INTO payout_sum SELECT state, cuy, count(*), sum(amount) FROM payout WHERE state NOT IN ('paid', 'cancelled') GROUP BY 1, 2`,
    `INSERT INTO stored_event (id, type, uid, created_at, about) SELECT (SELECT id FROM last_event) + id, 'payout.paid', uid, created_at, '{}' FROM payout`,
    `UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM payout) WHERE name = 'payout'`,
    'DELETE FROM stored_flow',
    'UPDATE wallet SET balance = 1000000, entry_count = 0, newest_entry = 0',
  ])
}

const payer = addressAt(40)
const key = { uid: uid(1), cuy: cuy(2), osn: 'new', fee: 0, to_address: stranger }
/** Both currencies, of which the address holds whatever is asked for. */
const currencies = [1, 2].map((one) => ({ cuy: cuy(one), most: null }))
const limits = { limit_each: 100, limit_least: 0, limit_day: 1e9, limit_count: 1e6, limit_user: 1e9 }
const asked = { ...key, amount: 5, contract: '', raw: '5', mark: '', proof: null, posted_by: 'shop' } as const
const approved = {
  ...limits,
  state: 'approved',
  approved_by: '',
  approved_at: ms(now),
  counted: true,
  attempts_max: 3,
} as const
const lists: readonly PayoutSelection[] = [
  {},
  ...payoutStates.map((state) => ({ state })),
  { cuy: cuy(2) },
  { state: 'paid', cuy: cuy(1) },
  { uid: uid(1) },
  { uid: uid(1), state: 'stuck' },
  { uid: uid(1), cuy: cuy(2) },
  { uid: uid(3), state: 'waiting', cuy: cuy(2) },
  { osn: 'o500' },
  { txid: txid(500) },
]

/** Each query about payouts, by what it is for. */
const works: Readonly<Record<string, (metered: WriteDatabase) => Promise<unknown>>> = {
  payoutRequest: (metered) => selectPayoutRequestFacts(metered, [key], ms(now)),
  'asking, the write': (metered) =>
    // safe: unbranded values
    insertPayouts(metered, [{ ...asked, ...approved, created_at: ms(now), changed_at: ms(now) } as never]),
  'what may leave': (metered) => selectLeavingFacts(metered, payer),
  'the offer to the signer': (metered) => selectOffer(metered, currencies, 0, 100),
  'what is handed in': (metered) => selectSigningFacts(metered, [500], [txid(500)]),
  'a decision of a person': async (metered) => {
    const [one] = (await selectWithOutflows(metered, [500])).values()
    return one === undefined ? null : storeDecided(metered, [])
  },
  'what a tick has to do': (metered) => selectWork(metered, { now: ms(now), eventsKeepDays: 90 }),
  'what is compared after a restore': (metered) => selectCompared(metered, 500 as EventId),
  'what a block concerns': (metered) => selectConcerned(metered, [txid(500)], ms(now)),
  'what has expired': (metered) => selectExpired(metered, 100),
  'the sums of what is open': selectOpenSums,
  'what alarms are about': (metered) => selectTroubles(metered, [cuy(1), cuy(2)], ms(now), 50),
  'what nodes have said': (metered) => selectUntaken(metered, { sentBefore: ms(now), minedMs: 10_000, max: 50 }),
  'what is sent': (metered) =>
    claimDue(metered, { now: ms(now), stopped: [], underway: [], marginMs: 0, max: 20 }, [1_000]),
  ...Object.fromEntries(
    lists.map((selection) => [
      `the list ${JSON.stringify(selection)}`,
      (metered: WriteDatabase) =>
        selectPayoutPage(metered, { ...selection, before: 800 as PayoutId }, [cuy(1), cuy(2)], 20, countedMax),
    ]),
  ),
}

const selections = [undefined, uid(1), uid(7)].flatMap((owner) =>
  [undefined, 'same', 'o9'].flatMap((osn) =>
    [undefined, stranger].flatMap((to) =>
      [undefined, cuy(1)].flatMap((currency) =>
        ([undefined, 'paid', 'stuck'] as const).flatMap((state) =>
          ([undefined, 0] as const).map(
            (after): PayoutSelection => ({ uid: owner, osn, to, cuy: currency, state, after }),
          ),
        ),
      ),
    ),
  ),
)

/**
 * Stores `count` payouts to one recipient. Every second one has an `osn` that other users' have
 * too; the others are user 1's. All but the oldest 40 are paid, in currency 2.
 */
async function fillSame(count: number): Promise<void> {
  await fill(count)
  await withoutTriggers(db, [
    `UPDATE payout SET uid = iif(id % 2, id, 1), osn = iif(id % 2, 'same', 'o' || id),
      cuy = iif(id <= 40, 1 + id % 4 / 2, 2), state = 'paid',
      txid = printf('%064x', id), expires_at = 1, height = 90, reason = NULL, cancelled_by = NULL, why = NULL,
      approved_by = '', approved_at = 0`,
    `UPDATE payout SET state = 'stuck', reason = 'failed' WHERE id <= 40 AND id % 8 < 4`,
  ])
}

it('what a list of payouts reads is for what it shows, whoever else has the same order or recipient', async () => {
  const costs: Record<string, number>[] = []
  for (const count of [4_000, 20_000]) {
    await fillSame(count)
    const rows: Record<string, number> = {}
    for (const selection of selections) {
      const { uid: owner, osn, to } = selection
      const list = (metered: WriteDatabase) =>
        selectPayoutPage(
          metered,
          selection,
          selection.cuy === undefined ? [cuy(1), cuy(2)] : [selection.cuy],
          20,
          countedMax,
        )
      const { result, rows: read } = await measure(db, list)
      rows[JSON.stringify(selection)] = read
      const found = await matching(selection)
      expect([selection, result.list.map(({ payout }) => payout.id)]).toEqual([selection, found.slice(0, 20)])
      expect(result.count).toBe(Math.min(found.length, countedMax))
      const isSearched = owner === undefined && osn !== undefined && to !== undefined
      expect(read).toBeLessThanOrEqual(isSearched ? 9 * orderRowsMax : 200 + 2 * Math.min(found.length, countedMax))
    }
    costs.push(rows)
  }
  // A state and currency without further ids costs a row less, so some rows depend on where the ids
  // are.
  for (const [selection, read] of Object.entries(costs[1] ?? {})) {
    expect([selection, Math.abs(read - (costs[0]?.[selection] ?? 0)) <= 20]).toEqual([selection, true])
  }
})

/**
 * Stores `count` more transactions that no payout names: each has moved 6 units to the recipient of
 * all payouts, which are of 5.
 */
async function fillUnnamed(count: number): Promise<void> {
  await db
    .prepare(`${numbers(count)} INSERT INTO payout_transaction (txid, address, changed_at, height, succeeded, moved,
      ended, next_send)
      SELECT lower(hex(randomblob(32))), ?1, 1, 90, 1, json_array(json_object('contract', '', 'to', ?2, 'raw', '6')),
        'unknown', 0 FROM n`)
    .bind(payer, stranger)
    .run()
}

it('what the offer, a decision, a hand-in, a sending and alarms read is the same beside 6,000 transactions that no payout names', async () => {
  await fill(1_020)
  const concerned = [
    'what may leave',
    'the offer to the signer',
    'what is handed in',
    'a decision of a person',
    'what alarms are about',
    'what is sent',
  ]
  const rowsNow = () =>
    Promise.all(concerned.map(async (name) => (await measure(db, works[name] ?? Promise.reject)).rows))
  await fillUnnamed(60)
  const few = await rowsNow()
  for (const excused of [null, 'a test']) {
    await fillUnnamed(6_000)
    await db
      .prepare(`UPDATE payout_transaction SET version = version + 1, excused = ?1 WHERE ended = 'unknown'`)
      .bind(excused)
      .run()
    const many = await rowsNow()
    expect(concerned.filter((_, i) => (many[i] ?? 0) > (few[i] ?? 0))).toEqual([])
  }
  const { offered } = await selectOffer(db, currencies, 0, 100)
  expect(offered.map(({ other }) => other)).toEqual(offered.map(() => null))
})

/**
 * The ids of the payouts that a selection matches, in its order: found without an index, and
 * without a limit.
 */
async function matching({
  uid: owner,
  osn,
  to,
  cuy: currency,
  state,
  after,
}: PayoutSelection): Promise<readonly number[]> {
  const { results } = await db
    .prepare(`SELECT id FROM payout NOT INDEXED WHERE uid = coalesce(?1, uid) AND osn = coalesce(?2, osn)
      AND to_address = coalesce(?3, to_address)
      AND cuy = coalesce(?4, cuy) AND state = coalesce(?5, state) ORDER BY id DESC`)
    .bind(owner ?? null, osn ?? null, to ?? null, currency ?? null, state ?? null)
    .all<{ id: number }>()
  const ids = results.map(({ id }) => id)
  return after === undefined ? ids : ids.reverse()
}

/** The number of rows that each of `works` reads, with a history of `count` payouts. */
async function rowsWith(count: number): Promise<Readonly<Record<string, number>>> {
  await fill(count)
  const rows: Record<string, number> = {}
  for (const [name, work] of Object.entries(works)) rows[name] = (await measure(db, work)).rows
  return rows
}

it('what is read of payouts is the same with 100,000 of them as with a few thousand', async () => {
  await withoutTriggers(db, [
    `INSERT INTO wallet (id, uid, cuy, balance, entry_count, newest_entry) VALUES (1, 1, 2, 1000000, 0, 0)`,
  ])
  const small = await rowsWith(1_020)
  const few = await rowsWith(30 * countedMax) // as many as are counted at most, in every state
  const many = await rowsWith(100_020)
  expect(Object.entries(many).filter(([name, rows]) => Math.abs(rows - (few[name] ?? 0)) > 5)).toEqual([])
  expect(Object.entries(many).filter(([, rows]) => rows > 5 * countedMax)).toEqual([])
  const grown = Object.entries(many).filter(([name, rows]) => rows - (small[name] ?? 0) > 3 * countedMax)
  expect(grown).toEqual([])
})
