import { type SQL, sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { BlockHeight, Txid } from '../../chain/block.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  columnName,
  fixedStatement,
  isRefusedBy,
  member,
  type ReadDatabase,
  type WriteDatabase,
} from '../../d1/database.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { rescans, scans } from '../../d1/state-tables.ts'
import type { Pair, PayoutRow, TransactionRow } from '../lifecycle.ts'
import { overtakenRules, pairStatements } from './rows.ts'

const t = payoutTransactions
const open = sql`${t} INDEXED BY payout_transaction_open`

/**
 * SQL that is true if the read of blocks looked for the address of every open transaction. The batch that stores the read requires this, or the read may have
 * missed a transaction.
 */
export function isWatched(watched: ReadonlySet<Address>): SQL {
  const list = JSON.stringify([...watched])
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${openAddresses}) AS payer WHERE payer.value NOT IN (SELECT value FROM json_each(${list})))`
}

const nextPayer = (above: SQL) =>
  sql`(SELECT min(${t.address}) FROM ${t} INDEXED BY payout_transaction_payer WHERE ${t.ended} IS NULL AND ${t.address} > ${above})`
/** SQL: the addresses of open transactions as a JSON list. It reads a row for each address, however many transactions an address has. */
export const openAddresses = sql`(
  WITH RECURSIVE payer(address) AS (
    SELECT ${nextPayer(sql`''`)} UNION ALL SELECT ${nextPayer(sql`payer.address`)} FROM payer WHERE payer.address IS NOT NULL)
  SELECT json_group_array(payer.address) FROM payer WHERE payer.address IS NOT NULL)`

/** Whether a batch failed because a payout or a transaction has changed since the decision, so that it must be decided again. */
export const isPayoutOvertaken = (cause: unknown) => overtakenRules.some((rule) => isRefusedBy(rule, cause))

/**
 * Reads the stored transactions with these txids, each with its payout, and the open transactions whose expiration is at or before `passedAt` but for which no
 * block past it is stored yet.
 */
export async function selectConcerned(
  db: ReadDatabase,
  txids: readonly Txid[],
  passedAt: UnixMs,
): Promise<{ readonly found: ReadonlyMap<Txid, Pair>; readonly passing: readonly TransactionRow[] }> {
  const list = { txids: JSON.stringify(txids) }
  const [transactions, named, passing] = await db.batch([
    selectByTxids(db, list),
    selectPayoutsOf(db, list),
    selectPassing(db, { at: passedAt }),
  ])
  const byId = new Map(((named?.results ?? []) as PayoutRow[]).map((payout) => [payout.id, payout])) // safe: the columns of the statement
  const rows = (transactions?.results ?? []) as TransactionRow[] // safe: the columns of the statement
  return {
    found: new Map(rows.map((row) => [row.txid, { transaction: readTransaction(row), payout: payoutOf(row, byId) }])),
    passing: ((passing?.results ?? []) as TransactionRow[]).map(readTransaction), // safe: the columns of the statement
  }
}

/** SQLite has no booleans, so `succeeded` comes as 0 or 1. */
const readTransaction = (row: TransactionRow): TransactionRow => {
  return { ...row, succeeded: row.succeeded === null ? null : Boolean(row.succeeded) }
}

function payoutOf({ payout_id }: TransactionRow, byId: ReadonlyMap<PayoutRow['id'], PayoutRow>): PayoutRow | null {
  return payout_id === null ? null : (byId.get(payout_id) ?? null)
}

/** Reads at most `max` open transactions that no block can contain any more, with their payouts: in one batch, so that both are of one moment. */
export async function selectExpired(
  db: ReadDatabase,
  max: number,
): Promise<readonly { readonly transaction: TransactionRow; readonly payout: PayoutRow }[]> {
  const [over, named] = await db.batch([selectOver(db, { max }), selectPayoutsOfOver(db, { max })])
  const byId = new Map(((named?.results ?? []) as PayoutRow[]).map((payout) => [payout.id, payout])) // safe: the columns of the statement
  const rows = (over?.results ?? []) as TransactionRow[] // safe: the columns of the statement
  return rows.flatMap((row) => {
    const payout = payoutOf(row, byId)
    return payout === null ? [] : [{ transaction: readTransaction(row), payout }]
  })
}

/** Stores ends of transactions, with their payouts. If a row has changed since the decision, nothing is stored: a later tick decides again. */
export async function storeEnds(db: WriteDatabase, pairs: readonly Pair[]): Promise<void> {
  try {
    await db.batch([...pairStatements(db, [pairs])])
  } catch (cause) {
    if (!isPayoutOvertaken(cause)) throw cause
  }
}

/**
 * The statement that stores at which heights transactions were seen in blocks that are not final yet. A transaction that was not seen before is not sent
 * again until `until`.
 */
export function seenAt(
  db: WriteDatabase,
  seen: readonly { readonly txid: Txid; readonly height: BlockHeight }[],
  until: UnixMs,
): D1PreparedStatement {
  return noteSeen(db, { seen: JSON.stringify(seen), until })
}

const txids = sql`(SELECT value FROM json_each(${sql.placeholder('txids')}))`

const selectByTxids = fixedStatement<'txids'>(sql`SELECT * FROM ${t} WHERE ${t.txid} IN ${txids}`)

const selectPayoutsOf = fixedStatement<'txids'>(sql`
SELECT * FROM ${payouts} WHERE ${payouts.id} IN (SELECT ${t.payout_id} FROM ${t} WHERE ${t.txid} IN ${txids})`)

const selectPassing = fixedStatement<'at'>(sql`
SELECT * FROM ${open} WHERE ${t.ended} IS NULL AND ${t.past_height} IS NULL AND ${t.expires_at} <= ${sql.placeholder('at')}`)

/** A transaction is over when every block from the one after its reference block to the first one past its expiration was read, and the scan is not halted. */
const over = sql`FROM ${open} WHERE ${t.ended} IS NULL
  AND ${t.past_height} <= (SELECT ${scans.height} FROM ${scans} WHERE ${scans.halted} IS NULL)
  AND NOT EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open WHERE ${rescans.finished_at} IS NULL
    AND ${rescans.to_height} > ${t.reference} AND ${rescans.next_height} <= ${t.past_height})
ORDER BY ${t.id} LIMIT ${sql.placeholder('max')}`

const selectOver = fixedStatement<'max'>(sql`SELECT * ${over}`)

const selectPayoutsOfOver = fixedStatement<'max'>(sql`
SELECT * FROM ${payouts} WHERE ${payouts.id} IN (SELECT ${t.payout_id} ${over})`)

const fact = (column: Parameters<typeof member>[0]) => sql`fact.${member(column)}`
const noteSeen = fixedStatement<'seen' | 'until'>(sql`
UPDATE ${t} SET ${columnName(t.seen_height)} = ${fact(t.height)},
  ${columnName(t.next_send)} = iif(${t.seen_height} IS NULL, max(${t.next_send}, ${sql.placeholder('until')}), ${t.next_send})
FROM json_each(${sql.placeholder('seen')}) AS fact WHERE ${t.txid} = ${fact(t.txid)} AND ${t.ended} IS NULL`)
