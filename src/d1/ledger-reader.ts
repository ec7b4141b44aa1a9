import { and, asc, eq, getTableColumns } from 'drizzle-orm'
import type { CurrencyId } from '../ledger/currencies.ts'
import type { FlowList, LedgerReader } from '../ledger/ledger-store.ts'
import { type Database, openTables } from './database.ts'
import { flowQuery } from './flow-query.ts'
import {
  type FlowRow,
  readAmount,
  readDeposit,
  readFlow,
  readPending,
  readScan,
  readSighting,
  type ScanRow,
} from './rows.ts'
import { addresses, deposits, pendingDeposits, sightings } from './tables.ts'

const rowsMax = 100

/** The ledger's reads over D1. Every method is one round trip. */
export function createLedgerReader(db: Database): LedgerReader {
  const tables = () => openTables(db)
  // What runs most is prepared by hand: Drizzle would build the same text anew on every call, 0.1 ms each.
  return {
    async balances(uid) {
      const rows = await db
        .prepare('SELECT cuy, balance FROM wallet WHERE uid = ?1 ORDER BY cuy')
        .bind(uid)
        .raw<[CurrencyId, number]>()
      return rows.map(([cuy, balance]) => ({ cuy, amount: readAmount(balance) }))
    },

    async flows(uid, filter, page) {
      const { sql, values } = flowQuery(uid, filter, page)
      const rows = await db
        .prepare(sql)
        .bind(...values)
        .raw<[count: number | null, ...FlowRow]>()
      return readPage(rows)
    },

    async creditedSince(uid, since) {
      const rows = await db
        .prepare('SELECT cuy, sum(amount) FROM deposit WHERE uid = ?1 AND created_at >= ?2 AND amount > 0 GROUP BY cuy')
        .bind(uid, since)
        .raw<[CurrencyId, number]>()
      return rows.map(([cuy, amount]) => ({ cuy, amount: readAmount(amount) }))
    },

    async depositsOf(uid, txid) {
      const rows = await tables()
        .select()
        .from(deposits)
        .where(and(eq(deposits.txid, txid), eq(deposits.uid, uid)))
        .orderBy(asc(deposits.position))
      return rows.map(readDeposit)
    },

    async pendingOf(uid, txid) {
      const rows = await tables()
        .select()
        .from(pendingDeposits)
        .where(and(eq(pendingDeposits.uid, uid), txid === null ? undefined : eq(pendingDeposits.txid, txid)))
        .orderBy(
          asc(pendingDeposits.since),
          asc(pendingDeposits.height),
          asc(pendingDeposits.txid),
          asc(pendingDeposits.position),
        )
        .limit(rowsMax)
      return rows.map(readPending)
    },

    async sightingsOf(uid) {
      const rows = await tables()
        .select(getTableColumns(sightings))
        .from(sightings)
        .innerJoin(addresses, eq(addresses.hex, sightings.to_address))
        .where(eq(addresses.uid, uid))
        .orderBy(asc(sightings.height), asc(sightings.txid), asc(sightings.position))
        .limit(rowsMax)
      return rows.map(readSighting)
    },

    async scanState() {
      const row = await db.prepare('SELECT * FROM scan').first<ScanRow>()
      return row === null ? null : readScan(row)
    },
  }
}

function readPage([first, ...entries]: readonly [count: number | null, ...FlowRow][]): FlowList {
  const list = entries.map(([, ...row]) => readFlow(row))
  return { list, count: first?.[0] ?? 0 }
}
