import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from 'miniflare'
import { readMigrations } from '../../migrations/released.ts'
import { fileOfD1 } from '../support/database-file.ts'
import { tokenOf } from './answers.ts'
import { bucketName, type Deployment } from './deployment.ts'
import { withMaps } from './fixture.ts'
import type { KeptBundle } from './kept-bundle.ts'
import { headOf } from './node-stage.ts'
import { type Stage, type Surroundings, surround } from './stage.ts'

/**
 * Two versions of the Worker in workerd, over one database, as while a deployment rolls out: each
 * serves requests, and the Durable Objects are those of one version.
 */
export interface Rollout {
  /** The Workers, each with its version's answers. */
  readonly stages: readonly Stage[]
  /** Makes the Durable Objects those of another version; their storage stays. */
  moveObjects(version: string): Promise<void>
  /** Applies the migrations that the database lacks, and further statements, through D1. */
  migrate(further: readonly string[]): Promise<void>
  /** The rows of a statement. */
  select(sql: string): Promise<readonly Record<string, unknown>[]>
  /** The log lines of errors and alarms. */
  readonly errors: readonly string[]
  stop(): Promise<void>
}

/** The name of the Worker that has the objects. */
const host = 'objects'
const databaseId = 'released'

/** Puts what a deployment has stored into its Durable Objects, and lets a test run their alarm. */
const wrapper = `
import * as bundle from './bundle.js'
export * from './bundle.js'
const readMaps = (_, value) => (Array.isArray(value?.map) ? new Map(value.map) : value)
const withStorage = (Base) => class extends Base {
  store(text) {
    for (const [key, value] of Object.entries(JSON.parse(text, readMaps))) this.ctx.storage.kv.put(key, value)
  }
  runAlarm() {
    return this.alarm()
  }
}
export class Scanner extends withStorage(bundle.Scanner) {}
export class Endpoint extends withStorage(bundle.Endpoint) {}
export default {
  ...bundle.default,
  async fetch(request, env, context) {
    const [, binding, name, act] = /^\\/objects\\/(\\w+)\\/(\\w+)\\/(\\w+)$/.exec(new URL(request.url).pathname) ?? []
    if (binding === undefined) return bundle.default.fetch(request, env, context)
    await env[binding].getByName(name)[act](await request.text())
    return new Response('done')
  },
}`

/** The bundles of the versions, by their names. */
type Bundles = Readonly<Record<string, KeptBundle>>

/** Each block is final at once, so that the chain does not run ahead of the clock. */
const finalityLag = 0
/** How far behind the clock the chain goes on. */
const secondsAgo = 120

/** Starts the Workers over a copy of the deployment's database in `file`. */
export async function startRollout(deployment: Deployment, bundles: Bundles, file: string): Promise<Rollout> {
  const state = mkdtempSync(join(tmpdir(), 'rollout-'))
  const database = fileOfD1(join(state, 'd1'), databaseId)
  mkdirSync(dirname(database), { recursive: true })
  copyFileSync(file, database)
  const around = surround(deployment)
  for (const node of around.nodes) node.finalityLag = finalityLag
  const errors: string[] = []
  const optionsWith = (version: string) => optionsOf({ deployment, bundles, around, state, errors }, version)
  const miniflare = new Miniflare(optionsWith(Object.keys(bundles)[0] ?? ''))
  await miniflare.ready
  await restore(miniflare, deployment)
  // the chain of long ago goes on now
  around.chain.add([], (Math.floor(Date.now() / 1000) - secondsAgo) * 1000)
  const run = async (sql: string) => (await miniflare.getD1Database('DB', host)).prepare(sql).all()
  return {
    stages: Object.keys(bundles).map((name) => stageOf(name, miniflare, around)),
    errors,
    moveObjects: (version) => miniflare.setOptions(optionsWith(version)),
    async migrate(further) {
      const { results } = await run('SELECT name FROM d1_migrations')
      const missing = [...readMigrations()].filter(([name]) => !results.some((row) => row.name === name))
      const statements = missing.flatMap(([, sql]) => sql.split('--> statement-breakpoint'))
      for (const sql of [...statements, ...further]) await run(sql)
    },
    select: async (sql) => (await run(sql)).results,
    async stop() {
      await miniflare.dispose()
      rmSync(state, { recursive: true, force: true })
    },
  }
}

interface Parts {
  readonly deployment: Deployment
  readonly bundles: Bundles
  readonly around: Surroundings
  readonly state: string
  readonly errors: string[]
}

/** The Workers, with the objects of one version. */
function optionsOf({ deployment, bundles, around, state, errors }: Parts, version: string) {
  const workerOf = (name: string, bundle: KeptBundle): V4WorkerOptions => ({
    name,
    compatibilityDate: bundle.compatibilityDate,
    compatibilityFlags: [...bundle.compatibilityFlags],
    modules: [
      { type: 'ESModule', path: 'index.js', contents: wrapper },
      { type: 'ESModule', path: 'bundle.js', contents: bundle.script },
    ],
    bindings: deployment.variables as Record<string, never>, // safe: they are JSON
    d1Databases: { DB: { id: databaseId } },
    r2Buckets: [bucketName],
    durableObjects: Object.fromEntries(
      Object.entries(bundle.objects).map(([binding, className]) => [
        binding,
        { className, useSQLite: true, ...(name === host ? {} : { scriptName: host }) },
      ]),
    ),
    outboundService: async (request: Request) => {
      const { url, headers, method } = request
      return around.fetch(url, { headers, method, body: await request.text() })
    },
  })
  const bundle = bundles[version]
  if (bundle === undefined) throw new Error(`no bundle of ${version}`)
  return convertV4MiniflareOptions({
    workers: [workerOf(host, bundle), ...Object.entries(bundles).map(([name, one]) => workerOf(name, one))],
    host: '127.0.0.1',
    port: 0,
    resourcePersistencePath: state,
    cf: false, // without this, Miniflare fetches the `cf` object of requests from the network
    telemetry: { enabled: false },
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    handleStructuredLogs: ({ message }: { message: string }) => {
      errors.push(...message.split('\n').filter((line) => line.includes('"level":"error"')))
    },
  })
}

/** Puts what the deployment has stored into its objects and its bucket. */
async function restore(miniflare: Miniflare, { objects, bucket }: Deployment): Promise<void> {
  for (const [name, values] of Object.entries(objects)) {
    const binding = name.startsWith('scanner') ? 'SCANNER' : 'ENDPOINT'
    if (Object.keys(values).length > 0)
      await callObject(miniflare, `${binding}/${name}/store`, JSON.stringify(values, withMaps))
  }
  const r2 = await miniflare.getR2Bucket(bucketName, host)
  for (const [name, text] of Object.entries(bucket ?? {})) await r2.put(name, text)
}

async function callObject(miniflare: Miniflare, path: string, body = ''): Promise<void> {
  const worker = await miniflare.getWorker(host)
  const response = await worker.fetch(`https://wallet.example/objects/${path}`, { method: 'POST', body })
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
}

function stageOf(name: string, miniflare: Miniflare, around: Surroundings): Stage {
  const { chain } = around
  return {
    name,
    async send(as, path, body) {
      const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const headers = { ...(await tokenOf(as, Date.now())), 'content-type': 'application/json' }
      const worker = await miniflare.getWorker(name)
      const response = await worker.fetch(`https://wallet.example${path}`, { ...post, headers })
      return { status: response.status, reason: response.headers.get('x-reason'), body: await response.text() }
    },
    async mine(...specs) {
      chain.add(specs, Math.max(chain.tip().timeMs, Math.floor(Date.now() / 1000) * 1000) + 1_000)
      await callObject(miniflare, 'SCANNER/scanner/runAlarm')
    },
    settled: async () => undefined,
    head: () => headOf(around),
  }
}
