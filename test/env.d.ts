declare namespace Cloudflare {
  /** What `test/vitest.config.ts` binds for the tests that run in workerd. */
  interface Env {
    DB: D1Database
    DB_2: D1Database
    DB_3: D1Database
    ARCHIVE_BUCKET: R2Bucket
    RATE_LISTS: RateLimit
    RATE_NODES: RateLimit
    SCANNER: DurableObjectNamespace
    ENDPOINT: DurableObjectNamespace
    BLOCKS: DurableObjectNamespace
    MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}

declare module '*?raw' {
  const text: string
  export default text
}

/** What Vite replaces by the imported files when it compiles a test. */
interface ImportMeta {
  glob(pattern: readonly string[]): Readonly<Record<string, () => Promise<unknown>>>
  glob<T>(pattern: string, options: { readonly eager: true; readonly import: 'default' }): Readonly<Record<string, T>>
}
