import type { DatabaseSync } from 'node:sqlite'

/**
 * The columns that a rebuilt database has otherwise, by table; `all`: the rows.
 * docs/decisions/0097-how-a-database-is-rebuilt.md has the reasons.
 */
const otherwise: Readonly<Record<string, readonly string[] | 'all'>> = {
  alarm: 'all',
  archive: 'all',
  archive_change: 'all',
  compared: 'all',
  credit_mark: 'all',
  payout_holding: 'all',
  size: 'all',
  token: 'all',
  webhook: 'all',
  d1_migrations: 'all',
  sqlite_sequence: 'all',
  payout_transaction: ['burnt', 'energy', 'seen_height', 'next_send', 'sends', 'sent_at', 'answers'],
  scan: ['answering_since', 'problem', 'nodes', 'restored_at'],
  stored_holding: [
    ...['balance', 'read_from', 'read_to', 'accepted', 'accepted_sent', 'read_sent', 'differing', 'difference'],
    ...['changed_height', 'due_at'],
  ],
  stored_transfer: ['sought'],
  total: ['changed_at'],
}

/** Rows that need not be there, as they say nothing or are removed, by table. */
const left: Readonly<Record<string, string>> = {
  rescan: 'finished_at IS NULL',
  payout_hour: 'count <> 0 AND hour >= (SELECT max(changed_at) / 3600000 - 48 FROM payout)',
  payout_sum: 'count <> 0',
  total: `number <> 0 AND kind NOT IN ('read', 'fees', 'difference')`,
  stored_holding: `sent <> 0 OR (part_0, part_1, part_2, part_3, part_4, part_5, part_6) <> (0, 0, 0, 0, 0, 0, 0)`,
}

/** Compares two databases table by table. Returns the rows that only one of them has. */
export function compareDatabases(lost: DatabaseSync, rebuilt: DatabaseSync): readonly string[] {
  return tablesOf(lost).flatMap((table) => {
    const without = otherwise[table] ?? []
    if (without === 'all') return []
    const [before, after] = [lost, rebuilt].map((db) => new Set(rowsOf(db, table, without)))
    if (before === undefined || after === undefined) return []
    return [
      ...[...before].filter((row) => !after.has(row)).map((row) => `lost ${table} ${row}`),
      ...[...after].filter((row) => !before.has(row)).map((row) => `new ${table} ${row}`),
    ]
  })
}

const tablesOf = (db: DatabaseSync) =>
  db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all()
    .map(({ name }) => String(name))

function rowsOf(db: DatabaseSync, table: string, without: readonly string[]): readonly string[] {
  const columns = db
    .prepare('SELECT name FROM pragma_table_xinfo(?)')
    .all(table)
    .map(({ name }) => String(name))
    .filter((name) => !without.includes(name))
  const values = columns.map((name) => `'${name}=' || quote(${name})`).join(` || ' ' || `)
  return db
    .prepare(`SELECT ${values} AS row FROM ${table} WHERE ${left[table] ?? 'true'}`)
    .all()
    .map(({ row }) => String(row))
}
