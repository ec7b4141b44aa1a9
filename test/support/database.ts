import { applyD1Migrations, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

/** The test's D1, empty and with all migrations: storage is isolated for each test file, not for each test. */
export async function freshDatabase(): Promise<D1Database> {
  await reset()
  await applyD1Migrations(env.DB, env.MIGRATIONS)
  return env.DB
}
