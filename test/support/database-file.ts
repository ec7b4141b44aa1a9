import { createHash, createHmac } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { root } from './project.ts'

/** The migrations in the order of their file names, in which they are applied. */
const migrations = () =>
  readdirSync(`${root}migrations`)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, sql: readFileSync(`${root}migrations/${name}`, 'utf8') }))

/** The SQL of the migrations in the order in which they are applied. */
export const readMigrations = (): readonly string[] => migrations().map(({ sql }) => sql)

/**
 * Creates a database with the real migrations in a file as workerd stores it, and runs `rows`.
 * wrangler would take seconds for that.
 */
export function createDatabaseFile(file: string, rows = ''): void {
  const db = openDatabaseFile(file)
  for (const sql of readMigrations()) db.exec(sql)
  db.exec(rows)
  db.close()
}

/**
 * Applies the missing migrations to the database in a file, each whole or not at all. Database and
 * list of migrations are those of `wrangler d1 migrations apply --local`, which takes seconds.
 */
export function applyMigrations(file: string): void {
  const db = openDatabaseFile(file)
  db.exec(`CREATE TABLE IF NOT EXISTS d1_migrations(
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
  )`)
  const applied = new Set(
    db
      .prepare('SELECT name FROM d1_migrations')
      .all()
      .map(({ name }) => name),
  )
  for (const { name, sql } of migrations().filter((one) => !applied.has(one.name))) {
    db.exec(`BEGIN; ${sql}; INSERT INTO d1_migrations (name) VALUES ('${name}'); COMMIT`)
  }
  db.close()
}

function openDatabaseFile(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true })
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL') // workerd's journal mode (commands/operate/restore.test.ts)
  return db
}

/**
 * The file in which Miniflare stores the D1 database with this id. `folder` is the one with the
 * files of all databases.
 */
export function fileOfD1(folder: string, id: string): string {
  const name = 'miniflare-D1DatabaseObject'
  const key = createHash('sha256').update(name).digest()
  const hmacOf = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const hash = hmacOf(id)
  return `${folder}/${name}/${hash.toString('hex')}${hmacOf(hash).toString('hex')}.sqlite`
}
