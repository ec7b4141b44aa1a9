import { createHash, createHmac } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { root } from './project.ts'

/** The SQL of the migrations in the order of their file names, in which they are applied. */
export function readMigrations(): readonly string[] {
  const names = readdirSync(`${root}migrations`).filter((name) => name.endsWith('.sql'))
  return names.sort().map((name) => readFileSync(`${root}migrations/${name}`, 'utf8'))
}

/**
 * Creates a database with the real migrations in a file as workerd stores it, and runs `rows`.
 * wrangler would take seconds for that.
 */
export function createDatabaseFile(file: string, rows = ''): void {
  mkdirSync(dirname(file), { recursive: true })
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL') // workerd's journal mode (commands/operate/restore.test.ts)
  for (const sql of readMigrations()) db.exec(sql)
  db.exec(rows)
  db.close()
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
