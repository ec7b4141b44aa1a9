import { sql } from 'drizzle-orm'
import type { BlockHash, BlockHeight, Txid } from '../../chain/block.ts'
import type { CurrencyId, PayoutId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, ofHex, type ReadDatabase, resultRows, type WriteDatabase } from '../../d1/database.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { scans } from '../../d1/state-tables.ts'
import { addresses } from '../../d1/tables.ts'
import type { OtherOutflow, PayoutRow, TransactionRow } from '../lifecycle.ts'
import type { Head } from '../signed-bytes.ts'
import { isUnresolved } from './facts.ts'
import {
  type InsertedTransaction,
  insertTransactions,
  isPayoutOvertaken,
  otherOutflow,
  readAgainFor,
  readOther,
  selectByTxids,
  updatePayouts,
  updateTransactions,
} from './rows.ts'

export interface OfferedPayout {
  readonly payout: PayoutRow
  /** Another transaction that may already have paid the payout. */
  readonly other: OtherOutflow | null
}

/**
 * A currency whose payouts may leave, and the most that the payout address can pay at once, in
 * chain units; null if nobody knows.
 */
export interface OpenCurrency {
  readonly cuy: CurrencyId
  readonly most: string | null
}

/**
 * Most approved payouts of a currency that one offer looks at. Behind as many that are beyond what
 * the address holds, a smaller one waits for them.
 */
const lookedAtMax = 500

/**
 * Reads the approved payouts of these currencies with an id above `after`, oldest first, and the
 * newest final block. Those to a user are left out, and those that are beyond the most that can be
 * paid: a page is full as long as there are more.
 */
export async function selectOffer(
  db: ReadDatabase,
  currencies: readonly OpenCurrency[],
  after: PayoutId | 0,
  max: number,
): Promise<{ readonly offered: readonly OfferedPayout[]; readonly head: Head | null }> {
  const [approved, heads] = await db.batch([
    selectApproved(db, { currencies: JSON.stringify(currencies), after, max, among: lookedAtMax }),
    selectHead(db, {}),
  ])
  const rows = resultRows<PayoutRow & { readonly other: string | null }>(approved)
  return {
    offered: rows.map(({ other, ...payout }) => {
      return { payout, other: readOther(other) }
    }),
    head: readHead(resultRows<HeadRow>(heads)),
  }
}

/** The stored facts by which signed transactions are judged. */
export interface SigningFacts {
  readonly head: Head | null
  /** The newest block that the scan has stored. */
  readonly position: BlockHeight | null
  readonly payouts: ReadonlyMap<PayoutId, SignablePayout>
  /** The stored transactions that have one of the requested txids. */
  readonly transactions: ReadonlyMap<Txid, TransactionRow>
}

/** A payout, with the facts that can keep it from having a new transaction. */
export interface SignablePayout {
  readonly payout: PayoutRow
  /** Whether a transaction of the payout can still be mined. */
  readonly hasOpen: boolean
  /**
   * Whether a transaction of the payout succeeded late, after the payout had gone on without it
   * (with another transaction, or cancelled).
   */
  readonly hasPaidLate: boolean
  /** Whether the recipient's address of the payout has since been issued to a user here. */
  readonly isToUser: boolean
}

/**
 * Reads the facts about these payouts and these signed transactions, in one round trip. A txid is
 * null if its bytes are no message.
 */
export async function selectSigningFacts(
  db: ReadDatabase,
  ids: readonly number[],
  txids: readonly (Txid | null)[],
): Promise<SigningFacts> {
  const [found, known, heads] = await db.batch([
    selectSignable(db, { ids: JSON.stringify(ids) }),
    selectByTxids(db, { txids: JSON.stringify(txids) }),
    selectHead(db, {}),
  ])
  const rows = resultRows<SignableRow>(found)
  const transactions = resultRows<TransactionRow>(known)
  const [head] = resultRows<HeadRow>(heads)
  return {
    head: readHead(resultRows<HeadRow>(heads)),
    position: head?.position ?? null,
    payouts: new Map(
      rows.map(({ hasOpen, hasPaidLate, isToUser, ...payout }) => [
        payout.id,
        { payout, hasOpen: hasOpen === 1, hasPaidLate: hasPaidLate === 1, isToUser: isToUser === 1 },
      ]),
    ),
    transactions: new Map(transactions.map((row) => [row.txid, row])),
  }
}

type SignableRow = PayoutRow & Readonly<Record<'hasOpen' | 'hasPaidLate' | 'isToUser', 0 | 1>>

/**
 * The rows of an accepted transaction. `inserted`: it had no row. `opened`: it had one, because a
 * block contained it before its bytes were handed in.
 */
export type TakenTransaction = {
  readonly payout: PayoutRow
} & (
  | { readonly inserted: InsertedTransaction }
  | { readonly opened: TransactionRow; readonly foundAt: BlockHeight | null }
)

/**
 * Stores accepted transactions, all or none, and has blocks read again that may contain them.
 * `overtaken`: a row has changed since the decision.
 */
export async function storeTaken(
  db: WriteDatabase,
  taken: readonly TakenTransaction[],
  at: UnixMs,
): Promise<'stored' | 'overtaken'> {
  const inserted = taken.flatMap((one) => ('inserted' in one ? [one.inserted] : []))
  const opened = taken.flatMap((one) => ('opened' in one ? [one] : []))
  // A block may contain it that was read before its bytes were stored, or whose gap was closed
  // while nobody had them.
  const unplaced = [...inserted, ...opened.flatMap((one) => (one.foundAt === null ? [one.opened] : []))]
  const lowest = Math.min(...unplaced.map(({ reference }) => reference ?? Number.POSITIVE_INFINITY))
  try {
    await db.batch([
      // The request to read blocks again comes first: a trigger refuses a transaction whose blocks
      // are not read again.
      ...(unplaced.length === 0 ? [] : [readAgainFor(db, lowest + 1, null, at)]),
      ...opened.flatMap(({ foundAt }) => (foundAt === null ? [] : [readAgainFor(db, foundAt, foundAt, at)])),
      ...insertTransactions(db, inserted),
      ...updateTransactions(
        db,
        opened.map((one) => one.opened),
      ),
      ...updatePayouts(
        db,
        taken.map(({ payout }) => payout),
      ),
    ])
    return 'stored'
  } catch (cause) {
    if (isPayoutOvertaken(cause)) return 'overtaken'
    throw cause
  }
}

interface HeadRow {
  readonly height: Head['height']
  readonly hash: BlockHash | null
  readonly timestamp: UnixMs
  readonly position: BlockHeight
}

/**
 * Null after an operator has lowered the finalized height, because the hash and the timestamp of
 * the block at that height are not known.
 */
function readHead([row]: readonly HeadRow[] = []): Head | null {
  if (row === undefined || row.hash === null || row.timestamp === 0) return null
  return { height: row.height, hash: row.hash, timestamp: row.timestamp }
}

const selectHead = fixedStatement(sql`
SELECT ${scans.finalized} AS height, ${scans.finalized_hash} AS hash, ${scans.finalized_time} AS timestamp,
  ${scans.height} AS position FROM ${scans}`)

const { id, cuy, state } = payouts
const t = payoutTransactions
const max = sql.placeholder('max')
const isToUser = sql`EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(payouts.to_address)})`

/**
 * The index is in the order of ids only within one state and currency, so the oldest rows of each
 * currency are read.
 */
const selectApproved = fixedStatement<'currencies' | 'after' | 'max' | 'among'>(sql`
SELECT ${payouts}.*, ${otherOutflow} AS other FROM json_each(${sql.placeholder('currencies')}) AS currency
CROSS JOIN ${payouts} ON ${id} IN (
  SELECT oldest.id FROM (
    SELECT ${id} AS id, ${payouts.raw} AS raw FROM ${payouts} INDEXED BY payout_state
    WHERE ${state} = 'approved' AND ${cuy} = currency.value ->> 'cuy' AND ${id} > ${sql.placeholder('after')}
      AND NOT ${isToUser}
    ORDER BY ${id} LIMIT ${sql.placeholder('among')}) AS oldest
  WHERE currency.value ->> 'most' IS NULL OR length(oldest.raw) < length(currency.value ->> 'most')
    OR (length(oldest.raw) = length(currency.value ->> 'most') AND oldest.raw <= currency.value ->> 'most')
  LIMIT ${max})
ORDER BY ${id} LIMIT ${max}`)

const selectSignable = fixedStatement<'ids'>(sql`
SELECT ${payouts}.*,
  EXISTS (SELECT 1 FROM ${t} INDEXED BY payout_transaction_payout WHERE ${t.payout_id} = ${id}
    AND ${t.ended} IS NULL) AS "hasOpen",
  EXISTS (SELECT 1 FROM ${t} INDEXED BY payout_transaction_payout WHERE ${t.payout_id} = ${id} AND ${isUnresolved})
    AS "hasPaidLate",
  ${isToUser} AS "isToUser"
FROM ${payouts} WHERE ${id} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`)
