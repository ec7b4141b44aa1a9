import { eq, gt, isNotNull, sql } from 'drizzle-orm'
import type { BlockHeight, Txid } from '../../chain/block.ts'
import type { CurrencyId, Uid } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, ofHex, type ReadDatabase } from '../../d1/database.ts'
import { scans } from '../../d1/state-tables.ts'
import { flows, isOpenTransfer, transfers, wallets } from '../../d1/tables.ts'
import { firstEntryAt } from '../../ledger/store/entry-times.ts'
import type { StoredTransfer } from '../transfer.ts'
import { readAll, type TransferRow, transferColumns } from './rows.ts'

/** The most transfers in one state (`held`, `seen`) that an answer to a user lists. */
export const shownMax = 100

/**
 * Reads the transfers to one user in a transaction, or to all users if `uid` is null, in the order
 * of positions.
 */
export async function selectTransfersOf(
  db: ReadDatabase,
  uid: Uid | null,
  txid: Txid,
): Promise<readonly StoredTransfer[]> {
  const select = uid === null ? selectOfAll(db, { txid }) : selectOfTransaction(db, { uid, txid })
  return readAll(await select.all<TransferRow>())
}

/**
 * Reads the positions of the transaction's transfers that are stored as `moved`: these never become
 * deposits.
 */
export async function selectMovedIn(db: ReadDatabase, txid: Txid): Promise<readonly number[]> {
  const { results } = await selectMoved(db, { txid }).all<Pick<TransferRow, 'position'>>()
  return results.map(({ position }) => position)
}

/**
 * Reads a user's held transfers, and after them the seen ones. At most `shownMax` in each state, by
 * currency and then by age, the oldest first.
 */
export async function selectOpenTransfers(db: ReadDatabase, uid: Uid): Promise<readonly StoredTransfer[]> {
  return readAll(await selectOpen(db, { uid }).all<TransferRow>())
}

/**
 * A sum of credits in ledger units. It can exceed the largest `Amount`, because what was spent is
 * not subtracted.
 */
export interface CreditedSum {
  readonly cuy: CurrencyId
  readonly amount: bigint
}

/**
 * Sums the user's credits at or after `since`, by currency. A currency without a credit is absent.
 */
export async function selectCreditedSince(db: ReadDatabase, uid: Uid, since: UnixMs): Promise<readonly CreditedSum[]> {
  const { results } = await selectCredited(db, { uid, since }).all<{ cuy: CurrencyId; sum: string }>()
  return results.map(({ cuy, sum }) => ({ cuy, amount: BigInt(sum) }))
}

/**
 * Reads the lowest height above the scan's position that has a seen transfer, so that the next tick
 * can come when it is final; null if there is none.
 */
export async function selectFirstSeen(db: ReadDatabase): Promise<{ readonly height: BlockHeight } | null> {
  return selectSeen(db, {}).first<Pick<TransferRow, 'height'>>()
}

const { state } = transfers
const uid = sql.placeholder('uid')
const isOfTransaction = sql`${transfers.txid} = ${ofHex(sql.placeholder('txid'))}`
const byKey = sql`SELECT ${transferColumns} FROM ${transfers} INDEXED BY transfer_key WHERE ${isOfTransaction}`

const selectOfTransaction = fixedStatement<'uid' | 'txid'>(sql`
${byKey} AND ${eq(transfers.uid, uid)} ORDER BY ${transfers.position}`)

const selectOfAll = fixedStatement<'txid'>(sql`${byKey} AND ${isNotNull(transfers.uid)} ORDER BY ${transfers.position}`)

const selectMoved = fixedStatement<'txid'>(sql`
SELECT ${transfers.position} FROM ${transfers} INDEXED BY transfer_key
WHERE ${isOfTransaction} AND ${state} = 'moved' ORDER BY ${transfers.position}`)

const openIn = (open: 'held' | 'seen') => sql`
SELECT * FROM (SELECT ${transferColumns} FROM ${transfers} INDEXED BY transfer_uid_state
  WHERE ${eq(transfers.uid, uid)} AND ${sql.raw(isOpenTransfer)} AND ${state} = ${sql.raw(`'${open}'`)}
    ORDER BY ${transfers.cuy}, ${transfers.id} LIMIT ${shownMax})`
/**
 * Each state has its own limit: a node can invent seen transfers, and these must not displace held
 * ones.
 */
const selectOpen = fixedStatement<'uid'>(sql`${openIn('held')} UNION ALL ${openIn('seen')}`)

/**
 * Sums a user's credits since a time. Ids of entries grow with time, so these are all entries from
 * the id on that `firstEntryAt` finds.
 */
const selectCredited = fixedStatement<'uid' | 'since'>(sql`
SELECT ${wallets.cuy}, CAST(sum(${flows.amount}) AS TEXT) AS sum
FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_type ON ${flows.wallet_id} = ${wallets.id} AND ${flows.type} = 1
WHERE ${eq(wallets.uid, uid)} AND ${flows.id} >= ${firstEntryAt(sql.placeholder('since'))}
GROUP BY ${wallets.cuy}`)

const selectSeen = fixedStatement(sql`
SELECT ${transfers.height} FROM ${transfers} INDEXED BY transfer_seen
WHERE ${state} = 'seen' AND ${gt(transfers.height, sql`(SELECT ${scans.height} FROM ${scans})`)}
ORDER BY ${transfers.height} LIMIT 1`)
