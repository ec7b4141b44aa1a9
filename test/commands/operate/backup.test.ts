import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { root } from '../../support/project.ts'
import { createLocalDatabase, databaseFileIn, type LocalDatabase } from '../local-database.ts'

// Marks are any text without control characters; other columns can have line ends.
const texts = [
  'BEGIN TRANSACTION',
  'BEGIN TRANSACTION; paid COMMIT; thanks',
  'COMMIT;',
  "BEGIN'||' TRANSACTION",
  'begin transaction',
  "it's 'quoted' \"twice\" `thrice`",
  'x; DROP TABLE wallet; -- y /* z',
  'CREATE TRIGGER x BEGIN SELECT 1; END;',
  "replace('a','\\n',char(10))",
  'a\\nb, a backslash at the end \\',
  'NULL',
  '',
  '😀 %s $1 & \\1',
]
const withLineEnds = ['a\nb', 'a\r\nb\rc', 'BEGIN TRANSACTION;\nCOMMIT;\n', "it's\n'quoted'"]
const largest = Number.MAX_SAFE_INTEGER
const beyond = (2n ** 256n - 1n).toString() // chain units are text, because they can be above 2^53

/**
 * Stores a row with each of the texts and numbers. The triggers are left out, because only what is
 * stored matters here.
 */
function fill(database: LocalDatabase): void {
  const db = new DatabaseSync(databaseFileIn(database.folder))
  const triggers = db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  const flow = db.prepare(`INSERT INTO stored_flow VALUES (?, 1, 9, ?, NULL, ?, ?, ?, 1, 'shop', ?, ?)`)
  for (const [i, text] of texts.entries()) {
    flow.run(i + 1, `order-${i}`, i % 2 === 0 ? largest : -largest, largest, text, i + 1, i + 1)
  }
  const rescan = db.prepare(
    `INSERT INTO rescan (kind, from_height, to_height, next_height, reason, next_try, created_at) VALUES ('request', 1, 2, 1, ?, 1, ?)`,
  )
  for (const text of withLineEnds) rescan.run(text, largest)
  db.prepare(
    `INSERT INTO stored_transfer (id, txid, position, height, cuy, from_address, to_address, raw, native, state, amount,
      created_at, changed_at)
      VALUES (1, unhex(?), 0, ?, 2, unhex(?), unhex(?), ?, 0, 'moved', 0, 1, 1)`,
  ).run('00ff'.repeat(16), largest, '0a'.repeat(20), '0d'.repeat(20), beyond)
  for (const { sql } of triggers) db.exec(String(sql))
  db.close()
}

/** Every row of every table, each value as SQLite writes it exactly. */
function contentsOf(database: LocalDatabase): Readonly<Record<string, unknown>> {
  const db = new DatabaseSync(databaseFileIn(database.folder))
  const tables = db.prepare(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name <> 'sqlite_sequence' ORDER BY name`,
  )
  const rowsOf = (table: string) => {
    const columns = db.prepare(`SELECT name FROM pragma_table_xinfo('${table}') ORDER BY cid`).all()
    const values = columns.map(({ name }) => `typeof("${name}") || ' ' || quote("${name}")`)
    return db.prepare(`SELECT ${values.join(` || ', ' || `)} AS row FROM "${table}" ORDER BY 1`).all()
  }
  const contents = tables.all().map(({ name }) => [name, rowsOf(String(name)).map(({ row }) => row)] as const)
  db.close()
  return Object.fromEntries(contents)
}

const databases: LocalDatabase[] = []
afterAll(() => {
  for (const database of databases) database.remove()
})

it('a copy by the real wrangler is restored by the way of the guide with every row, whatever people have written', async () => {
  const [old, plain, restored] = [createLocalDatabase(), ...[1, 2].map(() => createLocalDatabase({ hasTables: false }))]
  if (plain === undefined || restored === undefined) throw new Error('three databases')
  databases.push(old, plain, restored)
  fill(old)
  const backup = join(old.folder, 'backup.sql')
  expect(await old.wrangler('d1', 'export', 'DB', '--local', '--env=', '--output', backup)).toMatchObject({ code: 0 })
  const execute = (database: LocalDatabase, file: string) =>
    database.wrangler('d1', 'execute', 'DB', '--local', '--env=', '--yes', '--file', join(old.folder, file))
  expect((await execute(plain, 'backup.sql')).code).toBe(1) // so the guide's way is still needed

  const guide = readFileSync(`${root}docs/guides/repair.md`, 'utf8')
  const [command = ''] = /^sed .*$/m.exec(guide) ?? []
  execFileSync('sh', ['-c', command], { cwd: old.folder })
  const executed = await execute(restored, 'restore.sql')
  expect([executed.code, executed.all]).toMatchObject([0, expect.any(String)])
  expect(contentsOf(restored)).toEqual(contentsOf(old))
}, 180_000)
