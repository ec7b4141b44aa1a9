import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/** A statement for each file: D1 takes 100 kB of SQL in one. */
const migrations = env.MIGRATIONS.map(({ queries }) => queries.join(';\n'))

/** A database that the migrations have made: the size of its schema, and what removes all rows. */
interface Migrated {
  readonly size: string
  readonly emptying: string
}
let migrated: Migrated | null = null

/**
 * The test's D1, empty and with all migrations. If it still has their schema from the test before, only its rows are removed: that
 * takes a tenth of the time. Otherwise it is made anew. Each migration is one statement: a quarter faster than a batch.
 */
export async function freshDatabase(): Promise<D1Database> {
  if (migrated !== null && (await readSize()) === migrated.size) {
    await env.DB.prepare(migrated.emptying).run()
    return env.DB
  }
  await resetObjects()
  for (const migration of migrations) await env.DB.prepare(migration).run()
  migrated = { size: await readSize(), emptying: await writeEmptying() }
  return env.DB
}

/** Empties all objects, and D1, which is one of them. Without the check, one of some thousand resets left rows in it. */
export async function resetObjects(): Promise<void> {
  do await reset()
  while (await env.DB.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'scan'`).first())
}

/** Two more databases, empty and with all migrations, for deployments with several cells. */
export async function furtherDatabases(): Promise<readonly [D1Database, D1Database]> {
  const all = [env.DB_2, env.DB_3] as const
  for (const db of all) {
    const isMade = await db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'scan'`).first()
    if (isMade && migrated !== null) await db.prepare(migrated.emptying).run()
    else for (const migration of migrations) await db.prepare(migration).run()
  }
  return all
}

async function readSize(): Promise<string> {
  const size = await env.DB.prepare('SELECT count(*) AS parts, sum(length(sql)) AS letters FROM sqlite_schema').first()
  return JSON.stringify(size)
}

/** The statement that removes all rows. The triggers that act on deletions are dropped before, and created again after it. */
async function writeEmptying(): Promise<string> {
  const parts = `SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'trigger') AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'`
  const { results } = await env.DB.prepare(parts).all<{ type: string; name: string; sql: string }>()
  const triggers = results.filter(({ type, sql }) => type === 'trigger' && sql.includes(' DELETE ON '))
  return [
    ...triggers.map(({ name }) => `DROP TRIGGER ${name}`),
    ...results.flatMap(({ type, name }) => (type === 'table' ? [`DELETE FROM ${name}`] : [])),
    ...triggers.map(({ sql }) => sql),
  ].join(';\n')
}
