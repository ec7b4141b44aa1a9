import { createHash, createHmac } from 'node:crypto'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { Log, LogLevel, Miniflare, type MiniflareOptions } from 'miniflare'
import { Trouble, workDir } from './project.ts'

type WorkerOptions = MiniflareOptions['workers'][number]

/** A Worker to run and the values of its variables. `database` names the D1 that its binding `DB` is. */
export interface WorkerSpec {
  readonly name: string
  readonly script: string
  readonly database: string | null
  readonly variables?: Readonly<Record<string, unknown>>
  /** Whether it has the rate limiters that a deployment has; they let everyone in, as a benchmark's callers never rest. */
  readonly limited?: boolean
}

/** Running Workers, each on a loopback port of its own. */
export interface Platform {
  /** Where a Worker answers, without a slash at the end. */
  url(name: string): string
  /** Runs a Worker's cron handler to its end. */
  tick(name: string): Promise<void>
  /** Where a Worker's isolate can be profiled. */
  inspector(name: string): string
  /** Warnings and alarms that Workers logged so far, in their own words. */
  readonly complaints: readonly string[]
  stop(): Promise<void>
}

/** Miniflare's folder under a persistence path, and the key of its D1 objects (found in Miniflare 5). */
const objectKey = 'miniflare-D1DatabaseObject'
const live = new Set<Miniflare>()

/** The file in which Miniflare keeps the D1 named `database` under `state`. */
function databaseFile(state: string, database: string): string {
  const key = createHash('sha256').update(objectKey).digest()
  const nameHash = createHmac('sha256', key).update(database).digest().subarray(0, 16)
  const check = createHmac('sha256', key).update(nameHash).digest().subarray(0, 16)
  return `${state}/d1/${objectKey}/${nameHash.toString('hex')}${check.toString('hex')}.sqlite`
}

/**
 * Starts Workers over copies of seeded databases (`databases`: name to file). All of them share one workerd, as the
 * bare Worker and the service must, and talk to loopback only. Only `inspected` ones can be profiled.
 */
export async function startPlatform(
  workers: readonly WorkerSpec[],
  databases: Readonly<Record<string, string>> = {},
  inspected = false,
): Promise<Platform> {
  const state = `${workDir}run/${process.pid}-${live.size}`
  rmSync(state, { recursive: true, force: true })
  for (const [name, seeded] of Object.entries(databases)) {
    const file = databaseFile(state, name)
    mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true })
    copyFileSync(seeded, file)
  }
  const complaints: string[] = []
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    ...(inspected ? { inspectorPort: 0 } : {}), // an inspector keeps every log line: a deployment has none
    cf: false, // else it is fetched from the network
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    telemetry: { enabled: false },
    resourcePersistencePath: state,
    handleStructuredLogs: ({ message }) => {
      if (/"level":"(?:warn|error)"|[Ee]rror/.test(message)) complaints.push(message)
    },
    workers: workers.map(toOptions),
  })
  live.add(miniflare)
  await miniflare.ready
  const urls = new Map<string, string>()
  for (const { name } of workers) urls.set(name, (await miniflare.unsafeGetDirectURL(name)).origin)
  const inspector = inspected ? await miniflare.getInspectorURL() : null
  return {
    url: (name) => urls.get(name) ?? '',
    async tick(name) {
      const worker = await miniflare.getWorker(name)
      const { outcome } = await worker.scheduled({ cron: '* * * * *' })
      if (outcome !== 'ok') complaints.push(`the tick's outcome was ${outcome}`)
    },
    inspector(name) {
      if (inspector === null) throw new Trouble('this platform was started without an inspector')
      return `ws://${inspector.host}/core:user:${name}`
    },
    complaints,
    async stop() {
      live.delete(miniflare)
      await miniflare.dispose()
      rmSync(state, { recursive: true, force: true })
    },
  }
}

/** Ends whatever is still running. */
export async function stopPlatforms(): Promise<void> {
  await Promise.all([...live].map((miniflare) => miniflare.dispose()))
  live.clear()
  rmSync(`${workDir}run`, { recursive: true, force: true })
}

function toOptions({ name, script, database, variables = {}, limited = false }: WorkerSpec): WorkerOptions {
  const json = Object.entries(variables).map(([key, value]) => [key, { type: 'json', value }] as const)
  const limiter = (namespace: string) =>
    ({ type: 'rate-limit', namespace, simple: { limit: 1e9, period: 60 } }) as const
  const limiters = limited ? { RATE_LISTS: limiter('1'), RATE_STRICT: limiter('2') } : {}
  const env = { ...Object.fromEntries(json), ...limiters }
  return {
    config: {
      name,
      compatibilityDate: '2026-11-01',
      manifest: { mainModule: 'index.js', modules: { 'index.js': { type: 'esm', contents: script } } },
      env: database === null ? env : { ...env, DB: { type: 'd1', id: database } },
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }], stripCfConnectingIp: false },
  } as WorkerOptions
}
