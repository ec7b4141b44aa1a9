import { DatabaseSync } from 'node:sqlite'

/** How long it took to restore a copy from its SQL text, and how large the text was. */
export interface Restored {
  readonly seconds: number
  /** The length of the SQL text in bytes. */
  readonly bytes: number
}

const chunkChars = 1_000_000

/**
 * Restores the copy of a database into a new one, from the statements that `wrangler d1 export`
 * writes: each table with a statement for each row, then indices and triggers. The text is executed
 * piece by piece, and is never in memory as a whole. Throws if a table of the new database has
 * another number of rows than in the old one.
 */
export function restoreCopy(from: string, to: string): Restored {
  const [old, restored] = [new DatabaseSync(from, { readOnly: true }), new DatabaseSync(to)]
  restored.exec('PRAGMA synchronous = off; PRAGMA journal_mode = off; PRAGMA cache_size = -2000000; BEGIN')
  let [bytes, chunk] = [0, '']
  const flush = () => {
    bytes += Buffer.byteLength(chunk)
    restored.exec(chunk)
    chunk = ''
  }
  const write = (sql: string) => {
    chunk += `${sql};\n`
    if (chunk.length > chunkChars) flush()
  }
  const begin = performance.now()
  const schema = old
    .prepare(`SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`)
    .all()
  for (const { type, name, sql } of schema) {
    if (type !== 'table') continue
    write(String(sql))
    for (const row of old.prepare(rowSql(old, String(name))).iterate()) write(String(row.sql))
  }
  write('DELETE FROM sqlite_sequence')
  for (const row of old.prepare(rowSql(old, 'sqlite_sequence')).iterate()) write(String(row.sql))
  for (const { type, sql } of schema) if (type !== 'table') write(String(sql))
  flush()
  restored.exec('COMMIT')
  const seconds = (performance.now() - begin) / 1000
  restored.exec('PRAGMA journal_mode = delete')
  for (const { type, name } of schema) {
    if (type !== 'table') continue
    const [a, b] = [old, restored].map((db) => db.prepare(`SELECT count(*) AS n FROM "${name}"`).get()?.n)
    if (a !== b) throw new Error(`${name}: ${b} rows in place of ${a}`)
  }
  old.close()
  restored.close()
  return { seconds, bytes }
}

/** A query that returns an INSERT statement for each row of a table. */
function rowSql(db: DatabaseSync, table: string): string {
  const columns = db.prepare(`PRAGMA table_info("${table}")`).all()
  const names = columns.map(({ name }) => `"${name}"`)
  const values = names.map((name) => `quote(${name})`).join(` || ',' || `)
  return `SELECT 'INSERT INTO "${table}" (${names.join(',')}) VALUES(' || ${values} || ')' AS sql FROM "${table}"`
}
