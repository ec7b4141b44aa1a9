/** A stand-in for the platform, to which the real wrangler deploys. */
import { createServer, type IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { fileOfD1 } from '../../support/database-file.ts'
import { listen } from '../../support/loopback.ts'

/** A binding of an upload, as wrangler sends it. */
interface Binding {
  readonly type: string
  readonly name: string
  readonly [member: string]: unknown
}

interface Upload {
  readonly id: string
  readonly bindings: readonly Binding[]
  tag: string | null
  readonly objectsTag: string | null
  readonly modules: readonly { readonly name: string; readonly text: string }[]
}

type Secrets = Record<string, string>
type Request = IncomingMessage

/** The platform: its API, and the Worker that was deployed last. */
export interface StandIn {
  /** The variables with which wrangler uses it. */
  readonly environment: Readonly<Record<string, string>>
  /** The address of the deployed service. */
  readonly serviceUrl: string
  /** The requests that change something, in order; each as its method and path. */
  readonly changes: string[]
  /** What was deployed, in order. */
  readonly deployed: readonly Upload[]
  /** Secrets that were set before. */
  readonly secrets: Secrets
  /** The lines that the Worker has logged. */
  readonly lines: readonly string[]
  /** From now on, the connection of an upload breaks, or does not. */
  breakUploads(breaks: boolean): void
  /** Runs the newest upload again, as if it were of this version. */
  pretendVersion(version: string): Promise<void>
  rows(id: string, sql: string): readonly object[]
  close(): Promise<void>
}

/** Starts the platform. `state` is a folder for its databases and objects. */
export async function startStandIn(state: string): Promise<StandIn> {
  const [changes, lines]: [string[], string[]] = [[], []]
  const secrets: Secrets = {}
  const worker = createRunner(state, secrets, lines)
  const databases = openDatabases(state)
  const { deployed, answer: answerWorkers } = createWorkersApi(secrets, (upload) => worker.start(upload))
  let breaks = false
  const answerApi = async (request: Request, path: string) => {
    const [, id] = /\/d1\/database\/([^/]+)\/query$/.exec(path) ?? []
    if (id === undefined) {
      if (request.method !== 'GET') changes.push(`${request.method} ${path}`)
      return answerWorkers(request, path)
    }
    const { sql } = JSON.parse((await buffer(request)).toString()) as { readonly sql: string }
    if (!/^\s*SELECT\b/.test(sql)) changes.push(`query ${id}`)
    return databases.query(id, sql)
  }
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    if (!path.startsWith('/api/')) {
      const { status, body } = await worker.ask(path)
      return void response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    }
    const isUpload = request.method !== 'GET' && /\/scripts\/x(\/versions)?$/.test(path)
    if (breaks && isUpload) return void request.destroy()
    const [status, body] = await answerApi(request, path).then(
      (result) => [200, { success: true, errors: [], messages: [], result }] as const,
      (error) => [error instanceof NoWorker ? 404 : 400, failureOf(error)] as const,
    )
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const { url, close } = await listen(server)
  return {
    environment: {
      CLOUDFLARE_API_BASE_URL: `${url}/api`,
      CLOUDFLARE_API_TOKEN: 'token-of-the-test',
      CLOUDFLARE_ACCOUNT_ID: 'account',
      WRANGLER_SEND_METRICS: 'false',
    },
    ...{ serviceUrl: url, changes, deployed, secrets, lines },
    breakUploads(value) {
      breaks = value
    },
    async pretendVersion(version) {
      const newest = deployed.at(-1)
      if (newest === undefined) throw new Error('nothing is deployed')
      newest.tag = version
      await worker.start(newest, (script) => script.replaceAll(`"${serviceVersion}"`, `"${version}"`))
    },
    rows: databases.rows,
    async close() {
      await worker.stop()
      await close()
    },
  }
}

class NoWorker extends Error {}

/** The API's answer to a request that fails. */
function failureOf(error: unknown) {
  const message = error instanceof Error ? error.message : String(error)
  return {
    success: false,
    errors: [{ code: error instanceof NoWorker ? 10007 : 7500, message }],
    messages: [],
    result: null,
  }
}

/** The D1 databases, in the files in which the Worker has them. */
function openDatabases(state: string) {
  const use = <T>(id: string, work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(fileOfD1(`${state}/d1`, id), { timeout: 5_000 })
    try {
      db.exec('PRAGMA journal_mode = WAL')
      return work(db)
    } finally {
      db.close()
    }
  }
  const meta = { duration: 1 }
  const query = (id: string, sql: string) =>
    use(id, (db) => {
      // a migration has semicolons inside its statements, and no rows
      if (/\bCREATE\b/.test(sql)) {
        db.exec(`BEGIN; ${sql}; COMMIT`)
        return [{ results: [], success: true, meta }]
      }
      const statements = sql.match(/(?:'(?:[^']|'')*'|[^;'])+/g) ?? []
      return statements.map((one) => ({ results: db.prepare(one).all(), success: true, meta }))
    })
  const rows = (id: string, sql: string) =>
    use(id, (db) =>
      db
        .prepare(sql)
        .all()
        .map((row) => ({ ...row })),
    )
  return { query, rows }
}

/** Runs the Worker of an upload in workerd. */
function createRunner(state: string, secrets: Secrets, lines: string[]) {
  let worker: Miniflare | null = null
  const optionsOf = ({ bindings, modules }: Upload, change: (script: string) => string) => {
    const of = (type: string) => bindings.filter((one) => one.type === type)
    const variables = [
      ...of('plain_text').map(({ name, text }) => [name, text]),
      ...of('json').map(({ name, json }) => [name, json]),
    ]
    const objects = of('durable_object_namespace').map(({ name, class_name: className }) => {
      return [name, { className, useSQLite: true }]
    })
    return convertV4MiniflareOptions({
      name: 'x',
      compatibilityDate: '2026-11-01',
      modules: modules.map(({ name, text }) => ({ type: 'ESModule', path: name, contents: change(text) })),
      bindings: { ...Object.fromEntries(variables), ...secrets },
      d1Databases: Object.fromEntries(of('d1').map(({ name, id }) => [name, String(id)])),
      durableObjects: Object.fromEntries(objects),
      resourcePersistencePath: state,
      host: '127.0.0.1',
      port: 0,
      cf: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.ERROR),
      logRequests: false,
      handleStructuredLogs: ({ message }) => void lines.push(message),
    })
  }
  return {
    async start(upload: Upload, change = (script: string) => script) {
      await worker?.dispose()
      worker = new Miniflare(optionsOf(upload, change))
      await worker.ready
    },
    async ask(path: string) {
      const answer = await worker?.dispatchFetch(`http://service.example${path}`)
      return { status: answer?.status ?? 404, body: (await answer?.text()) ?? '' }
    },
    stop: async () => worker?.dispose(),
  }
}

/** The part of the API about Workers: uploads, deployments, and what wrangler asks besides. */
function createWorkersApi(secrets: Secrets, start: (upload: Upload) => Promise<void>) {
  const [uploads, deployed]: [Upload[], Upload[]] = [[], []]
  const deploy = async (upload: Upload) => {
    deployed.push(upload)
    await start(upload)
  }
  const receive = async (request: Request): Promise<Upload> => {
    const id = `${uploads.length + 1}0000000-0000-4000-8000-000000000000`
    const upload = await readUpload(request, id, uploads.at(-1)?.objectsTag ?? null)
    uploads.push(upload)
    return upload
  }
  const writes: Readonly<Record<string, (request: Request) => Promise<unknown>>> = {
    // wrangler uploads the first version in this way
    'PUT /scripts/x': async (request) => {
      const upload = await receive(request)
      await deploy(upload)
      return { id: 'x', deployment_id: upload.id, startup_time_ms: 1, tag: 'tag' }
    },
    // and each later one in these two steps
    'POST /scripts/x/versions': async (request) => {
      const { id } = await receive(request)
      return { id, startup_time_ms: 1, metadata: {}, resources: { script: { etag: id } } }
    },
    'POST /scripts/x/deployments': async (request) => {
      const { versions } = JSON.parse((await buffer(request)).toString())
      const upload = uploads.find(({ id }) => id === versions[0].version_id)
      if (upload !== undefined) await deploy(upload)
      return { id: 'deployment' }
    },
  }
  const answer = async (request: Request, path: string): Promise<unknown> => {
    const end = path.slice(path.indexOf('/workers/') + '/workers'.length)
    const write = writes[`${request.method} ${end}`]
    if (write !== undefined) return write(request)
    if (end === '/subdomain') return { subdomain: 'acme' }
    if (end.endsWith('/subdomain')) return { enabled: true, previews_enabled: false }
    if (end === '/workers/x') return { subdomain: { enabled: true } }
    return readWorker(end, { uploads, deployed, secrets })
  }
  return { deployed, answer }
}

async function readUpload(request: Request, id: string, objectsTag: string | null): Promise<Upload> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  const form = await new Response(await buffer(request), { headers }).formData()
  const textOf = async (name: string) => {
    const part = form.get(name)
    return typeof part === 'string' ? part : ((await part?.text()) ?? '')
  }
  const { bindings, annotations, migrations } = JSON.parse(await textOf('metadata'))
  const names = [...form.keys()].filter((name) => name !== 'metadata' && !name.endsWith('.map'))
  return {
    id,
    bindings,
    tag: annotations?.['workers/tag'] ?? null,
    objectsTag: migrations?.new_tag ?? objectsTag,
    modules: await Promise.all(names.map(async (name) => ({ name, text: await textOf(name) }))),
  }
}

interface WorkerState {
  readonly uploads: readonly Upload[]
  readonly deployed: readonly Upload[]
  readonly secrets: Secrets
}

/** What the API says of the Worker at a path. */
function readWorker(path: string, { uploads, deployed, secrets }: WorkerState): unknown {
  const newest = deployed.at(-1)
  if (newest === undefined) throw new NoWorker('This Worker does not exist on your account.')
  const shown = Object.keys(secrets).map((name) => ({ name, type: 'secret_text' }))
  if (path.endsWith('/secrets')) return shown
  if (path.endsWith('/deployments')) {
    const list = deployed.map(({ id }, i) => ({
      id,
      created_on: `2026-11-0${i + 1}T00:00:00Z`,
      versions: [{ version_id: id, percentage: 100 }],
    }))
    return { deployments: list.toReversed() }
  }
  if (path.endsWith('/services/x')) {
    const script = { last_deployed_from: 'wrangler', migration_tag: newest.objectsTag }
    return { default_environment: { environment: 'production', script } }
  }
  const version = uploads.find(({ id }) => path.endsWith(`/versions/${id}`))
  if (version === undefined) return {}
  return {
    id: version.id,
    metadata: { created_on: '2026-11-01T00:00:00Z', source: 'wrangler' },
    annotations: version.tag === null ? {} : { 'workers/tag': version.tag },
    resources: {
      bindings: [...version.bindings.filter(({ type }) => type !== 'inherit'), ...shown],
      script: {},
      script_runtime: { migration_tag: version.objectsTag },
    },
  }
}
