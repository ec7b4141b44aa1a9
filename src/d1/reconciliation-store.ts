import { eq, type SQL, sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { CurrencyId } from '../common/ids.ts'
import { judgedPerSliceMax, readingLagBlocks, sliceAddressesMax } from '../reconciliation/judge-reading.ts'
import type {
  AddressDifference,
  OpenDifference,
  ReconciliationRun,
  ReconciliationStore,
  Slice,
  SliceResult,
} from '../reconciliation/reconciliation-store.ts'
import { reconciliationSuperseded } from './columns.ts'
import { type Database, isRefusedBy } from './database.ts'
import { acquireLease, releaseLease, requireLease } from './reconciliation-lease.ts'
import {
  acceptedDifferences as accepted,
  movedAddresses as moved,
  openDifferences as open,
  reconciliations as runs,
} from './reconciliation-tables.ts'
import { readRecordedBalances, type SumRow, sumRecordedBalances } from './recorded-balances.ts'
import { build, columnsOf, members, names, param, type Statement, statement } from './statement.ts'
import { addresses } from './tables.ts'

type RunRow = typeof runs.$inferSelect
type OpenRow = typeof open.$inferSelect
/** An accepted difference beside other columns, whose `outgoing_count` is another one. */
interface AcceptedRow {
  readonly address: Address
  readonly fees: string
  readonly accepted_outgoing_count: number
  readonly confirmed: string
}
type MovedRow = AcceptedRow & Pick<typeof moved.$inferSelect, 'changes'>
type NextRow = AcceptedRow & { readonly derivation_index: number; readonly is_open: 0 | 1 }

/** Differences reported in one slice. */
const reportedMax = 20

/** The state of reconciliation over D1. The lists of a slice are short (60 rows at most), so each is one JSON text. */
export function createReconciliationStore(db: Database): ReconciliationStore {
  return {
    acquireLease: (lease, at, until) => acquireLease(db, lease, at, until),
    releaseLease: (lease) => releaseLease(db, lease),

    async currenciesDue(list, before, position) {
      const rows = await selectDueCurrencies(db, { list: JSON.stringify(list), before, position }).raw<[CurrencyId]>()
      return rows.map(([cuy]) => cuy)
    },

    async beginSlice(cuy, at, before, position) {
      const [, newest, due, changed, next] = await db.batch<unknown>([
        insertRun(db, { cuy, at, before }),
        selectRun(db, { cuy }),
        selectDue(db, { cuy, position }),
        selectMoved(db, { cuy, position }),
        selectNext(db, { cuy }),
      ])
      // safe: the columns are those that each statement selects
      const [run] = (newest?.results ?? []) as RunRow[]
      const dueRows = (due?.results ?? []) as (OpenRow & AcceptedRow)[]
      const movedRows = (changed?.results ?? []) as MovedRow[]
      const nextRows = (next?.results ?? []) as NextRow[]
      return run === undefined ? null : readSlice(run, dueRows, movedRows, nextRows)
    },

    async recordedBalances(cuy, spans) {
      const rows = await sumRecordedBalances(db, { list: JSON.stringify(spans), cuy }).raw<SumRow>()
      return readRecordedBalances(spans.length, rows)
    },

    async storeSlice(lease, result) {
      const statements = [...differenceStatements(db, result), ...movedStatements(db, result)]
      try {
        await db.batch([requireLease(db, { lease }), advanceRun(db, writeRun(result.run)), ...statements])
        return 'stored'
      } catch (cause) {
        if (isRefusedBy(reconciliationSuperseded, cause)) return 'superseded'
        throw cause
      }
    },

    async unreported(cuy) {
      const { results } = await selectUnreported(db, { cuy }).run<AcceptedRow>()
      return results.map(readAccepted)
    },

    async markReported(cuy, list) {
      const rows = list.map(({ address, accepted: { confirmed } }) => ({ address, confirmed: confirmed.toString() }))
      await updateReported(db, { list: JSON.stringify(rows), cuy }).run()
    },
  }
}

// The statements below are by hand where they have a list from json_each, INSERT … SELECT, or the newest run as a subquery.

const newestRun = (cuy: SQL) => sql`(SELECT max(${runs.id}) FROM ${runs} WHERE ${runs.cuy} = ${cuy})`

const hasOpen = sql`EXISTS (
  SELECT 1 FROM ${open} WHERE ${open.address} = ${moved.address} AND ${open.cuy} = ${moved.cuy})`
/** Each reading includes the oldest change. */
const isMoved = (cuy: SQL) => sql`${moved.cuy} = ${cuy}
  AND ${moved.oldest_height} <= ${param('position')} - ${readingLagBlocks} AND NOT ${hasOpen}`

const selectDueCurrencies = statement(sql`
SELECT currency.value FROM json_each(${param('list')}) AS currency
LEFT JOIN ${runs} ON ${runs.id} = ${newestRun(sql`currency.value`)}
WHERE (EXISTS (SELECT 1 FROM ${addresses})
    AND (${runs.id} IS NULL OR ${runs.finished_at} IS NULL OR ${runs.started_at} <= ${param('before')}))
  OR EXISTS (SELECT 1 FROM ${moved} WHERE ${isMoved(sql`currency.value`)})
  OR EXISTS (SELECT 1 FROM ${open} WHERE ${open.cuy} = currency.value AND ${open.to_height} <= ${param('position')})
  OR EXISTS (SELECT 1 FROM ${accepted} WHERE ${accepted.cuy} = currency.value AND ${accepted.reported} = 0)
ORDER BY currency.key`)

const lastIndex = sql`(SELECT max(${addresses.derivation_index}) FROM ${addresses})`
/** Without EXISTS for the addresses: SQLite makes a join of it, and reads all of them where the newest run is under way. */
const insertRun = statement(sql`
INSERT INTO ${runs} (${names(runs.cuy, runs.started_at, runs.cursor, runs.last_index)})
SELECT ${param('cuy')}, ${param('at')}, (SELECT min(${addresses.derivation_index}) - 1 FROM ${addresses}), ${lastIndex}
WHERE ${lastIndex} IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM ${runs} WHERE ${runs.id} = ${newestRun(param('cuy'))}
    AND (${runs.finished_at} IS NULL OR ${runs.started_at} > ${param('before')}))`)

const selectRun = statement(sql`SELECT * FROM ${runs} WHERE ${runs.id} = ${newestRun(param('cuy'))}`)

const acceptedColumns = sql`coalesce(${accepted.fees}, '0') AS fees,
  coalesce(${accepted.outgoing_count}, 0) AS accepted_outgoing_count, coalesce(${accepted.confirmed}, '0') AS confirmed`

const selectDue = statement(sql`
SELECT ${open}.*, ${acceptedColumns}
FROM ${open} LEFT JOIN ${accepted} ON ${accepted.address} = ${open.address} AND ${accepted.cuy} = ${open.cuy}
WHERE ${open.cuy} = ${param('cuy')} AND ${open.to_height} <= ${param('position')}
ORDER BY ${open.to_height}, ${open.address} LIMIT ${judgedPerSliceMax}`)

const selectMoved = statement(sql`
SELECT ${moved.address}, ${moved.changes}, ${acceptedColumns}
FROM ${moved} LEFT JOIN ${accepted} ON ${accepted.address} = ${moved.address} AND ${accepted.cuy} = ${moved.cuy}
WHERE ${isMoved(param('cuy'))}
ORDER BY ${moved.oldest_height}, ${moved.address} LIMIT ${sliceAddressesMax}`)

const selectNext = statement(sql`
SELECT ${addresses.address}, ${addresses.derivation_index}, ${open.address} IS NOT NULL AS is_open, ${acceptedColumns}
FROM ${runs}
JOIN ${addresses} ON ${addresses.derivation_index} > ${runs.cursor} AND ${addresses.derivation_index} <= ${runs.last_index}
LEFT JOIN ${accepted} ON ${accepted.address} = ${addresses.address} AND ${accepted.cuy} = ${param('cuy')}
LEFT JOIN ${open} ON ${open.address} = ${addresses.address} AND ${open.cuy} = ${param('cuy')}
WHERE ${runs.id} = ${newestRun(param('cuy'))} AND ${runs.finished_at} IS NULL
ORDER BY ${addresses.derivation_index} LIMIT ${sliceAddressesMax}`)

const selectUnreported = statement(sql`
SELECT ${accepted.address}, ${acceptedColumns} FROM ${accepted}
WHERE ${accepted.cuy} = ${param('cuy')} AND ${accepted.reported} = 0
ORDER BY ${accepted.address} LIMIT ${reportedMax}`)

const updateReported = statement(sql`
UPDATE ${accepted} SET ${names(accepted.reported)} = 1
WHERE ${accepted.cuy} = ${param('cuy')} AND (${names(accepted.address, accepted.confirmed)}) IN (
  SELECT ${members(accepted.address, accepted.confirmed)} FROM json_each(${param('list')}))`)

const advanceRun = statement(
  build
    .update(runs)
    .set({
      finished_at: param('finishedAt'),
      cursor: param('cursor'),
      addresses: param('addresses'),
      recorded: param('recorded'),
      on_chain: param('onChain'),
      differing: param('differing'),
    })
    .where(eq(runs.id, param('id'))),
)

function movedStatements(db: Database, { run, moved: compared, fromHeight }: SliceResult): D1PreparedStatement[] {
  if (compared.length === 0) return []
  const list = JSON.stringify(compared.map(({ address, changes }) => ({ address, changes })))
  const values = { list, cuy: run.cuy, fromHeight }
  return [deleteMoved(db, values), keepMoved(db, values)]
}

const deleteMoved = statement(sql`
DELETE FROM ${moved}
WHERE ${moved.cuy} = ${param('cuy')} AND ${moved.newest_height} <= ${param('fromHeight')}
  AND (${names(moved.address, moved.changes)}) IN (
    SELECT ${members(moved.address, moved.changes)} FROM json_each(${param('list')}))`)

/** What is not deleted is compared again once each reading includes its newest change. */
const keepMoved = statement(sql`
UPDATE ${moved} SET ${names(moved.oldest_height)} = ${moved.newest_height}
WHERE ${moved.cuy} = ${param('cuy')}
  AND ${moved.address} IN (SELECT ${members(moved.address)} FROM json_each(${param('list')}))`)

function differenceStatements(db: Database, result: SliceResult): D1PreparedStatement[] {
  const { cuy } = result.run
  const forList = (run: Statement, rows: readonly unknown[]) =>
    rows.length === 0 ? [] : [run(db, { list: JSON.stringify(rows), cuy })]
  return [
    ...forList(deleteOpen, result.closed),
    ...forList(upsertOpen, result.open.map(writeOpen)),
    ...forList(upsertAccepted, result.accepted.map(writeAccepted)),
  ]
}

const deleteOpen = statement(sql`
DELETE FROM ${open}
WHERE ${open.cuy} = ${param('cuy')} AND ${open.address} IN (SELECT value FROM json_each(${param('list')}))`)

const excluded = (columns: ReturnType<typeof columnsOf>) =>
  sql.join(
    columns.map((column) => sql`${names(column)} = excluded.${names(column)}`),
    sql`, `,
  )

const openColumns = columnsOf(open, open.address, open.cuy)
const upsertOpen = statement(sql`
INSERT INTO ${open} (${names(open.address, open.cuy, ...openColumns)})
SELECT ${members(open.address)}, ${param('cuy')}, ${members(...openColumns)} FROM json_each(${param('list')}) WHERE true
ON CONFLICT (${names(open.address, open.cuy)}) DO UPDATE SET ${excluded(openColumns)}`)

const { address, cuy, reported, confirmed } = accepted
const changedColumns = columnsOf(accepted, address, cuy, reported)
const upsertAccepted = statement(sql`
INSERT INTO ${accepted} (${names(address, cuy, ...changedColumns, reported)})
SELECT ${members(address)}, ${param('cuy')}, ${members(...changedColumns)}, value ->> 'confirmed' = '0'
FROM json_each(${param('list')}) WHERE true
ON CONFLICT (${names(address, cuy)}) DO UPDATE SET ${excluded(changedColumns)},
  ${names(reported)} = iif(${confirmed} = excluded.${names(confirmed)}, ${reported}, 0)`)

function writeRun(run: ReconciliationRun) {
  return { ...run, recorded: run.recorded.toString(), onChain: run.onChain.toString() }
}

function writeOpen({ address, suspicion, reading }: OpenDifference): Omit<OpenRow, 'cuy'> {
  return {
    address,
    readings: suspicion.readings,
    amount: suspicion.amount.toString(),
    outgoing_count: suspicion.outgoingCount,
    balance: reading.balance.toString(),
    from_height: reading.fromHeight,
    to_height: reading.toHeight,
  }
}

function readOpen(row: OpenRow): OpenDifference {
  const { readings, amount, outgoing_count: outgoingCount } = row
  return {
    address: row.address,
    suspicion: { readings, amount: BigInt(amount), outgoingCount },
    reading: { balance: BigInt(row.balance), fromHeight: row.from_height, toHeight: row.to_height },
  }
}

function writeAccepted({ address, accepted: { fees, outgoingCount, confirmed } }: AddressDifference) {
  return { address, fees: fees.toString(), outgoing_count: outgoingCount, confirmed: confirmed.toString() }
}

function readAccepted({ address, fees, accepted_outgoing_count, confirmed }: AcceptedRow): AddressDifference {
  return {
    address,
    accepted: { fees: BigInt(fees), outgoingCount: accepted_outgoing_count, confirmed: BigInt(confirmed) },
  }
}

function readSlice(
  run: RunRow,
  due: readonly (OpenRow & AcceptedRow)[],
  changed: readonly MovedRow[],
  next: readonly NextRow[],
): Slice {
  return {
    run: readRun(run),
    due: due.map((row) => ({ ...readOpen(row), ...readAccepted(row) })),
    moved: changed.map((row) => ({ ...readAccepted(row), changes: row.changes, open: false })),
    next: next.map((row) => ({ ...readAccepted(row), index: row.derivation_index, open: row.is_open === 1 })),
  }
}

function readRun({ started_at, finished_at, last_index, recorded, on_chain, ...row }: RunRow): ReconciliationRun {
  return {
    ...row,
    startedAt: started_at,
    finishedAt: finished_at,
    lastIndex: last_index,
    recorded: BigInt(recorded),
    onChain: BigInt(on_chain),
  }
}
