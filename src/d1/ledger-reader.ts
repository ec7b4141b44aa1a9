import { asc, eq } from 'drizzle-orm'
import type { CurrencyId } from '../common/ids.ts'
import type { LedgerReader } from '../ledger/ledger-reader.ts'
import type { Database } from './database.ts'
import { flowQuery } from './flow-query.ts'
import { type FlowRow, readAmount, readFlow } from './rows.ts'
import { build, param, statement } from './statement.ts'
import { wallets } from './tables.ts'

/** The ledger's reads over D1. */
export function createLedgerReader(db: Database): LedgerReader {
  return {
    async balances(uid) {
      const rows = await selectBalances(db, { uid }).raw<[CurrencyId, number]>()
      return rows.map(([cuy, balance]) => ({ cuy, amount: readAmount(balance) }))
    },

    async entries(uid, filter, page) {
      const { results } = await flowQuery(db, uid, filter, page).all<FlowRow & { readonly n: number | null }>()
      const [first, ...rows] = results
      return { list: rows.map(readFlow), count: first?.n ?? 0 }
    },
  }
}

const selectBalances = statement(
  build
    .select({ cuy: wallets.cuy, balance: wallets.balance })
    .from(wallets)
    .where(eq(wallets.uid, param('uid')))
    .orderBy(asc(wallets.cuy)),
)
