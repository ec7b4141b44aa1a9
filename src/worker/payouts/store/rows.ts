import { type SQL, sql } from 'drizzle-orm'
import type { BlockHeight } from '../../chain/block.ts'
import type { UnixMs } from '../../common/time.ts'
import { bareList, columnName, fixedStatement, memberList, toJsonTexts, type WriteDatabase } from '../../d1/database.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { rescans, scans } from '../../d1/state-tables.ts'
import type { Pair, PayoutRow, TransactionRow } from '../lifecycle.ts'

/** The most rows in one JSON text. The longest row takes about 5 kB, and D1 binds texts up to 2 MB. */
const rowsMax = 200

/** Rules of triggers and CHECKs that refuse a decision because something has changed since it was made. The caller must decide again. */
export const overtakenRules = [
  ...['payout: already asked for', 'payout: an entry has its key', 'payout: another version', 'payout: no such step'],
  ...[
    'payout: it is not within its limits',
    'payout: its money would stay here',
    'payout: its money may not leave now',
    'payout: its money may not be given back now',
  ],
  ...['payout: it may not be asked for now', 'payout: the decimals of its token are not agreed on'],
  ...['payout_transaction: already stored', 'payout_transaction: another version', 'payout_transaction: no such step'],
  ...['payout_transaction: its payout is not to be signed', 'payout_transaction: its money may not leave now'],
  ...['payout_transaction: its reference block is not final', 'payout_transaction: blocks are not read again'],
  ...['payout_transaction: its block is not read again', 'payout_transaction: it can still be in a block'],
  ...['payout_transaction: the scan is halted', 'payout_transaction: its bytes may not be taken now'],
]

/** Statements that update payouts. Each row must still have the version on which the decision rests. */
export function updatePayouts(db: WriteDatabase, rows: readonly PayoutRow[]): readonly D1PreparedStatement[] {
  return toJsonTexts(rows, rowsMax).map((list) => changePayouts(db, { rows: list }))
}

/** Statements that update transactions. Each row must still have the version on which the decision rests. */
export function updateTransactions(db: WriteDatabase, rows: readonly TransactionRow[]): readonly D1PreparedStatement[] {
  return toJsonTexts(rows, rowsMax).map((list) => changeTransactions(db, { rows: list }))
}

export type InsertedTransaction = Pick<TransactionRow, (typeof insertedNames)[number]>

/** Statements that store new transactions: those that a signer has handed in, and those without a payout that the scan has found in blocks. */
export function insertTransactions(
  db: WriteDatabase,
  rows: readonly InsertedTransaction[],
): readonly D1PreparedStatement[] {
  return toJsonTexts(rows, rowsMax).map((list) => addTransactions(db, { rows: list }))
}

/**
 * Statements that store lists of changes, one list after the other. Within a list transactions come first, because triggers compare a payout with its
 * transactions.
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
 * The statement that has the blocks from `from` to `to` read again, because they may contain a transaction that was handed in after these blocks were read. If
 * `to` is null, the last block is the one at the scan's position.
 */
export function readAgainFor(db: WriteDatabase, from: number, to: BlockHeight | null, at: UnixMs): D1PreparedStatement {
  return insertRescan(db, { from, to, at })
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

/** SQL that updates a list of rows and adds 1 to the version of each. A trigger refuses it if a row no longer has the version that the list names. */
function changeOf(
  table: typeof payouts | typeof payoutTransactions,
  columns: typeof payoutChanges | typeof transactionChanges,
): SQL {
  const assigned = columns.map((column) => sql`${columnName(column)} = "change".${columnName(column)}`)
  return sql`UPDATE ${table} SET ${columnName(table.version)} = "change".${columnName(table.version)} + 1, ${sql.join(assigned, sql`, `)}
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
