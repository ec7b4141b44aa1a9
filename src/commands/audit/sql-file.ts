import { closeSync, openSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { ToolError } from '../tool-error.ts'

/** A statement ends at about this size. D1 takes 100,000 bytes, and a row has fewer than 20,000. */
const statementChars = 60_000

/** Creates a file that only its owner can read. It never replaces one. */
export function createSqlFile(path: string): { write(text: string): void; close(): void } {
  try {
    const file = openSync(path, 'wx', 0o600)
    return { write: (text) => writeSync(file, text), close: () => closeSync(file) }
  } catch {
    throw new ToolError(
      `${path} cannot be created: it exists already, or the folder is not writable`,
      'name another file',
    )
  }
}

/**
 * Writes a database as SQL text, as an export of D1 is: tables with their rows, then indices, views
 * and triggers. So no trigger sees the rows.
 */
export function writeSql(db: DatabaseSync, write: (text: string) => void): void {
  const schema = db.prepare(`SELECT type, name, sql FROM sqlite_schema
    WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND type = ? ORDER BY rowid`)
  const named = (type: string) =>
    schema.all(type) as unknown as readonly { readonly name: string; readonly sql: string }[] // safe: its columns
  write('PRAGMA defer_foreign_keys = TRUE;\n')
  for (const { name, sql } of named('table')) {
    write(`${sql};\n`)
    writeRows(db, name, write)
  }
  for (const type of ['index', 'view', 'trigger']) for (const { sql } of named(type)) write(`${sql};\n`)
}

function writeRows(db: DatabaseSync, table: string, write: (text: string) => void): void {
  const columns = db.prepare('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0').all(table)
  const names = columns.map(({ name }) => `"${name}"`)
  const rows = db.prepare(`SELECT ${names.map((name) => `quote(${name})`).join(` || ',' || `)} AS row FROM ${table}`)
  const begin = `INSERT INTO "${table}" (${names.join(',')}) VALUES\n`
  let open = ''
  for (const { row } of rows.iterate()) {
    // wrangler takes these two words for a command, also in somebody's remark
    const text = `(${String(row).replaceAll('BEGIN TRANSACTION', `BEGIN'||' TRANSACTION`)})`
    open = open === '' ? begin + text : `${open},\n${text}`
    if (open.length < statementChars) continue
    write(`${open};\n`)
    open = ''
  }
  if (open !== '') write(`${open};\n`)
}
