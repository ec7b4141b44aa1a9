import { applyD1Migrations, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/**
 * The test's D1, empty and with all migrations. The files of a worker share its storage. Without the check, one of some thousand
 * resets left the rows of the file before.
 */
export async function freshDatabase(): Promise<D1Database> {
  do await reset()
  while (await env.DB.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'd1_migrations'`).first())
  await applyD1Migrations(env.DB, env.MIGRATIONS)
  return env.DB
}
