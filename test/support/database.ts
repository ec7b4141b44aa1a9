import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/** D1 takes at most 100 kB of SQL in a statement. */
const lettersMax = 90_000

/** The migrations in as few statements as D1 takes. */
const migrations = env.MIGRATIONS.flatMap(({ queries }) => {
  const statements: string[] = []
  for (const query of queries) {
    const [last = '', joined] = [statements.at(-1), `${statements.at(-1)};\n${query}`]
    if (last === '' || joined.length > lettersMax) statements.push(query)
    else statements[statements.length - 1] = joined
  }
  return statements
})

/**
 * What `freshDatabase` remembers: the size of the schema after the migrations, and the SQL that
 * deletes all rows.
 */
interface Migrated {
  readonly size: string
  readonly emptying: string
}
let migrated: Migrated | null = null

/**
 * The test's D1, empty and with all migrations. If the database still has this schema, only its
 * rows are deleted, which takes a tenth of the time. Otherwise all objects are reset and the
 * migrations run, each as one statement: a batch would take a third longer.
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

/**
 * Empties all Durable Objects, and with them D1, which is one of them. It repeats this until D1 is
 * empty: one of some thousand resets left rows in it.
 */
export async function resetObjects(): Promise<void> {
  do await reset()
  while (await env.DB.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'scan'`).first())
}

/**
 * The databases `DB_2` and `DB_3`, empty and with all migrations, for tests with several cells.
 * Call `freshDatabase` first.
 */
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

/**
 * The SQL that deletes all rows. Triggers on deletions are dropped before, and created again
 * afterwards.
 */
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
