import { applyD1Migrations, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/** The test's D1, emptied and migrated anew: storage is isolated by file, not by test. */
export async function freshDatabase(): Promise<D1Database> {
  await reset()
  await applyD1Migrations(env.DB, env.MIGRATIONS)
  return env.DB
}
