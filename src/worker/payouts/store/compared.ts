import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { BlockHeight } from '../../chain/block.ts'
import type { EventId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, type ReadDatabase, shown, type WriteDatabase } from '../../d1/database.ts'
import { payoutTransactions } from '../../d1/payout-tables.ts'
import { events, rescans, scans } from '../../d1/state-tables.ts'
import { flows } from '../../d1/tables.ts'
import { openAddresses } from './conclusions.ts'

/** The state of the database that is compared with the memory of the scanner's Durable Object. */
export interface ComparedRow {
  /** The database's event or entry under the number that the Durable Object remembers, as text; null if there is none. */
  readonly same: string | null
  readonly newest: { readonly id: EventId; readonly text: string } | null
  /** The highest number that any event has had in this database. */
  readonly lastId: number
  /** Whether a signer has ever handed in a transaction. */
  readonly hasSigned: boolean
  /** The newest block that the scan has stored; -1 before it has started. */
  readonly position: BlockHeight
  /** The timestamp of the newest final block; null if that block is not read yet. */
  readonly finalTime: UnixMs | null
  /** The lowest unread block below the position. Blocks that an operator wants read again were read before, so they do not count. */
  readonly unread: BlockHeight | null
  /** The payout addresses that have open transactions. */
  readonly openPayers: readonly Address[]
  /** Since when the database itself records that it is a restored older copy; null if it has no such record. */
  readonly restoredAt: UnixMs | null
}

/** Reads the state to compare, in one statement. `noted` is the number of the event that the scanner's Durable Object remembers; 0 if there is none. */
export async function selectCompared(db: ReadDatabase, noted: EventId | 0): Promise<ComparedRow> {
  const row = await compared(db, { noted }).first<Row>()
  if (row === null) throw new Error('a view of sums has a row')
  const { newestId, newestText, lastId, hasSigned, openPayers, ...others } = row
  return {
    ...others,
    lastId: lastId ?? 0,
    hasSigned: hasSigned === 1,
    newest: newestId === null || newestText === null ? null : { id: newestId, text: newestText },
    openPayers: JSON.parse(openPayers) as readonly Address[], // safe: a JSON list of addresses
  }
}

type Row = Omit<ComparedRow, 'newest' | 'lastId' | 'hasSigned' | 'openPayers'> & {
  readonly newestId: EventId | null
  readonly newestText: string | null
  readonly lastId: number | null
  readonly hasSigned: 0 | 1
  readonly openPayers: string
}

/** Stores since when the database is known to be an older copy, or null. While a time is stored, the database itself refuses to move money. */
export async function storeRestoredAt(db: WriteDatabase, at: UnixMs | null): Promise<void> {
  await updateRestoredAt(db, { at }).run()
}

const textOf = (table: typeof events | typeof flows) =>
  sql`json_array(${sql.join(Object.values(getTableColumns(table)).map(shown), sql`, `)})`
/** SQL: the event or entry with this number, as a JSON text of its columns. Events and entries share one numbering. */
const textAt = (number: SQL) => sql`coalesce((SELECT ${textOf(events)} FROM ${events} WHERE ${events.id} = ${number}),
  (SELECT ${textOf(flows)} FROM ${flows} WHERE ${flows.id} = ${number}))`
const { kind, finished_at, next_height } = rescans

const compared = fixedStatement<'noted'>(sql`
SELECT nullif(last_event.id, 0) AS "newestId", ${textAt(sql`last_event.id`)} AS "newestText",
  ${textAt(sql`${sql.placeholder('noted')}`)} AS same, last_event.id AS "lastId",
  EXISTS (SELECT 1 FROM ${payoutTransactions} INDEXED BY payout_transaction_payout WHERE ${payoutTransactions.payout_id} > 0) AS "hasSigned",
  coalesce((SELECT ${scans.height} FROM ${scans}), -1) AS position,
  (SELECT ${scans.finalized_time} FROM ${scans} WHERE ${scans.height} = ${scans.finalized}) AS "finalTime",
  (SELECT min(${next_height}) FROM ${rescans} INDEXED BY rescan_unread WHERE ${finished_at} IS NULL AND ${kind} <> 'request') AS unread,
  (SELECT ${scans.restored_at} FROM ${scans}) AS "restoredAt",
  ${openAddresses} AS "openPayers"
FROM last_event`)

const updateRestoredAt = fixedStatement<'at'>(sql`
UPDATE ${scans} SET restored_at = ${sql.placeholder('at')} WHERE restored_at IS NOT ${sql.placeholder('at')}`)
