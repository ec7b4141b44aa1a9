import { beforeEach, describe, expect, test } from 'vitest'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { type WriteDatabase, writable } from '../../src/worker/d1/database.ts'
import { meterDatabase } from '../../src/worker/d1/sessions.ts'
import { createUsage, type Usage } from '../../src/worker/platform/usage.ts'
import { freshDatabase } from '../support/database.ts'

let plain: D1Database
let usage: Usage
let db: WriteDatabase
let now: number

beforeEach(async () => {
  plain = await freshDatabase()
  await plain.batch([
    plain.prepare('CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT) STRICT'),
    plain.prepare("INSERT INTO word (text) VALUES ('a'), ('b'), ('c')"),
  ])
  usage = createUsage()
  now = 0
  const tick = () => {
    now += 10
    return now as UnixMs
  }
  db = meterDatabase(writable(plain), usage, { now: tick })
})

const select = 'SELECT id, text FROM word WHERE id > ?1 ORDER BY id'
const spent = () => ({ queries: usage.database.calls, rows: usage.rowsRead, ms: usage.database.ms })

describe('a metered database', () => {
  test.each<[string, (from: WriteDatabase) => Promise<unknown>]>([
    ['all', async (from) => (await from.prepare(select).bind(0).all()).results],
    ['run', async (from) => (await from.prepare(select).bind(0).run()).results],
    ['raw', (from) => from.prepare(select).bind(0).raw()],
    ['first', (from) => from.prepare(select).bind(0).first()],
    ['first with a column', (from) => from.prepare(select).bind(0).first('text')],
    ['first without a row', (from) => from.prepare(select).bind(9).first()],
    ['batch', async (from) => (await from.batch([from.prepare(select).bind(0)])).map(({ results }) => results)],
  ])('returns the result of %s as D1 does and counts it', async (_method, run) => {
    expect(await run(db)).toEqual(await run(writable(plain)))
    const { queries, ms } = spent()
    expect({ queries, ms }).toEqual({ queries: 1, ms: 10 })
  })

  test('counts the rows that were read, not those that were returned', async () => {
    await db.prepare('SELECT count(*) FROM word').raw()
    expect(spent().rows).toBe(3)
  })

  test('counts each statement of a batch and its time once', async () => {
    await db.batch([db.prepare(select).bind(0), db.prepare(select).bind(0)])
    expect(spent()).toEqual({ queries: 2, rows: 6, ms: 10 })
  })

  test('counts the time of concurrent statements once', async () => {
    await Promise.all([db.prepare(select).bind(0).all(), db.prepare(select).bind(0).all()])
    expect(spent()).toEqual({ queries: 2, rows: 6, ms: 10 })
  })

  test('counts a statement that fails and passes the error on', async () => {
    await expect(db.prepare('SELECT text FROM nowhere').all()).rejects.toThrow('nowhere')
    expect(spent()).toEqual({ queries: 1, rows: 0, ms: 10 })
  })
})
