import { sql } from 'drizzle-orm'
import { amountMax } from '../../common/amount.ts'
import type { BackendName } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { bareList, fixedStatement, member, resultRows, type WriteDatabase } from '../../d1/database.ts'
import { orders } from '../../d1/order-tables.ts'
import { payouts } from '../../d1/payout-tables.ts'
import { flows, postings, wallets } from '../../d1/tables.ts'
import type { Entry, NewEntry } from '../entry.ts'
import { type EntryRow, entryColumns, readEntry, type WalletRow, withTransfer } from './entries.ts'

/** What an attempt to store a post of entries has done, and what the same batch has read. */
export interface PostAttempt {
  /** False if this attempt has stored nothing. `reserved`, `known` and `balances` show why. */
  readonly stored: boolean
  /**
   * The index, from 0, of the first entry in the post whose key a payout, its refund or an order
   * uses; null if there is none.
   */
  readonly reserved: number | null
  /**
   * The stored entries with the keys of the post, in its order, whether this attempt or an earlier
   * post has stored them.
   */
  readonly known: readonly Entry[]
  /**
   * The balances of the post's wallets after the attempt. A wallet that does not exist is missing.
   */
  readonly balances: readonly WalletRow[]
}

/**
 * Stores all entries in their order, or none. It stores none if one of the keys is stored already
 * or used by a payout or an order, or if a balance would leave the range from 0 to 2^53−1 on the
 * way. All of it is one batch, so identical concurrent posts store one set of entries.
 */
export async function storePost(
  db: WriteDatabase,
  entries: readonly NewEntry[],
  by: BackendName,
  at: UnixMs,
): Promise<PostAttempt> {
  const list = JSON.stringify(entries.map(({ amount, ...entry }) => ({ ...entry, amount: Number(amount) })))
  const [before, , known, balances] = await db.batch([
    selectInUse(db, { list }),
    insertPosting(db, { list, by, at }),
    selectKnown(db, { list }),
    selectWallets(db, { list }),
  ])
  const [inUse] = resultRows<InUseRow>(before)
  if (inUse === undefined || known === undefined || balances === undefined) {
    throw new Error('a batch returned too few results')
  }
  return {
    stored: inUse.isKnown === 0 && known.results.length > 0,
    reserved: inUse.place,
    known: resultRows<EntryRow>(known).map(readEntry),
    balances: resultRows<PostAttempt['balances'][number]>(balances),
  }
}

/**
 * Read before the attempt: whether a key of the post is stored, and the index of the first entry
 * whose key a payout or an order uses.
 */
interface InUseRow {
  readonly isKnown: 0 | 1
  readonly place: number | null
}

const { entries, posted_by, created_at } = postings
const posted = sql`json_each(${sql.placeholder('list')})`
const ownWallet = sql`${wallets} ON ${wallets.uid} = ${member(wallets.uid)} AND ${wallets.cuy} = ${member(wallets.cuy)}`
/**
 * The stored entries with the keys of the post. CROSS JOIN makes the post's list the outer loop,
 * whatever SQLite estimates.
 */
const knownEntries = sql`${posted} CROSS JOIN ${ownWallet} CROSS JOIN ${flows} INDEXED BY flow_key
  ON ${flows.osn} = ${member(flows.osn)} AND ${flows.wallet_id} = ${wallets.id}
    AND ${flows.type} = ${member(flows.type)}`
/** SQL that is true for an entry of the post whose key a payout or its refund uses. */
const isOfPayout = sql`EXISTS (SELECT 1 FROM ${payouts} INDEXED BY payout_key
  WHERE ${payouts.uid} = ${member(wallets.uid)}
  AND ${payouts.cuy} = ${member(wallets.cuy)} AND ${payouts.osn} = ${member(flows.osn)}
  AND (${member(flows.type)} IN (2, 5) OR (${member(flows.type)} = 4 AND ${payouts.fee} > 0)))`
/** SQL that is true for an entry of the post whose key an order with `take` uses. */
const isOfOrder = sql`(${member(flows.type)} = 4 AND EXISTS (SELECT 1 FROM ${orders} INDEXED BY order_key
  WHERE ${orders.uid} = ${member(wallets.uid)} AND ${orders.reference} = ${member(flows.osn)}
    AND ${orders.cuy} = ${member(wallets.cuy)} AND ${orders.take} = 1))`
/** The entries of the post whose key a payout or an order uses. */
const reservedEntries = sql`${posted} WHERE ${isOfPayout} OR ${isOfOrder}`

const selectInUse = fixedStatement<'list'>(sql`
SELECT EXISTS (SELECT 1 FROM ${knownEntries}) AS "isKnown", (SELECT key FROM ${reservedEntries}
  ORDER BY key LIMIT 1) AS place`)

/**
 * Inserts into `posting`, whose trigger creates the entries. The conditions repeat what triggers
 * and CHECKs refuse: a refusal would fail the batch, and the caller could not learn why from the
 * other statements.
 */
const insertPosting = fixedStatement<'list' | 'by' | 'at'>(sql`
INSERT INTO ${postings} (${bareList([entries, posted_by, created_at])})
SELECT ${sql.placeholder('list')}, ${sql.placeholder('by')}, ${sql.placeholder('at')}
WHERE NOT EXISTS (SELECT 1 FROM ${knownEntries}) AND NOT EXISTS (SELECT 1 FROM ${reservedEntries})
  AND NOT EXISTS (
    SELECT 1 FROM (
      SELECT coalesce(${wallets.balance}, 0) + sum(${member(flows.amount)})
        OVER (PARTITION BY ${member(wallets.uid)}, ${member(wallets.cuy)}
          ORDER BY key ROWS UNBOUNDED PRECEDING) AS after
      FROM ${posted} LEFT JOIN ${ownWallet})
    WHERE after NOT BETWEEN 0 AND ${sql.raw(String(amountMax))})`)

const selectKnown = fixedStatement<'list'>(
  sql`SELECT ${entryColumns} FROM ${knownEntries} ${withTransfer} ORDER BY key`,
)

const selectWallets = fixedStatement<'list'>(sql`
SELECT DISTINCT ${wallets.uid}, ${wallets.cuy}, ${wallets.balance} FROM ${posted} CROSS JOIN ${ownWallet}`)
