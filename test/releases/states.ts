import type { DatabaseSync } from 'node:sqlite'
import { alarmTable } from '../../src/worker/platform/alarm-table.ts'

/** Tables that have no rows: inserting into one is like a procedure call (docs/database.md). */
const calls = ['credit', 'posting', 'movement', 'summand', 'payout_effect']

/** Words that a rule allows and nothing stores: no event tells these ends of a transaction. */
const unused = ['reported unknown', 'reported late']

/** A rule that a column has one of these words, or `ended IS NULL OR ended IN …`. */
const wordsForm = /\b(\w+) IN \(('[\w-]+'(?:, ?'[\w-]+')+)\)/g

/**
 * What no database of a fixture has, by its own schema: tables without a row, and words that a
 * column may have. Alarms are listed in code.
 */
export function findMissing(databases: readonly DatabaseSync[]): readonly string[] {
  const [first] = databases
  if (first === undefined) return ['a database']
  const has = (sql: string, ...values: readonly string[]) =>
    databases.some((db) => db.prepare(sql).get(...values) !== undefined)
  const tables = first
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map(({ name, sql }) => ({ name: String(name), sql: String(sql) }))
    .filter(({ name }) => !calls.includes(name))
  const columnsOf = (name: string) =>
    first
      .prepare('SELECT name FROM pragma_table_xinfo(?)')
      .all(name)
      .map((column) => String(column.name))
  const missing = tables.flatMap(({ name, sql }) => {
    if (!has(`SELECT 1 FROM ${name}`)) return [`a row of ${name}`]
    const columns = columnsOf(name)
    const words = [...sql.matchAll(wordsForm)].flatMap(([, column = '', list = '']) =>
      columns.includes(column) ? list.split(/, ?/).map((word) => `${column} ${word.slice(1, -1)}`) : [],
    )
    return [...new Set(words)].flatMap((one) => {
      if (unused.includes(one)) return []
      const [column = '', word = ''] = one.split(' ')
      return has(`SELECT 1 FROM ${name} WHERE ${column} = ?`, word) ? [] : [`${name} with ${column} = '${word}'`]
    })
  })
  const alarms = Object.keys(alarmTable).filter((kind) => !has('SELECT 1 FROM alarm WHERE kind = ?', kind))
  return [...missing, ...alarms.map((kind) => `an alarm ${kind}`)]
}
