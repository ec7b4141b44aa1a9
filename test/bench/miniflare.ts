import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Log, LogLevel, Miniflare, type MiniflareOptions } from 'miniflare'
import { fileOfD1 } from '../support/database-file.ts'
import { workDir } from './bundles.ts'

type WorkerOptions = MiniflareOptions['workers'][number]

/**
 * A Worker to run, with its variables. `database` is the D1 database of its binding `DB`. `further`
 * has its other D1 databases by binding.
 */
export interface WorkerSpec {
  readonly name: string
  readonly script: string
  readonly database: string | null
  readonly further?: Readonly<Record<string, string>>
  readonly variables?: Readonly<Record<string, unknown>>
  /** Entrypoints of the other Workers, by the name of the binding. */
  readonly services?: Readonly<Record<string, { readonly worker: string; readonly exportName: string }>>
  /** The R2 bucket of its binding `BUCKET`. */
  readonly bucket?: string
  /** Whether the Worker is the service, with its Durable Objects. */
  readonly hasObjects?: boolean
}

/** Running Workers, each on another loopback port. */
export interface RunningWorkers {
  /** A Worker's URL, without a slash at the end. */
  url(name: string): string
  /** Runs a Worker's cron handler; resolves when it has ended. */
  cron(name: string): Promise<void>
  /** The number in the first row of a query to a Worker's database; null if there is no row. */
  number(name: string, sql: string): Promise<number | null>
  /**
   * As `number`, but this process reads the database's file, so that the query adds no work to the
   * measured Workers.
   */
  look(name: string, sql: string, binding?: string): number | null
  /** What a statement cost in a Worker's database, as D1 counts it. */
  meta(name: string, sql: string): Promise<D1Meta>
  /** The rows that D1 has read for the service so far, by its log. */
  rowsRead(): number
  /** The warnings and errors that the Workers have logged. */
  readonly warnings: readonly string[]
  stop(): Promise<void>
}

const running = new Set<Miniflare>()
/** The folder of this process's databases. A concurrent run uses another folder. */
const ownState = `${workDir}run/${process.pid}/`
/** How long `look` waits while the database's file is locked, in milliseconds. */
const busyTimeoutMs = 5_000
let started = 0

/**
 * Starts Workers with copies of filled databases. `databases` has the file of each by its name. All
 * Workers share one workerd, so that the bare Worker and the service are measured under the same
 * conditions. They reach only loopback.
 */
export async function startWorkers(
  workers: readonly WorkerSpec[],
  databases: Readonly<Record<string, string>> = {},
): Promise<RunningWorkers> {
  started += 1
  const state = `${ownState}${started}`
  rmSync(state, { recursive: true, force: true })
  for (const [name, seeded] of Object.entries(databases)) {
    const file = fileOfD1(`${state}/d1`, name)
    mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true })
    copyFileSync(seeded, file)
  }
  const warnings: string[] = []
  let rowsRead = 0
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false, // without this, Miniflare fetches the `cf` object of requests from the network
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    telemetry: { enabled: false },
    resourcePersistencePath: state,
    handleStructuredLogs: ({ message }) => {
      rowsRead += Number(/"rowsRead":(\d+)/.exec(message)?.[1] ?? 0)
      if (/"level":"(?:warn|error)"|[Ee]rror/.test(message)) warnings.push(message)
    },
    workers: workers.map(toOptions),
  })
  running.add(miniflare)
  await miniflare.ready
  const urls = new Map<string, string>()
  for (const { name } of workers) urls.set(name, (await miniflare.unsafeGetDirectURL(name)).origin)
  return {
    url: (name) => urls.get(name) ?? '',
    async cron(name) {
      const worker = await miniflare.getWorker(name)
      const { outcome } = await worker.scheduled({ cron: '* * * * *' })
      if (outcome !== 'ok') warnings.push(`the cron ended with the outcome ${outcome}`)
    },
    async number(name, sql) {
      const db = await miniflare.getD1Database('DB', name)
      const [row] = await db.prepare(sql).raw<[number]>()
      return row?.[0] ?? null
    },
    look(name, sql, binding = 'DB') {
      const worker = workers.find((one) => one.name === name)
      const id = worker?.further?.[binding] ?? worker?.database ?? ''
      const db = new DatabaseSync(fileOfD1(`${state}/d1`, id), { readOnly: true, timeout: busyTimeoutMs })
      try {
        const [value] = Object.values(db.prepare(sql).get() ?? {})
        return typeof value === 'number' ? value : null
      } finally {
        db.close()
      }
    },
    async meta(name, sql) {
      const db = await miniflare.getD1Database('DB', name)
      const { meta } = await db.prepare(sql).run()
      return meta as D1Meta // safe: the local D1 returns the same members as D1
    },
    rowsRead: () => rowsRead,
    warnings,
    async stop() {
      running.delete(miniflare)
      await miniflare.dispose()
      rmSync(state, { recursive: true, force: true })
    },
  }
}

/** Ends all Workers of this process and deletes their databases. */
export async function stopWorkers(): Promise<void> {
  await Promise.all([...running].map((miniflare) => miniflare.dispose()))
  running.clear()
  rmSync(ownState, { recursive: true, force: true })
}

function toOptions({
  name,
  script,
  database,
  further = {},
  variables = {},
  services = {},
  bucket,
  hasObjects = false,
}: WorkerSpec): WorkerOptions {
  const json = Object.entries(variables).map(([key, value]) => [key, { type: 'json', value }] as const)
  const bound = Object.entries(services).map(([key, service]) => [key, { type: 'worker', ...service }] as const)
  const objectOf = (exportName: string) => ({ type: 'durable-object', worker: name, exportName })
  const objects = hasObjects
    ? { SCANNER: objectOf('Scanner'), ENDPOINT: objectOf('Endpoint'), BLOCKS: objectOf('Blocks') }
    : {}
  const others = Object.entries(further).map(([key, id]) => [key, { type: 'd1', id }] as const)
  const buckets = bucket === undefined ? {} : { BUCKET: { type: 'r2', name: bucket } }
  const stored = { type: 'durable-object', storage: 'sqlite' }
  const env = {
    ...Object.fromEntries(json),
    ...Object.fromEntries(bound),
    ...Object.fromEntries(others),
    ...objects,
    ...buckets,
  }
  return {
    config: {
      name,
      compatibilityDate: '2026-11-01',
      manifest: { mainModule: 'index.js', modules: { 'index.js': { type: 'esm', contents: script } } },
      env: database === null ? env : { ...env, DB: { type: 'd1', id: database } },
      ...(hasObjects ? { exports: { Scanner: stored, Endpoint: stored, Blocks: stored } } : {}),
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }], stripCfConnectingIp: false },
  } as WorkerOptions
}
