import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLocalDatabase, databaseFileIn, type LocalDatabase } from '../local-database.ts'

let database: LocalDatabase
beforeAll(() => {
  database = createLocalDatabase()
})
afterAll(() => database.remove())

it('a tool that reads the local database stops no tick: none of its writes is refused, and the tool sees them', async () => {
  const service = new DatabaseSync(databaseFileIn(database.folder), { timeout: 0 }) // as workerd: no wait for a lock
  service.exec(`INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at,
    tried_at)
    VALUES (1, 900000, '${'a'.repeat(64)}', 900000, 5, 5, 5, 5, 5)`)
  const insert =
    service.prepare(`INSERT INTO rescan (kind, from_height, to_height, next_height, why, created_at, next_try)
    VALUES ('gap', ?, ?, ?, 'no agreement', 1790000000000, 1790000600000)`)
  let height = 0
  const refused: unknown[] = []
  const tick = () => {
    height += 2 // not adjacent, because adjacent heights would become one gap
    try {
      insert.run(height, height, height)
      if (height % 20 === 0) service.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      refused.push(error)
    }
  }
  tick()
  expect(refused).toEqual([])
  const ticks = setInterval(tick, 1)
  try {
    const { code, out } = await database.operateByWrangler('gap', 'list')
    expect([code, out]).toEqual([0, expect.stringContaining('Open gap: block 2 since ')])
  } finally {
    clearInterval(ticks)
    service.close()
  }
  expect(height).toBeGreaterThan(100)
  expect(refused).toEqual([])
}, 60_000)

it('a tool reads the local database while a tick writes: it opens it for no writing', async () => {
  const service = new DatabaseSync(databaseFileIn(database.folder), { timeout: 0 })
  service.exec('BEGIN IMMEDIATE')
  try {
    const { code, out } = await database.operateByWrangler('gap', 'list')
    expect([code, out]).toEqual([0, expect.stringContaining('Open gap: block 2 since ')])
  } finally {
    service.exec('ROLLBACK')
    service.close()
  }
}, 60_000)

it('the real wrangler stores a repair, and what the database refuses is one sentence', async () => {
  const rescan = (to: string) =>
    database.operateByWrangler('rescan', '--from', '85', '--to', to, '--reason', "it's missing; x")
  expect(await rescan('95')).toMatchObject({ code: 0, out: 'The next ticks read the blocks 85 to 95 again.\n' })
  expect(database.rows(`SELECT from_height, reason FROM rescan WHERE kind = 'request'`)).toEqual([
    { from_height: 85, reason: "it's missing; x" },
  ])
  const { code, all } = await rescan('900001')
  expect([code, all]).toEqual([
    1,
    expect.stringMatching(/^Stopped: rescan: blocks above the position are not read yet\.\n/),
  ])
}, 60_000)
