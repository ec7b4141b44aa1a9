import { eq } from 'drizzle-orm'
import { type Amount, amountMax } from '../common/amount.ts'
import type { BackendName, CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { openTables, type ReadDatabase, type WriteDatabase } from '../d1/database.ts'
import { statement } from '../d1/statement.ts'
import { type flows, wallets } from '../d1/tables.ts'
import { entriesQuery } from './entries-query.ts'
import type { Entry, EntryFilter, EntryList, EntryPage, NewEntry, WalletBalance } from './entry.ts'

/** The columns of an entry. */
export type EntryRow = Omit<typeof flows.$inferSelect, 'number' | 'type_number'>

/** An amount as stored. */
export function readAmount(stored: number): Amount {
  return BigInt(stored) as Amount // safe: the CHECK of every such column is the bound
}

/** A ledger entry as stored. */
export function readEntry(row: EntryRow): Entry {
  const { id, uid, wallet_id: wid, osn, type, cuy, mark, created_at: createdAt, posted_by: by } = row
  const [amount, balance] = [readAmount(row.amount), readAmount(row.balance)]
  return { id, uid, wid, osn, type, cuy, amount, balance, mark, createdAt, by }
}

/** The caller's wallets; a currency without an entry is absent. */
export async function selectBalances(db: ReadDatabase, uid: Uid): Promise<readonly WalletBalance[]> {
  const { cuy, balance } = wallets
  const rows = await openTables(db).select({ cuy, balance }).from(wallets).where(eq(wallets.uid, uid)).orderBy(cuy)
  return rows.map((row) => ({ cuy: row.cuy, amount: readAmount(row.balance) }))
}

/** One page of the caller's entries, and the number of all that match. One statement. */
export async function selectEntries(
  db: ReadDatabase,
  uid: Uid,
  filter: EntryFilter,
  page: EntryPage,
): Promise<EntryList> {
  const { results } = await entriesQuery(db, uid, filter, page).all<EntryRow & { readonly n: number | null }>()
  const [first, ...list] = results
  return { list: list.map(readEntry), count: first?.n ?? 0 }
}

/** What the database had at the moment of one attempt to post. */
export interface PostAttempt {
  /** Whether this attempt has stored the entries. */
  readonly stored: boolean
  /** The stored entries with the keys of the post, those of this attempt included, in the order of the post. */
  readonly known: readonly Entry[]
  /** The balances of the wallets of the post after the attempt; a wallet without an entry is absent. */
  readonly balances: readonly { readonly uid: Uid; readonly cuy: CurrencyId; readonly amount: Amount }[]
}

interface BalanceRow {
  readonly uid: Uid
  readonly cuy: CurrencyId
  readonly balance: number
}

/**
 * Stores all entries in their order, or none: none where one of their keys is known, or where a balance would be below
 * zero or above 2^53−1 after one of them. One batch, so that equal posts at once store one.
 */
export async function storePost(
  db: WriteDatabase,
  entries: readonly NewEntry[],
  by: BackendName,
  at: UnixMs,
): Promise<PostAttempt> {
  const list = JSON.stringify(
    entries.map(({ uid, cuy, type, osn, amount, mark }) => ({ uid, cuy, type, osn, amount: Number(amount), mark })),
  )
  const [insertion, known, balances] = await db.batch([
    insertPosting(db, { list, by, at }),
    selectKnown(db, { list }),
    selectWallets(db, { list }),
  ])
  if (insertion === undefined || known === undefined || balances === undefined) {
    throw new Error('a batch returned too few results')
  }
  return {
    stored: insertion.results.length > 0,
    known: (known.results as EntryRow[]).map(readEntry), // safe: the columns of the statement
    balances: (balances.results as BalanceRow[]) // safe: as above
      .map(({ uid, cuy, balance }) => ({ uid, cuy, amount: readAmount(balance) })),
  }
}

// CROSS JOIN makes the list the outer loop, whatever the planner estimates.
const ownWallet = `wallet ON wallet.uid = value ->> 'uid' AND wallet.cuy = value ->> 'cuy'`
const knownEntries = `json_each(:list) CROSS JOIN ${ownWallet}
  CROSS JOIN flow ON flow.wallet_id = wallet.id AND flow.osn = value ->> 'osn' AND flow.type = value ->> 'type'`

/** A trigger creates the entries and removes the row. Without the condition it would fail the batch, without a reason. */
const insertPosting = statement(`
INSERT INTO posting (id, entries, posted_by, created_at)
SELECT 1, :list, :by, :at
WHERE NOT EXISTS (SELECT 1 FROM ${knownEntries})
  AND NOT EXISTS (
    SELECT 1 FROM (
      SELECT coalesce(balance, 0) + sum(value ->> 'amount')
        OVER (PARTITION BY value ->> 'uid', value ->> 'cuy' ORDER BY key ROWS UNBOUNDED PRECEDING) AS after
      FROM json_each(:list) LEFT JOIN ${ownWallet})
    WHERE after NOT BETWEEN 0 AND ${amountMax})
RETURNING id`)

const selectKnown = statement(`SELECT flow.* FROM ${knownEntries} ORDER BY key`)

const selectWallets = statement(`
SELECT DISTINCT wallet.uid, wallet.cuy, wallet.balance FROM json_each(:list) CROSS JOIN ${ownWallet}`)
