/**
 * `npm run db:generate` runs this after drizzle-kit: it compares the steps and stops that the
 * code's tables allow with those of a database that has all migrations. They stand in triggers and
 * a view, between the lines `-- generated from <table>` and `-- end of <table>`. What differs is
 * written into the migrations that are not released, and else into a new one.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type StepCondition, transferSteps } from '../src/worker/deposits/transitions.ts'
import { mayGoOn } from '../src/worker/ledger/stops.ts'
import { type OrderEvent, orderSteps } from '../src/worker/orders/lifecycle.ts'
import { payoutSteps, transactionSteps } from '../src/worker/payouts/lifecycle.ts'
import { folder, readMigrations, readReleased } from './released.ts'

/**
 * SQL for what must hold at a step of a transfer, besides its states; empty if nothing must, or if
 * a rule of its own checks it.
 */
const conditionSql: Readonly<Record<StepCondition, string>> = {
  read: '',
  passed: '', // 'its block is not read yet'
  'asked-again':
    "EXISTS (\n  SELECT 1 FROM rescan WHERE kind = 'request' AND finished_at IS NULL AND to_height >= OLD.height AND next_height <= OLD.height)",
  decided: "OLD.review IS 'refuse' AND NEW.review IS 'credit'",
  corrected: 'OLD.height > (SELECT finalized FROM scan)',
  'found-again': `OLD.sought = 1\n  AND (${exceptBlock('NEW')})\n    IS (${exceptBlock('OLD')})`,
}

/** SQL for what must hold at a step of an order, besides its states. */
const orderConditionSql: Readonly<Record<OrderEvent, string>> = {
  count: 'NEW.newest_entry > OLD.newest_entry',
  pass: 'NEW.newest_entry = OLD.newest_entry',
  cancel: 'OLD.credited = 0',
}

/** What stays of a transfer that is found again: everything but its block. */
function exceptBlock(row: 'NEW' | 'OLD'): string {
  const names = 'cuy uid from_address to_address raw native reason amount review seconds seen_by'.split(' ')
  return names.map((name) => `${row}.${name}`).join(', ')
}

/** The lines of each table, without indentation. */
const tables: Readonly<Record<string, readonly string[]>> = {
  transferSteps: stepsSql(transferSteps, 'state', (event) => conditionSql[event]),
  payoutSteps: stepsSql(payoutSteps, 'state', () => ''),
  orderSteps: stepsSql(orderSteps, 'state', (event) => orderConditionSql[event]),
  transactionSteps: stepsSql(transactionSteps, 'ended', () => ''),
  mayGoOn: Object.entries(mayGoOn).map(([fact, steps], index, { length }) => {
    const stopped = Object.entries(steps).flatMap(([step, mayBeTaken]) => (mayBeTaken ? [] : [`"${step}"`]))
    return `('${fact}', '[${stopped.join(', ')}]')${index === length - 1 ? '' : ','}`
  }),
}

/** The steps of a table by the states that they begin with and end in, each with its events. */
type Steps<Event> = Readonly<Record<string, Partial<Readonly<Record<string, readonly Event[]>>>>>

/**
 * A condition that holds for exactly the steps of a table. Steps from one state share a line if
 * they have the same condition.
 */
function stepsSql<Event>(
  steps: Steps<Event>,
  column: string,
  conditionOf: (event: Event) => string,
): readonly string[] {
  const lines = Object.entries(steps).flatMap(([from, targets]) => {
    const statesBy = new Map<string, string[]>()
    for (const [to, events = []] of Object.entries(targets)) {
      const conditions = new Set(events.map(conditionOf))
      const needed = conditions.has('') ? [''] : conditions // an event without a condition outweighs the others
      for (const condition of needed) statesBy.set(condition, [...(statesBy.get(condition) ?? []), to])
    }
    return [...statesBy].map(([condition, states]) =>
      [isIn(`OLD.${column}`, [from]), isIn(`NEW.${column}`, states), ...(condition === '' ? [] : [condition])].join(
        ' AND ',
      ),
    )
  })
  return lines.map((line, index) => `${index === 0 ? '' : 'OR '}(${line})`)
}

/** A transaction is `open` while its column `ended` is NULL. */
function isIn(column: string, states: readonly string[]): string {
  const words = states.filter((state) => state !== 'open' || !column.endsWith('.ended')).map((state) => `'${state}'`)
  const isWord = words.length === 1 ? `${column} IS ${words.join()}` : `${column} IN (${words.join(', ')})`
  if (words.length === states.length) return isWord
  return words.length === 0 ? `${column} IS NULL` : `(${column} IS NULL OR ${isWord})`
}

/** A trigger or view of a database. */
interface SchemaPart {
  readonly type: string
  readonly name: string
  /** The statement that created it, as it was written. */
  readonly sql: string
}

/** Matches the lines of a table in SQL. */
const regionOf = (table: string) => new RegExp(`^( *)-- generated from ${table}\\n[^]*?^ *-- end of ${table}\\n`, 'm')

/** SQL with the tables as they are in the code, wherever it has their lines. */
function withTables(sql: string): string {
  return Object.entries(tables).reduce(
    (written, [table, lines]) =>
      written.replace(regionOf(table), (_, indent: string) =>
        [`-- generated from ${table}`, ...lines, `-- end of ${table}\n`].join('\n').replace(/^(?=.)/gm, indent),
      ),
    sql,
  )
}

/**
 * The migrations, by name, after which a database has the tables as they are in the code: released
 * ones as they are, with a new one for what they have otherwise. Throws if the database lacks a
 * table.
 */
export function generateSteps(
  migrations: ReadonlyMap<string, string>,
  isReleased: (name: string) => boolean,
): ReadonlyMap<string, string> {
  const current = new Map([...migrations].map(([name, sql]) => [name, isReleased(name) ? sql : withTables(sql)]))
  const parts = migrate([...current.values()])
  const missing = Object.keys(tables).find((table) => !parts.some(({ sql }) => regionOf(table).test(sql)))
  if (missing !== undefined) throw new Error(`no trigger or view of the migrated database has the lines of ${missing}`)
  const changed = parts.filter(({ sql }) => withTables(sql) !== sql)
  if (changed.length === 0) return current
  const number = Math.max(...[...current.keys()].map((name) => Number.parseInt(name, 10))) + 1
  return current.set(`${String(number).padStart(4, '0')}_steps.sql`, replaceParts(changed, number))
}

/** The triggers and views of a database with these migrations. */
function migrate(migrations: readonly string[]): readonly SchemaPart[] {
  const db = new DatabaseSync(':memory:')
  for (const sql of migrations) db.exec(sql)
  const rows = db.prepare(`SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view')`).all()
  db.close()
  return rows as unknown as readonly SchemaPart[] // safe: these are the columns, and neither kind is without SQL
}

/** A migration with this number that replaces triggers and views. It can be applied twice. */
function replaceParts(parts: readonly SchemaPart[], number: number): string {
  const statements = [
    ...parts.flatMap(({ type, name, sql }) => [`DROP ${type.toUpperCase()} IF EXISTS ${name}`, withTables(sql)]),
    'DROP VIEW IF EXISTS newest_migration',
    `CREATE VIEW newest_migration AS SELECT ${number} AS number`,
  ]
  return `${statements.join(';\n--> statement-breakpoint\n')};\n`
}

if (import.meta.main) {
  const released = readReleased()
  const before = readMigrations()
  for (const [name, sql] of generateSteps(before, (one) => released.has(one))) {
    // makes the file, and its place in drizzle-kit's list
    if (!before.has(name)) execFileSync('drizzle-kit', ['generate', '--custom', '--name', 'steps'])
    writeFileSync(folder + name, sql)
  }
}
