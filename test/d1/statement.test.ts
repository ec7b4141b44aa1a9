import { sql } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import {
  isRefusedBy,
  memberList,
  toJsonTexts,
  toStatement,
  toText,
  type WriteDatabase,
} from '../../src/worker/d1/database.ts'
import { storedSettings } from '../../src/worker/d1/tables.ts'
import { openDatabase } from './fixtures.ts'

let db: WriteDatabase

beforeEach(async () => {
  db = await openDatabase()
})

it('SQL as text has no values', () => {
  expect(() => toText(sql`SELECT ${1}`)).toThrow('constant SQL has no values')
})

it('a list of any length is bound as JSON, in texts of a limited length', async () => {
  expect(toJsonTexts([1, 2, 3], 2)).toEqual(['[1,2]', '[3]'])
  expect(toJsonTexts([], 2)).toEqual([])
  const rows = [
    { value: 1, name: "it's" },
    { value: 2, name: null },
  ]
  const columns = memberList([storedSettings.value, storedSettings.name])
  const select = sql`SELECT ${columns} FROM json_each(${JSON.stringify(rows)})`
  expect((await toStatement(db, select).all()).results).toEqual(rows)
})

it('a refusal is recognised by the rule that refused', async () => {
  const refusalOf = (sql: string) =>
    db
      .prepare(sql)
      .run()
      .then(
        () => null,
        (cause: unknown) => cause,
      )
  const superseded = await refusalOf('UPDATE scan SET height = NULL')
  expect([isRefusedBy('scan_superseded', superseded), isRefusedBy('scan_height', superseded)]).toEqual([true, false])
  const deleted = await refusalOf('DELETE FROM scan')
  expect([isRefusedBy('scan: the row is never', deleted), isRefusedBy('row is never', deleted)]).toEqual([true, false])
  expect(isRefusedBy('scan', 'scan')).toBe(false)
})
