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

/** A caller. */
export const uid = (n: number) => n as Uid
/** A currency: 1 is TRX. */
export const cuy = (n: number) => n as CurrencyId
/** An amount in smallest units. */
export const amount = (n: bigint) => n as Amount
/** An instant. */
export const ms = (n: number) => n as UnixMs
/** A height. */
export const height = (n: number) => n as BlockHeight
/** The address at an index. It takes the place of derivation, which no query depends on. */
export const addressAt = (index: number) => (index + 0xa0).toString(16).padStart(40, '0') as Address
/** The n-th transaction. */
export const txid = (n: number) => n.toString(16).padStart(64, '0') as Txid
/** The block at a height. */
export const block = (n: number): BlockRef => ({ height: height(n), hash: `b${txid(n).slice(1)}` as BlockHash })
/** An address that is not the service's. */
export const stranger = 'f'.repeat(40) as Address
/** The numbers below `count`. */
export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Verdicts about a transfer to caller 1. */
export const seen = (seconds = 57): Verdict => ({ state: 'seen', uid: uid(1), seconds, node: 1 })
export const held = (reason: Exclude<HeldReason, 'review'> = 'retired'): Verdict => ({
  state: 'held',
  uid: uid(1),
  reason,
})
/** Held until a person has looked at it; then `units` are credited. */
export const inReview = (units = 5n): Verdict => ({
  state: 'held',
  uid: uid(1),
  reason: 'review',
  amount: amount(units),
})
export const refused: Verdict = { state: 'refused', uid: uid(1), reason: 'dust' }
export const moved: Verdict = { state: 'moved' }
export const credited = (units = 5n): Verdict => ({ state: 'credited', uid: uid(1), amount: amount(units) })

/** A transfer of 5 TRX to caller 1 at address 0, with this verdict and changes. */
export function transfer(
  verdict: Verdict = credited(),
  changes: Partial<TransferFacts & { uid: Uid }> = {},
): JudgedTransfer {
  const facts = { txid: txid(1), position: 0, block: block(101), cuy: cuy(1), native: true, from: stranger }
  return { ...facts, to: addressAt(0), raw: 5n, ...verdict, ...changes } as JudgedTransfer // safe: a change keeps the verdict
}

/** A transfer in the n-th transaction. */
export const nth = (n: number, verdict = credited(), changes: Parameters<typeof transfer>[1] = {}) =>
  transfer(verdict, { txid: txid(n), ...changes })
/** The place in a list below this transfer. */
export const below = (id: number) => id as TransferId

/** A transaction that address 0 has sent. */
export const sent = (n: number, changes: Partial<SentFact> = {}): SentFact => ({
  txid: txid(n),
  address: addressAt(0),
  height: height(101),
  cuy: cuy(1),
  ...changes,
})

/** A block that could not be agreed on. */
export const gap = (n: number): Gap => ({ height: height(n), kind: 'not-agreed' })

/** The step from block 100 to block 101 at time 2000, with changes. */
export function step(changes: Partial<ScanStep> = {}): ScanStep {
  const expected = { ...block(100), correctedBy: 0 }
  const found = { judged: [], sent: [], acts: [], gaps: [], payouts: noPayouts }
  return { expected, to: block(101), ...found, caughtUpAt: null, at: ms(2000), ...changes }
}

/** A read in which nothing has to do with payouts. */
export const noPayouts: ReadOfPayouts = {
  watched: new Set(),
  found: [],
  blocks: [],
  hasOpen: false,
  since: new Map(),
}

/** An empty database with the scan at block 100 of 120 since time 1000, and address `i` issued to `owners[i]`. */
export async function openDatabase(owners: readonly number[] = []): Promise<WriteDatabase> {
  const db = writable(await freshDatabase())
  await startScan(db, block(100), { ...block(120), timestamp: ms(900) }, ms(1000))
  await issue(db, owners)
  return db
}

/** Issues address `i` to `owners[i]`, from height 90 on. */
export async function issue(db: WriteDatabase, owners: readonly number[]): Promise<void> {
  const insert = db.prepare(
    'INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (?1 + 1, ?2, unhex(?3), 120, 0)',
  )
  if (owners.length > 0) await db.batch(owners.map((owner, index) => insert.bind(index, owner, addressAt(index))))
  await withoutTriggers(db, ['UPDATE stored_address SET issued_height = 90'])
}

/** Runs statements without triggers, to make a history in little time. */
export async function withoutTriggers(db: WriteDatabase, statements: readonly string[]): Promise<void> {
  type Trigger = { readonly name: string; readonly sql: string }
  const { results } = await db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all<Trigger>()
  await db.batch([
    ...results.map(({ name }) => db.prepare(`DROP TRIGGER ${name}`)),
    ...statements.map((sql) => db.prepare(sql)),
    ...results.map(({ sql }) => db.prepare(sql)),
  ])
}

/** Numbers from 1 to `count` as a table `n(i)`, for a bulk insert. */
export const numbers = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`

/** The result of some work with the database, the rows that it read, and its round trips. */
export async function measure<T>(db: WriteDatabase, work: (db: WriteDatabase) => Promise<T>) {
  const usage = createUsage()
  let trips = 0
  const counting = {
    prepare: (sql: string) => db.prepare(sql),
    batch: (statements: D1PreparedStatement[]) => db.batch(statements),
  }
  const clock = {
    now: () => {
      trips += 0.5 // at the begin and the end of each
      return ms(0)
    },
  }
  const result = await work(meterDatabase(writable(counting as WriteDatabase), usage, clock))
  return { result, rows: usage.rowsRead, trips }
}

/** The first column of all rows. */
export async function column<T>(db: WriteDatabase, sql: string): Promise<T[]> {
  return (await db.prepare(sql).raw<[T]>()).flat()
}
