import { type SQL, sql } from 'drizzle-orm'
import type { CurrencyId, Uid } from '../common/ids.ts'
import { amountMax } from '../common/amount.ts'
import type { EntryStore, NewEntry } from '../ledger/entry-store.ts'
import type { Database } from './database.ts'
import { postings } from './posting-table.ts'
import { type FlowRow, readAmount, readFlow } from './rows.ts'
import { columnsOf, names, param, statement } from './statement.ts'
import { flows, wallets } from './tables.ts'

/** Posted entries over D1: one batch of three statements. */
export function createEntryStore(db: Database): EntryStore {
  return {
    async post(entries, by, at) {
      const list = JSON.stringify(entries.map(writeNewEntry))
      const [insertion, known, balances] = await db.batch([
        insertPosting(db, { list, by, at }),
        selectKnown(db, { list }),
        selectBalances(db, { list }),
      ])
      if (insertion === undefined || known === undefined || balances === undefined) {
        throw new Error('a batch returned too few results')
      }
      return {
        stored: insertion.results.length > 0,
        known: (known.results as FlowRow[]).map(readFlow), // safe: the columns of the statement
        balances: (balances.results as BalanceRow[]).map(({ uid, cuy, balance }) => ({
          // safe: as above
          uid,
          cuy,
          amount: readAmount(balance),
        })),
      }
    },
  }
}

interface BalanceRow {
  readonly uid: Uid
  readonly cuy: CurrencyId
  readonly balance: number
}

/** An entry in the list of a posting. */
function writeNewEntry({ uid, cuy, type, osn, amount, mark }: NewEntry) {
  return { uid, cuy, type, osn, amount: Number(amount), mark }
}

const member = (name: string): SQL => sql.raw(`value ->> '${name}'`)

/** The list with the wallet and the stored entry of each key. By hand: json_each, which CROSS JOIN makes the outer loop. */
const ownWallet = sql`${wallets} ON ${wallets.uid} = ${member('uid')} AND ${wallets.cuy} = ${member('cuy')}`
const knownEntries = sql`json_each(${param('list')}) CROSS JOIN ${ownWallet} CROSS JOIN ${flows}
  ON ${flows.wallet_id} = ${wallets.id} AND ${flows.osn} = ${member('osn')} AND ${flows.type} = ${member('type')}`

const balanceAfter = sql`coalesce(${wallets.balance}, 0) + sum(${member('amount')})
  OVER (PARTITION BY ${member('uid')}, ${member('cuy')} ORDER BY key ROWS UNBOUNDED PRECEDING)`

/** Triggers create the entries and remove the row again. Without this condition they would fail the batch, without a reason. */
const insertPosting = statement(sql`
INSERT INTO ${postings} (${names(postings.id, postings.entries, postings.posted_by, postings.created_at)})
SELECT 1, ${param('list')}, ${param('by')}, ${param('at')}
WHERE NOT EXISTS (SELECT 1 FROM ${knownEntries})
AND NOT EXISTS (
  SELECT 1 FROM (SELECT ${balanceAfter} AS after FROM json_each(${param('list')}) LEFT JOIN ${ownWallet})
  WHERE after NOT BETWEEN 0 AND ${sql.raw(`${amountMax}`)})
RETURNING ${names(postings.id)}`)

const selectKnown = statement(sql`
SELECT ${sql.join([...columnsOf(flows)], sql`, `)} FROM ${knownEntries} ORDER BY key`)

const selectBalances = statement(sql`
SELECT DISTINCT ${wallets.uid}, ${wallets.cuy}, ${wallets.balance} FROM json_each(${param('list')}) CROSS JOIN ${ownWallet}`)
