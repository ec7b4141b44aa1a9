import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/**
 * The test's D1, empty and with all migrations, which are one round trip. The files of a worker share its storage. Without the
 * check, one of some thousand resets left the rows of the file before.
 */
export async function freshDatabase(): Promise<D1Database> {
  do await reset()
  while (await env.DB.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'scan'`).first())
  await env.DB.batch(env.MIGRATIONS.flatMap(({ queries }) => queries).map((sql) => env.DB.prepare(sql)))
  return env.DB
}
