import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { archiveChanges, type ChangedKind, type ChangeKind, changedKinds } from '../d1/archive-tables.ts'
import { allShown, type ReadDatabase, resultRows, toStatement } from '../d1/database.ts'
import { orders } from '../d1/order-tables.ts'
import { events, rescans, scans } from '../d1/state-tables.ts'
import {
  agreedDecimals,
  flows,
  keptAddresses,
  storedCurrencies,
  storedSettings,
  transfers,
  userRanges,
} from '../d1/tables.ts'
import { removed } from '../events/store/events.ts'
import type { ReaderPlace } from './position.ts'
import { keyOf, linedTables, type RowKind, type Scales, type StoredRow } from './rows.ts'

/** A row of the list of changes. */
export interface Change {
  readonly id: number
  readonly after_event: number
  readonly kind: ChangeKind
  /** JSON list. */
  readonly key: string
}

/** The news above a position, as they were at one moment. */
export interface Reading {
  readonly entries: readonly StoredRow[]
  readonly events: readonly StoredRow[]
  readonly changes: readonly Change[]
  /** The rows that the events, entries and changes are about, as they are. */
  readonly rows: Readonly<Record<ChangedKind, readonly StoredRow[]>>
  /** The highest id of a removed event. */
  readonly removed: number
  /** The highest id of an entry or event. */
  readonly newest: number
  readonly surroundings: Surroundings
}

/** The things without a number: the meaning of the stored data, and how far the scan is. */
export interface Surroundings {
  readonly configuration: Readonly<
    Record<'settings' | 'currencies' | 'decimals' | 'kept' | 'ranges', readonly StoredRow[]>
  >
  readonly scales: Scales
  /** Null before the scan has begun. */
  readonly scan: StoredRow | null
  readonly rescans: readonly StoredRow[]
}

/** The columns of `scan` that a line `scan` has. */
const scanColumns = sql.join(
  [
    ...[scans.height, scans.hash, scans.finalized, scans.finalized_time, scans.finalized_hash, scans.finalized_at],
    ...[scans.advanced_at, scans.caught_up_at, scans.tried_at, scans.halted, scans.corrected_by, scans.restored_at],
  ],
  sql`, `,
)

const ordered = (table: SQLiteTable, ...by: readonly SQL[]) =>
  sql`SELECT ${allShown(table)} FROM ${table} ORDER BY ${sql.join([...by], sql`, `)}`

const surroundingsSql = [
  ordered(storedSettings, sql`${storedSettings.name}`),
  ordered(storedCurrencies, sql`${storedCurrencies.cuy}`),
  ordered(agreedDecimals, sql`${agreedDecimals.contract}`),
  ordered(keptAddresses, sql`${keptAddresses.kind}`, sql`${keptAddresses.address}`),
  ordered(userRanges, sql`${userRanges.id}`),
  sql`SELECT ${scanColumns} FROM ${scans}`,
  sql`SELECT ${allShown(rescans)} FROM ${rescans} WHERE ${rescans.finished_at} IS NULL
    ORDER BY ${rescans.to_height}, ${rescans.id}`,
]

function toSurroundings(results: readonly D1Result[]): Surroundings {
  const [settings, currencies, decimals, kept, ranges, scan, open] = results.map((result) =>
    resultRows<StoredRow>(result),
  )
  const [found] = scan ?? []
  return {
    configuration: {
      settings: settings ?? [],
      currencies: currencies ?? [],
      decimals: decimals ?? [],
      kept: kept ?? [],
      ranges: ranges ?? [],
    },
    scales: new Map((currencies ?? []).map(({ cuy, scale }) => [Number(cuy), Number(scale)])),
    scan: found ?? null,
    rescans: open ?? [],
  }
}

/** Reads up to `max` entries and events, up to `max` changes, and all that they are about. */
export async function readNext(db: ReadDatabase, { event, change }: ReaderPlace, max: number): Promise<Reading> {
  // Entries and events have one numbering, without holes above the removed ones: more of either
  // than this would be read for nothing.
  const following = (id: SQLiteColumn | undefined) =>
    sql`${id} > ${event} AND ${id} <= max(${event}, ${removed}) + ${max} ORDER BY ${id} LIMIT ${max}`
  const next = (kind: 'entry' | 'event') => {
    const { select, from, key } = linedTables[kind]
    return sql`SELECT ${select} FROM ${from} WHERE ${following(key[0])}`
  }
  const page = sql`(SELECT * FROM ${archiveChanges} WHERE ${archiveChanges.id} > ${change}
    ORDER BY ${archiveChanges.id} LIMIT ${max})`
  const eventPage = sql`(SELECT * FROM ${events} WHERE ${following(events.id)})`
  const entryPage = sql`(SELECT * FROM ${flows} WHERE ${following(flows.id)})`
  const results = await db.batch(
    [
      next('entry'),
      next('event'),
      sql`SELECT ${allShown(archiveChanges)} FROM ${archiveChanges} WHERE ${archiveChanges.id} > ${change}
        ORDER BY ${archiveChanges.id} LIMIT ${max}`,
      sql`SELECT ${removed} AS removed, coalesce((SELECT id FROM last_event), 0) AS newest`,
      ...changedKinds.map((kind) => {
        const { select, from, key } = linedTables[kind]
        const parts = key.map((_, i) => sql`key ->> ${sql.raw(String(i))}`)
        const isChanged = sql`${keyOf(linedTables[kind])} IN (SELECT ${sql.join(parts, sql`, `)} FROM ${page} WHERE kind = ${kind})`
        return sql`SELECT ${select} FROM ${from} WHERE ${isChanged}${alsoAbout(kind, eventPage, entryPage)}`
      }),
      ...surroundingsSql,
    ].map((query) => toStatement(db, query)),
  )
  const [entries, found, changes, last, ...rest] = results
  const rows = changedKinds.map((kind, i) => [kind, resultRows<StoredRow>(rest[i])] as const)
  return {
    entries: resultRows(entries),
    events: resultRows(found),
    changes: resultRows(changes),
    rows: Object.fromEntries(rows) as Reading['rows'], // safe: all kinds
    removed: Number(resultRows<StoredRow>(last)[0]?.removed ?? 0),
    newest: Number(resultRows<StoredRow>(last)[0]?.newest ?? 0),
    surroundings: toSurroundings(rest.slice(changedKinds.length)),
  }
}

/** SQL that adds the transfers and orders that events and entries are about. */
function alsoAbout(kind: ChangedKind, eventPage: SQL, entryPage: SQL): SQL {
  if (kind === 'transfer') {
    return sql` OR (${transfers.txid}, ${transfers.position}) IN (
      SELECT txid, position FROM ${eventPage} WHERE type GLOB 'deposit.*')
    OR ${transfers.id} IN (SELECT transfer_id FROM ${entryPage} WHERE transfer_id IS NOT NULL)`
  }
  if (kind === 'order') {
    return sql` OR ${orders.id} IN (SELECT about ->> 0 FROM ${eventPage} WHERE type GLOB 'order.*')
    OR ${orders.id} IN (SELECT CAST(mark AS INTEGER) FROM ${entryPage} WHERE type = 1 AND mark <> '')`
  }
  return sql``
}

/**
 * Reads up to `max` rows of a kind above a key (all parts of it, or none), with the surroundings.
 */
export async function readCopy(
  db: ReadDatabase,
  kind: ChangedKind,
  above: readonly unknown[],
  max: number,
): Promise<{ readonly rows: readonly StoredRow[]; readonly surroundings: Surroundings }> {
  const { select, from, key } = linedTables[kind]
  const isAbove =
    above.length === 0
      ? sql``
      : sql`WHERE ${keyOf(linedTables[kind])} > (${sql.join(
          above.map((part) => sql`${part}`),
          sql`, `,
        )})`
  const query = sql`SELECT ${select} FROM ${from} ${isAbove} ORDER BY ${sql.join([...key], sql`, `)} LIMIT ${max}`
  const [rows, ...rest] = await db.batch([query, ...surroundingsSql].map((one) => toStatement(db, one)))
  return { rows: resultRows(rows), surroundings: toSurroundings(rest) }
}

/** Reads the rows with these keys, each a list of as many values as the key has columns. */
export async function readByKeys(
  db: ReadDatabase,
  wanted: ReadonlyMap<RowKind, readonly (readonly unknown[])[]>,
): Promise<{
  readonly rows: ReadonlyMap<RowKind, readonly StoredRow[]>
  readonly removed: number
  readonly surroundings: Surroundings
}> {
  const kinds = [...wanted.keys()]
  const results = await db.batch(
    [
      sql`SELECT ${removed} AS removed`,
      ...surroundingsSql,
      ...kinds.map((kind) => {
        const { select, from, key } = linedTables[kind]
        const parts = key.map((_, i) => sql`value ->> ${sql.raw(String(i))}`)
        const list = JSON.stringify(wanted.get(kind))
        return sql`SELECT ${select} FROM ${from}
          WHERE ${keyOf(linedTables[kind])} IN (SELECT ${sql.join(parts, sql`, `)} FROM json_each(${list}))`
      }),
    ].map((query) => toStatement(db, query)),
  )
  const [last, ...rest] = results
  return {
    removed: Number(resultRows<StoredRow>(last)[0]?.removed ?? 0),
    surroundings: toSurroundings(rest.slice(0, surroundingsSql.length)),
    rows: new Map(kinds.map((kind, i) => [kind, resultRows<StoredRow>(rest[surroundingsSql.length + i])])),
  }
}
