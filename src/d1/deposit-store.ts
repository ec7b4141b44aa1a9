import { and, asc, eq, gt, gte, sql } from 'drizzle-orm'
import type { CurrencyId } from '../common/ids.ts'
import type { CreditKey } from '../deposits/deposit.ts'
import type { DepositStore } from '../deposits/deposit-store.ts'
import { depositStatements, storeDeposits } from './bulk-statements.ts'
import { type Database, openTables } from './database.ts'
import { readAmount, readDeposit } from './rows.ts'
import { build, param, statement } from './statement.ts'
import { deposits } from './tables.ts'

/** Proven deposits over D1. `onWalletFull` gets the key of each deposit that was stored uncredited because its wallet was full. */
export function createDepositStore(db: Database, onWalletFull: (key: CreditKey) => void): DepositStore {
  return {
    async of(uid, txid) {
      const rows = await openTables(db)
        .select()
        .from(deposits)
        .where(and(eq(deposits.txid, txid), eq(deposits.uid, uid)))
        .orderBy(asc(deposits.position))
      return rows.map(readDeposit)
    },

    async creditedSince(uid, since) {
      const rows = await selectCredited(db, { uid, since }).raw<[CurrencyId, number]>()
      return rows.map(([cuy, amount]) => ({ cuy, amount: readAmount(amount) }))
    },

    async credit(list, at) {
      if (list.length === 0) return 'credited'
      try {
        await storeDeposits(db, list, depositStatements(db, list, at), onWalletFull)
        return 'credited'
      } catch (cause) {
        if (cause instanceof Error && cause.message.includes(haltedRefusal)) return 'halted'
        throw cause
      }
    },
  }
}

/** The refusal of the trigger `deposit_is_new`. */
const haltedRefusal = 'deposit: the scan is halted'

const { cuy, uid, amount, created_at } = deposits
const selectCredited = statement(
  build
    .select({ cuy, amount: sql`sum(${amount})` })
    .from(deposits)
    .where(and(eq(uid, param('uid')), gte(created_at, param('since')), gt(amount, 0)))
    .groupBy(cuy),
)
