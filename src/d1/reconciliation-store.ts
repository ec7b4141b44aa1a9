import type { Address } from '../addresses/address.ts'
import type { CurrencyId } from '../ledger/currencies.ts'
import { type AcceptedDifference, judgedPerSliceMax, sliceAddressesMax } from '../reconciliation/judge-reading.ts'
import type {
  AddressDifference,
  OpenDifference,
  ReconciliationRun,
  ReconciliationStore,
  Slice,
  SliceResult,
} from '../reconciliation/reconciliation-store.ts'
import type { Database } from './database.ts'
import { readRecordedBalances, type SumRow, sumRecordedBalances } from './recorded-balances.ts'
import type { openDifferences, reconciliations } from './tables.ts'

type RunRow = typeof reconciliations.$inferSelect
type DifferenceRow = typeof openDifferences.$inferSelect
interface StandingRow {
  readonly address: Address
  readonly fees: string
  readonly covered: number
  readonly known: string
}
type NextRow = StandingRow & { readonly idx: number; readonly examined: number }

/** Differences told in one turn. */
const toldMax = 20

/** What reconciliation keeps, over D1. A turn's lists are short (60 rows at most), so each is one bound text. */
export function createReconciliationStore(db: Database): ReconciliationStore {
  return {
    async currenciesDue(asked, before, position) {
      const rows = await db.prepare(selectWaiting).bind(JSON.stringify(asked), before, position).raw<[CurrencyId]>()
      return rows.map(([cuy]) => cuy)
    },

    async beginSlice(cuy, at, before, position) {
      const [, newest, due, next] = await db.batch<unknown>([
        db.prepare(insertRun).bind(cuy, at, before),
        db.prepare(selectRun).bind(cuy),
        db.prepare(selectDue).bind(cuy, position, judgedPerSliceMax),
        db.prepare(selectNext).bind(cuy, sliceAddressesMax),
      ])
      // safe: the columns are those that each statement selects
      const [run] = (newest?.results ?? []) as RunRow[]
      if (run === undefined) return null
      return {
        run: readRun(run),
        due: ((due?.results ?? []) as (DifferenceRow & StandingRow)[]).map((row) => ({
          ...readDifference(row),
          ...readStanding(row),
        })),
        next: ((next?.results ?? []) as NextRow[]).map((row) => ({
          ...readStanding(row),
          index: row.idx,
          examined: row.examined === 1,
        })),
      } satisfies Slice
    },

    async recordedBalances(cuy, asked) {
      const rows = await db.prepare(sumRecordedBalances).bind(JSON.stringify(asked), cuy).raw<SumRow>()
      return readRecordedBalances(asked.length, rows)
    },

    async storeSlice(result) {
      try {
        await db.batch([moveRun(db, result), ...writeFindings(db, result)])
        return 'stored'
      } catch (cause) {
        if (isOvertaken(cause)) return 'superseded'
        throw cause
      }
    },

    async unreported(cuy) {
      const { results } = await db.prepare(selectUntold).bind(cuy, toldMax).run<StandingRow>()
      return results.map(readStanding)
    },

    async markReported(cuy, told) {
      const rows = told.map(({ address, accepted: baseline }) => ({ address, known: baseline.confirmed.toString() }))
      await db.prepare(updateTold).bind(JSON.stringify(rows), cuy).run()
    },
  }
}

const newestRun = (cuy: string) => `(SELECT max(id) FROM reconciliation WHERE reconciliation.cuy = ${cuy})`

const selectWaiting = `
SELECT asked.value FROM json_each(?1) AS asked
LEFT JOIN reconciliation AS run ON run.id = ${newestRun('asked.value')}
WHERE (EXISTS (SELECT 1 FROM address) AND (run.id IS NULL OR run.finished_at IS NULL OR run.started_at <= ?2))
  OR EXISTS (SELECT 1 FROM difference WHERE cuy = asked.value AND high <= ?3)
  OR EXISTS (SELECT 1 FROM baseline WHERE cuy = asked.value AND told = 0)
ORDER BY asked.key`

const insertRun = `
INSERT INTO reconciliation (cuy, started_at, through)
SELECT ?1, ?2, (SELECT max(idx) FROM address)
WHERE EXISTS (SELECT 1 FROM address) AND NOT EXISTS (
  SELECT 1 FROM reconciliation WHERE id = ${newestRun('?1')} AND (finished_at IS NULL OR started_at > ?3))`

const selectRun = `SELECT * FROM reconciliation WHERE id = ${newestRun('?1')}`

const standing = `coalesce(baseline.fees, '0') AS fees, coalesce(baseline.sent, 0) AS covered,
  coalesce(baseline.known, '0') AS known`

const selectDue = `
SELECT difference.*, ${standing}
FROM difference LEFT JOIN baseline ON baseline.address = difference.address AND baseline.cuy = difference.cuy
WHERE difference.cuy = ?1 AND difference.high <= ?2
ORDER BY difference.high, difference.address LIMIT ?3`

const selectNext = `
SELECT address.hex AS address, address.idx, difference.address IS NOT NULL AS examined, ${standing}
FROM reconciliation AS run
JOIN address ON address.idx > run.cursor AND address.idx <= run.through
LEFT JOIN baseline ON baseline.address = address.hex AND baseline.cuy = ?1
LEFT JOIN difference ON difference.address = address.hex AND difference.cuy = ?1
WHERE run.id = ${newestRun('?1')} AND run.finished_at IS NULL
ORDER BY address.idx LIMIT ?2`

const selectUntold = `
SELECT address, fees, sent AS covered, known FROM baseline WHERE cuy = ?1 AND told = 0 ORDER BY address LIMIT ?2`

const updateTold = `
UPDATE baseline SET told = 1
WHERE cuy = ?2 AND (address, known) IN (SELECT value ->> 'address', value ->> 'known' FROM json_each(?1))`

/** Moves the run on, or fails the batch: where another turn or run came first, `turns` becomes NULL, which is refused. */
function moveRun(db: Database, { after, run }: SliceResult): D1PreparedStatement {
  const { id, cuy, finishedAt, cursor, addresses, recorded, onChain: held, differing } = run
  return db
    .prepare(
      `UPDATE reconciliation SET turns = iif(turns = ?1 AND id = ${newestRun('?3')}, turns + 1, NULL),
        finished_at = ?4, cursor = ?5, addresses = ?6, recorded = ?7, held = ?8, differing = ?9 WHERE id = ?2`,
    )
    .bind(after, id, cuy, finishedAt, cursor, addresses, recorded.toString(), held.toString(), differing)
}

/** Whether the batch failed because another turn came first. Any other failure is a bug. */
function isOvertaken(cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes('NOT NULL constraint failed: reconciliation.turns')
}

function writeFindings(
  db: Database,
  { run: { cuy }, open, closed, accepted: baselines }: SliceResult,
): D1PreparedStatement[] {
  const list = (sql: string, rows: readonly unknown[]) =>
    rows.length === 0 ? [] : [db.prepare(sql).bind(JSON.stringify(rows), cuy)]
  return [
    ...list(deleteDifferences, closed),
    ...list(upsertDifferences, open.map(writeDifference)),
    ...list(upsertBaselines, baselines.map(writeStanding)),
  ]
}

const deleteDifferences = `
DELETE FROM difference WHERE cuy = ?2 AND address IN (SELECT value FROM json_each(?1))`

const fields = (columns: readonly string[]) => columns.map((column) => `value ->> '${column}'`).join(', ')
const replace = (columns: readonly string[]) => columns.map((column) => `${column} = excluded.${column}`).join(', ')

const differenceColumns = ['looks', 'amount', 'sent', 'held', 'low', 'high'] satisfies (keyof DifferenceRow)[]
const upsertDifferences = `
INSERT INTO difference (address, cuy, ${differenceColumns.join(', ')})
SELECT value ->> 'address', ?2, ${fields(differenceColumns)} FROM json_each(?1) WHERE true
ON CONFLICT (address, cuy) DO UPDATE SET ${replace(differenceColumns)}`

const upsertBaselines = `
INSERT INTO baseline (address, cuy, fees, sent, known, told)
SELECT value ->> 'address', ?2, ${fields(['fees', 'sent', 'known'])}, value ->> 'known' = '0' FROM json_each(?1) WHERE true
ON CONFLICT (address, cuy) DO UPDATE SET ${replace(['fees', 'sent', 'known'])},
  told = iif(baseline.known = excluded.known, baseline.told, 0)`

function writeDifference({ address, suspicion, reading: look }: OpenDifference): Omit<DifferenceRow, 'cuy'> {
  const { readings: looks, amount, outgoingCount: sent } = suspicion
  const { balance: held, low, high } = look
  return { address, looks, amount: amount.toString(), sent, held: held.toString(), low, high }
}

function readDifference({ address, looks, amount, sent, held, low, high }: DifferenceRow): OpenDifference {
  return {
    address,
    suspicion: { readings: looks, amount: BigInt(amount), outgoingCount: sent },
    reading: { balance: BigInt(held), low, high },
  }
}

function writeStanding({ address, accepted: baseline }: AddressDifference) {
  const { fees, outgoingCount: sent, confirmed: known } = baseline
  return { address, fees: fees.toString(), sent, known: known.toString() }
}

function readStanding({ address, fees, covered, known }: StandingRow): AddressDifference {
  const baseline: AcceptedDifference = { fees: BigInt(fees), outgoingCount: covered, confirmed: BigInt(known) }
  return { address, accepted: baseline }
}

function readRun(row: RunRow): ReconciliationRun {
  const { id, cuy, turns, cursor, through, addresses, recorded, held, differing } = row
  return {
    id,
    cuy,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    slices: turns,
    cursor,
    lastIndex: through,
    addresses,
    recorded: BigInt(recorded),
    onChain: BigInt(held),
    differing,
  }
}
