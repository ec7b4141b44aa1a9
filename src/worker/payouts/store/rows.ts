import { type SQL, sql } from 'drizzle-orm'
import type { BlockHeight } from '../../chain/block.ts'
import type { PayoutId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  bareList,
  columnName,
  fixedStatement,
  isRefusedBy,
  memberList,
  type ReadDatabase,
  toJsonTexts,
  type WriteDatabase,
} from '../../d1/database.ts'
import { payouts, payoutTransactions, unnamedOutflows } from '../../d1/payout-tables.ts'
import { rescans, scans } from '../../d1/state-tables.ts'
import type { OtherOutflow, Outflows, Pair, PayoutRow, TransactionRow } from '../lifecycle.ts'
import { readOutflows } from '../outflow.ts'

// The rows of payouts and of their transactions: the statements that change them, and what has left
// for a payout.

/**
 * The most rows in one JSON text. The longest row takes about 5 kB, and D1 binds texts up to 2 MB.
 */
const rowsMax = 200

/**
 * Rules of triggers and CHECKs that refuse a decision because something has changed since it was
 * made. The caller must decide again.
 */
const overtakenRules = [
  ...['payout: already asked for', 'payout: an entry has its key', 'payout: another version', 'payout: no such step'],
  ...[
    'payout: it is not within its limits',
    'payout: its money would stay here',
    'payout: its money may not leave now',
    'payout: its money may not be given back now',
    // or what a late transaction has moved was stored in between
    "payout: only a person's approval changes who approved it",
  ],
  ...['payout: it may not be asked for now', 'payout: the decimals of its token are not agreed on'],
  ...['payout_transaction: already stored', 'payout_transaction: another version', 'payout_transaction: no such step'],
  ...['payout_transaction: its payout is not to be signed', 'payout_transaction: its money may not leave now'],
  ...['payout_transaction: its reference block is not final', 'payout_transaction: blocks are not read again'],
  ...['payout_transaction: its block is not read again', 'payout_transaction: it can still be in a block'],
  ...['payout_transaction: the scan is halted', 'payout_transaction: its bytes may not be taken now'],
  'rescan: blocks above the position are not read yet', // a correction has come in between
]

/**
 * Whether a batch failed because a payout or a transaction has changed since the decision, so that
 * it must be decided again.
 */
export const isPayoutOvertaken = (cause: unknown) => overtakenRules.some((rule) => isRefusedBy(rule, cause))

/**
 * Statements that update payouts. Each row must still have the version on which the decision rests.
 */
export function updatePayouts(db: WriteDatabase, rows: readonly PayoutRow[]): readonly D1PreparedStatement[] {
  return toJsonTexts(rows, rowsMax).map((list) => changePayouts(db, { rows: list }))
}

/**
 * Statements that update transactions. Each row must still have the version on which the decision
 * rests.
 */
export function updateTransactions(db: WriteDatabase, rows: readonly TransactionRow[]): readonly D1PreparedStatement[] {
  return toJsonTexts(rows, rowsMax).map((list) => changeTransactions(db, { rows: list }))
}

export type InsertedTransaction = Pick<TransactionRow, (typeof insertedNames)[number]>

/**
 * Statements that store new transactions: those that a signer has handed in, and those without a
 * payout that the scan has found in blocks.
 */
export function insertTransactions(
  db: WriteDatabase,
  rows: readonly InsertedTransaction[],
): readonly D1PreparedStatement[] {
  return toJsonTexts(rows, rowsMax).map((list) => addTransactions(db, { rows: list }))
}

/**
 * Statements that store lists of changes, one list after the other. Within a list transactions come
 * first, because triggers compare a payout with its transactions.
 */
export function pairStatements(
  db: WriteDatabase,
  rounds: readonly (readonly Pair[])[],
): readonly D1PreparedStatement[] {
  return rounds.flatMap((pairs) => [
    ...updateTransactions(
      db,
      pairs.map(({ transaction }) => transaction),
    ),
    ...updatePayouts(
      db,
      pairs.flatMap(({ payout }) => payout ?? []),
    ),
  ])
}

/**
 * The statement that has the blocks from `from` to `to` read again, because they may contain a
 * transaction that was handed in after these blocks were read. If `to` is null, the last block is
 * the one at the scan's position.
 */
export function readAgainFor(db: WriteDatabase, from: number, to: BlockHeight | null, at: UnixMs): D1PreparedStatement {
  return insertRescan(db, { from, to, at })
}

/** A payout, with the money that has left for it, or may have left for it. */
export interface PayoutWithOutflows {
  readonly payout: PayoutRow
  readonly outflows: Outflows
}

/** Reads the payouts with these ids. Ids that do not exist are left out. */
export async function selectWithOutflows(
  db: ReadDatabase,
  ids: readonly number[],
): Promise<ReadonlyMap<PayoutId, PayoutWithOutflows>> {
  const { results } = await selectByIds(db, { ids: JSON.stringify(ids) }).all<
    PayoutRow & { readonly other: string | null; readonly isUnread: 0 | 1 }
  >()
  return new Map(
    results.map(({ other, isUnread, ...payout }) => {
      const newest = payout.moved === null ? [] : readOutflows(payout.moved)
      return [payout.id, { payout, outflows: { newest, other: readOther(other), isUnread: isUnread === 1 } }]
    }),
  )
}

/** Reads what `otherOutflow` has made. */
// safe: it has this form
export const readOther = (text: string | null) => (text === null ? null : (JSON.parse(text) as OtherOutflow))

/**
 * Stores persons' decisions, all or none. `overtaken`: a payout has changed since; `wallet-full`:
 * the wallet has no room for the refund.
 */
export async function storeDecided(
  db: WriteDatabase,
  rows: readonly PayoutRow[],
): Promise<'stored' | 'overtaken' | 'wallet-full'> {
  if (rows.length === 0) return 'stored'
  try {
    await db.batch([...updatePayouts(db, rows)])
    return 'stored'
  } catch (cause) {
    if (isRefusedBy('flow_balance', cause)) return 'wallet-full'
    if (isPayoutOvertaken(cause)) return 'overtaken'
    throw cause
  }
}

const { payout_id, bytes, reference, ended, past_height, succeeded, next_send } = payoutTransactions
const rows = sql.placeholder('rows')

const payoutChanges = [
  ...(['state', 'changed_at', 'approved_by', 'approved_at', 'counted', 'attempts', 'attempts_max', 'txid'] as const),
  ...(['expires_at', 'height', 'reason', 'moved', 'received', 'cancelled_by', 'why'] as const),
].map((name) => payouts[name])
const transactionChanges = [
  ...[payout_id, bytes, reference, payoutTransactions.expires_at, payoutTransactions.changed_at, past_height],
  ...[payoutTransactions.height, succeeded, payoutTransactions.moved, ended, payoutTransactions.excused, next_send],
  ...[payoutTransactions.result, payoutTransactions.burnt, payoutTransactions.energy],
]

/**
 * SQL that updates a list of rows and adds 1 to the version of each. A trigger refuses it if a row
 * no longer has the version that the list names.
 */
function changeOf(
  table: typeof payouts | typeof payoutTransactions,
  columns: typeof payoutChanges | typeof transactionChanges,
): SQL {
  const assigned = columns.map((column) => sql`${columnName(column)} = "change".${columnName(column)}`)
  return sql`UPDATE ${table} SET ${columnName(table.version)} = "change".${columnName(table.version)} + 1,
    ${sql.join(assigned, sql`, `)}
FROM (SELECT ${memberList([table.id, table.version, ...columns])} FROM json_each(${rows})) AS "change"
WHERE ${table.id} = "change".${columnName(table.id)}`
}

const changePayouts = fixedStatement<'rows'>(changeOf(payouts, payoutChanges))
const changeTransactions = fixedStatement<'rows'>(changeOf(payoutTransactions, transactionChanges))

const insertedNames = [
  ...([
    'txid',
    'address',
    'payout_id',
    'bytes',
    'reference',
    'expires_at',
    'changed_at',
    'height',
    'succeeded',
  ] as const),
  ...(['moved', 'ended', 'next_send'] as const),
] as const
const insertedColumns = insertedNames.map((name) => payoutTransactions[name])
const addTransactions = fixedStatement<'rows'>(sql`
INSERT INTO ${payoutTransactions} (${bareList(insertedColumns)})
SELECT ${memberList(insertedColumns)} FROM json_each(${rows}) ORDER BY key`)

const r = rescans
const insertRescan = fixedStatement<'from' | 'to' | 'at'>(sql`
INSERT INTO ${r} (${bareList([r.kind, r.from_height, r.to_height, r.next_height, r.created_at, r.next_try])})
SELECT 'payout', low, high, low, ${sql.placeholder('at')}, ${sql.placeholder('at')} FROM (
  SELECT ${sql.placeholder('from')} AS low, coalesce(${sql.placeholder('to')}, ${scans.height}) AS high FROM ${scans})
WHERE low <= high AND NOT EXISTS (SELECT 1 FROM ${r} INDEXED BY rescan_open
  WHERE ${r.finished_at} IS NULL AND ${r.next_height} <= low AND ${r.to_height} >= high)`)

const t = payoutTransactions
const out = unnamedOutflows
/**
 * SQL: another transaction that has moved money for this payout or may have paid it, as JSON; NULL
 * if there is none. It is a transaction of the payout that moved something else, or that succeeded
 * after the payout had gone on without it, or one that no payout names and that moved exactly this
 * amount, whether an operator has excused it or not. A late one whose receipt is not read is taken
 * to have paid. A stuck payout says itself what its newest transaction has moved (the column
 * `moved`).
 */
export const otherOutflow = sql`coalesce(
  (SELECT json_object('txid', ${t.txid}, 'moved', json(iif(${t.moved} <> '[]', ${t.moved}, json_array(json_object(
      'contract', ${payouts.contract}, 'to', ${payouts.to_address}, 'raw', ${payouts.raw})))))
    FROM ${t} INDEXED BY payout_transaction_payout
    WHERE ${t.payout_id} = ${payouts.id} AND (${t.ended} = 'late' OR (${t.ended} = 'other' AND ${t.moved} <> '[]'))
      AND NOT (${t.txid} = ${payouts.txid} AND ${payouts.moved} IS NOT NULL) LIMIT 1),
  (SELECT json_object('txid', ${t.txid}, 'moved', json(${t.moved})) FROM ${out} CROSS JOIN ${t}
    ON ${t.id} = ${out.transaction_id}
    WHERE ${out.contract} = ${payouts.contract} AND ${out.to_address} = ${payouts.to_address}
      AND ${out.raw} = ${payouts.raw} LIMIT 1))`

const selectByIds = fixedStatement<'ids'>(sql`
SELECT ${payouts}.*, ${otherOutflow} AS other,
  EXISTS (SELECT 1 FROM unread_transaction WHERE unread_transaction.payout_id = ${payouts.id}) AS "isUnread"
FROM ${payouts} WHERE ${payouts.id} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`)

/** Selects the stored transactions that have one of these txids. */
export const selectByTxids = fixedStatement<'txids'>(
  sql`SELECT * FROM ${t} WHERE ${t.txid} IN (SELECT value FROM json_each(${sql.placeholder('txids')}))`,
)
