import type { Address } from '../../src/worker/chain/address.ts'
import type { BlockHash, BlockHeight, BlockRef, Txid } from '../../src/worker/chain/block.ts'
import type { Amount } from '../../src/worker/common/amount.ts'
import type { CurrencyId, TransferId, Uid } from '../../src/worker/common/ids.ts'
import type { HeldReason } from '../../src/worker/common/reasons.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { type WriteDatabase, writable } from '../../src/worker/d1/database.ts'
import { meterDatabase } from '../../src/worker/d1/sessions.ts'
import type { JudgedTransfer, SentFact, TransferFacts, Verdict } from '../../src/worker/deposits/transfer.ts'
import type { ReadOfPayouts } from '../../src/worker/payouts/conclusions.ts'
import { createUsage } from '../../src/worker/platform/usage.ts'
import type { Gap } from '../../src/worker/scan/rescan.ts'
import { startScan } from '../../src/worker/scan/store/position.ts'
import type { ScanStep } from '../../src/worker/scan/store/steps.ts'
import { freshDatabase } from '../support/database.ts'

/**
 * `uid`, `cuy` (1 is TRX), `amount` (in smallest units), `ms` (since 1970) and `height` brand a
 * number without a check.
 */
export const uid = (n: number) => n as Uid
export const cuy = (n: number) => n as CurrencyId
export const amount = (n: bigint) => n as Amount
export const ms = (n: number) => n as UnixMs
export const height = (n: number) => n as BlockHeight
/** A made-up address for each index: no query depends on how addresses are derived. */
export const addressAt = (index: number) => (index + 0xa0).toString(16).padStart(40, '0') as Address
export const txid = (n: number) => n.toString(16).padStart(64, '0') as Txid
/** The block at a height, with a made-up hash. */
export const block = (n: number): BlockRef => ({ height: height(n), hash: `b${txid(n).slice(1)}` as BlockHash })
/** An address that was not issued by the service. */
export const stranger = 'f'.repeat(40) as Address
/** The list 0, 1, … up to `count − 1`. */
export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/**
 * Verdicts, all about a transfer to caller 1. `seen`: its block is not final, and will be final in
 * about `seconds`.
 */
export const seen = (seconds = 57): Verdict => ({ state: 'seen', uid: uid(1), seconds, node: 1 })
/** Held for a reason other than review. */
export const held = (reason: Exclude<HeldReason, 'review'> = 'retired'): Verdict => ({
  state: 'held',
  uid: uid(1),
  reason,
})
/** Held for review: once a person approves, `units` are credited. */
export const inReview = (units = 5n): Verdict => ({
  state: 'held',
  uid: uid(1),
  reason: 'review',
  amount: amount(units),
})
export const refused: Verdict = { state: 'refused', uid: uid(1), reason: 'dust', amount: amount(0n) }
export const belowMinimum: Verdict = { state: 'refused', uid: uid(1), reason: 'below-minimum', amount: amount(5n) }
export const moved: Verdict = { state: 'moved' }
/** Credited with `units`, which may be less than the transfer's raw amount. */
export const credited = (units = 5n): Verdict => ({ state: 'credited', uid: uid(1), amount: amount(units) })

/**
 * A judged transfer of 5 TRX to caller 1 at address 0 in block 101. `changes` replace facts, not
 * the verdict.
 */
export function transfer(
  verdict: Verdict = credited(),
  changes: Partial<TransferFacts & { uid: Uid }> = {},
): JudgedTransfer {
  const facts = { txid: txid(1), position: 0, block: block(101), cuy: cuy(1), native: true, from: stranger }
  // safe: `changes` have no verdict
  return { ...facts, to: addressAt(0), raw: 5n, ...verdict, ...changes } as JudgedTransfer
}

/** A transfer as `transfer` makes it, in the transaction `txid(n)`. */
export const nth = (n: number, verdict = credited(), changes: Parameters<typeof transfer>[1] = {}) =>
  transfer(verdict, { txid: txid(n), ...changes })
/** The cursor of a list whose next page begins below the transfer with this id. */
export const below = (id: number) => id as TransferId

/** A TRX transaction that address 0 sent in block 101. Its fee was taken from the address. */
export const sent = (n: number, changes: Partial<SentFact> = {}): SentFact => ({
  txid: txid(n),
  address: addressAt(0),
  height: height(101),
  cuy: cuy(1),
  ...changes,
})

/** A block on which the nodes did not agree. */
export const gap = (n: number): Gap => ({ height: height(n), kind: 'not-agreed' })

/**
 * A step of the scan from block 100 to block 101 at time 2000, which found nothing. `changes`
 * replace its parts.
 */
export function step(changes: Partial<ScanStep> = {}): ScanStep {
  const expected = { ...block(100), correctedBy: 0 }
  const found = { judged: [], sent: [], acts: [], gaps: [], payouts: noPayouts }
  return { expected, to: block(101), ...found, caughtUpAt: null, at: ms(2000), ...changes }
}

/** What a step of the scan reports about payouts where there are none. */
export const noPayouts: ReadOfPayouts = {
  watched: new Set(),
  found: [],
  blocks: [],
  hasOpen: false,
  since: new Map(),
  shared: new Set(),
}

/**
 * An empty database whose scan stands at block 100, with block 120 final. Address `i` is issued to
 * the caller `owners[i]`.
 */
export async function openDatabase(owners: readonly number[] = []): Promise<WriteDatabase> {
  const db = writable(await freshDatabase())
  await startScan(db, block(100), { ...block(120), timestamp: ms(900) }, ms(1000))
  await issue(db, owners)
  return db
}

/**
 * Issues address `i` to the caller `owners[i]`, at height 90. A trigger demands the finalized
 * height, 120, so the heights are lowered afterwards.
 */
export async function issue(db: WriteDatabase, owners: readonly number[]): Promise<void> {
  const insert = db.prepare(
    'INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (?1 + 1, ?2, unhex(?3), 120, 0)',
  )
  if (owners.length > 0) await db.batch(owners.map((owner, index) => insert.bind(index, owner, addressAt(index))))
  await withoutTriggers(db, ['UPDATE stored_address SET issued_height = 90'])
}

/**
 * Runs statements while all triggers are dropped: a long history is stored quickly, and rows that
 * triggers would refuse are possible.
 */
export async function withoutTriggers(db: WriteDatabase, statements: readonly string[]): Promise<void> {
  type Trigger = { readonly name: string; readonly sql: string }
  const { results } = await db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all<Trigger>()
  await db.batch([
    ...results.map(({ name }) => db.prepare(`DROP TRIGGER ${name}`)),
    ...statements.map((sql) => db.prepare(sql)),
    ...results.map(({ sql }) => db.prepare(sql)),
  ])
}

/** The head of an SQL statement: a table `n(i)` with the numbers from 1 to `count`. */
export const numbers = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`

/**
 * Runs `work`; returns its result with the rows that D1 counts as read and the number of round
 * trips.
 */
export async function measure<T>(db: WriteDatabase, work: (db: WriteDatabase) => Promise<T>) {
  const usage = createUsage()
  let trips = 0
  const counting = {
    prepare: (sql: string) => db.prepare(sql),
    batch: (statements: D1PreparedStatement[]) => db.batch(statements),
  }
  const clock = {
    now: () => {
      trips += 0.5 // called at the beginning and at the end of each round trip
      return ms(0)
    },
  }
  const result = await work(meterDatabase(writable(counting as WriteDatabase), usage, clock))
  return { result, rows: usage.rowsRead, trips }
}

/** The first column of each row of a query's result. */
export async function column<T>(db: WriteDatabase, sql: string): Promise<T[]> {
  return (await db.prepare(sql).raw<[T]>()).flat()
}

/**
 * Measures how a database grows. Each call returns the bytes of each of `count` things that were
 * stored since the call before, or since this one.
 */
export async function growthOf(db: WriteDatabase, count: number): Promise<() => Promise<number>> {
  const bytes = async () => (await db.prepare('SELECT 1').run()).meta.size_after
  let before = await bytes()
  return async () => {
    const now = await bytes()
    const each = (now - before) / count
    before = now
    return each
  }
}
