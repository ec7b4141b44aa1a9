import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { newestMigration } from '../../src/worker/platform/version.ts'
import { freshDatabase } from '../support/database.ts'

const numberOf = (name: string) => Number.parseInt(name, 10)
const later = env.MIGRATIONS.filter(({ name }) => numberOf(name) > 0) // 0000 has the tables alone

it.each(later)('$name ends with its own number, so that one applied in part does not count', ({ name, queries }) => {
  const [last = '', before = ''] = queries.toReversed()
  expect(last.replace(/^(--.*\n|\s)*/, '').replace(/;\s*$/, '')).toBe(
    `CREATE VIEW newest_migration AS SELECT ${numberOf(name)} AS number`,
  )
  if (numberOf(name) > 1) expect(before).toMatch(/^(--.*\n|\s)*DROP VIEW IF EXISTS newest_migration;?\s*$/)
})

it('the database has the number of the last one', async () => {
  const db = await freshDatabase()
  const newest = Math.max(...env.MIGRATIONS.map(({ name }) => numberOf(name)))
  expect(newestMigration).toBe(newest) // src/worker/platform/version.ts
  expect(await db.prepare('SELECT number FROM newest_migration').first('number')).toBe(newest)
})
