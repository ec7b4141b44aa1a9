declare namespace Cloudflare {
  /** What `test/vitest.config.ts` binds for the tests that run in workerd. */
  interface Env {
    DB: D1Database
    MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}
