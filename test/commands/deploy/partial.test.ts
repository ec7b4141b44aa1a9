import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { root } from '../../support/project.ts'
import { createLocalDatabase, databaseFileIn, type LocalDatabase } from '../local-database.ts'

const guide = readFileSync(`${root}docs/guides/repair.md`, 'utf8')
const [, section = ''] = /^## A migration that D1 refuses\n([\s\S]*?)^## /m.exec(guide) ?? []
const [, undoSql = ''] = /"(SELECT 'DROP '[^"]*)"/.exec(section) ?? []
/** What the guide puts behind WHERE for a file that makes tables. */
const [, ofTables = ''] = /`(type = 'table'[^`]*)`/.exec(section.replaceAll('\n', ' ')) ?? []

const names = readdirSync(`${root}migrations`)
  .filter((name) => name.endsWith('.sql'))
  .sort()
const textOf = (name: string) => readFileSync(`${root}migrations/${name}`, 'utf8')
const statementsOf = (name: string) => textOf(name).split('--> statement-breakpoint')
/** SQL for what removes a file that was applied in part; no lines if it can be applied again. */
const undoOf = (name: string) => {
  if (name.startsWith('0000')) return undoSql.replace(/WHERE .*$/, `WHERE ${ofTables}`)
  return name.startsWith('0001') ? undoSql : `SELECT '' AS line`
}

const schemaOf = (db: DatabaseSync) =>
  db
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema WHERE name <> 'd1_migrations' AND name NOT GLOB '_cf_*' ORDER BY type, name`,
    )
    .all()

/** A database with the files before this one, and wrangler's own table. */
function openBefore(name: string): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)')
  for (const earlier of names.slice(0, names.indexOf(name))) db.exec(textOf(earlier))
  return db
}

/** The schema with each file and all before it. */
const wholes = new Map(
  names.map((name) => {
    const db = openBefore(name)
    db.exec(textOf(name))
    return [name, schemaOf(db)]
  }),
)

const points = names.flatMap((name) =>
  Array.from({ length: statementsOf(name).length + 1 }, (_, count) => [name, count] as const),
)

describe('a migration that was applied in part', () => {
  it.each(points)('%s is applied whole by the way of the guide, after its first %i statements', (name, count) => {
    const db = openBefore(name)
    for (const sql of statementsOf(name).slice(0, count)) db.exec(sql)
    const lines = db.prepare(undoOf(name)).all()
    db.exec(lines.map(({ line }) => String(line)).join('\n'))
    db.exec(textOf(name))
    expect(schemaOf(db)).toEqual(wholes.get(name))
    db.close()
  })
})

let database: LocalDatabase | null = null
afterAll(() => database?.remove())

it('the commands of the guide are those of the real wrangler', async () => {
  database = createLocalDatabase()
  const { folder } = database
  const file = databaseFileIn(folder)
  const db = new DatabaseSync(file)
  const whole = schemaOf(db)
  for (const { name } of db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid DESC LIMIT 30`)
    .all())
    db.exec(`DROP TRIGGER ${name}`)
  db.exec('DROP VIEW newest_migration; CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)')
  db.close()
  const here = (...args: readonly string[]) =>
    database?.wrangler('d1', 'execute', 'DB', '--local', '--env=', '--yes', ...args)
  const listed = await here('--json', '--command', undoSql)
  expect(listed?.code).toBe(0)
  writeFileSync(join(folder, 'undo.json'), listed?.out ?? '')
  const [, script = ''] = /^node -p "(.*)" > undo\.sql$/m.exec(section) ?? []
  writeFileSync(join(folder, 'undo.sql'), execFileSync(process.execPath, ['-p', script], { cwd: folder }))
  for (const name of [join(folder, 'undo.sql'), ...names.slice(1).map((one) => `${root}migrations/${one}`)]) {
    const executed = await here('--file', name)
    expect([executed?.code, executed?.all]).toMatchObject([0, expect.any(String)])
  }
  const after = new DatabaseSync(file)
  expect(schemaOf(after)).toEqual(whole)
  after.close()
}, 180_000)
