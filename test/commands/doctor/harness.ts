import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ConfigurationSource } from '../../../src/commands/configuration.ts'
import type { ReadStored } from '../../../src/commands/database.ts'
import { type CheckResult, lineOf } from '../../../src/commands/doctor/check-settings.ts'
import { type DoctorPlatform, runChecks } from '../../../src/commands/doctor/run-checks.ts'
import type { QueryRows } from '../../../src/commands/reading-database.ts'
import { ok } from '../../../src/worker/common/result.ts'
import { type Devnet, startDevnet, temporary } from '../../devnet/chain.ts'
import { depositBase58, result as resultOf } from '../../devnet/support.ts'
import { type CommandTime, createCommandTime } from '../../support/command-time.ts'
import { listen, type RunningServer } from '../../support/loopback.ts'
import { root } from '../../support/project.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { bindingsFor, noLimits } from '../collect/harness.ts'

export type Values = Record<string, unknown>

/** A local chain, and the servers that a test file starts. */
export interface DoctorHarness {
  readonly devnet: Devnet
  /** All lines that `check` has returned so far. */
  readonly printed: readonly string[]
  /**
   * The doctor's lines for a valid configuration with `changes`. The doctor's clock is `aheadMs`
   * ahead of the chain. `fetch` answers for other machines. `urls` are addresses of the deployment.
   */
  check(
    changes: Values,
    more?: Partial<ConfigurationSource>,
    aheadMs?: number,
    fetch?: TeamFetch,
    urls?: readonly string[],
  ): Promise<string[]>
  /** `TRON_NODES` with one node, some of whose results are altered. */
  alteredNode(alter: Alteration): Promise<Values>
  /** Starts a server, which `close` of the harness stops. Returns its URL. */
  serverUrl(respond: Responder): Promise<string>
  close(): Promise<void>
}

/**
 * Answers the doctor's requests to other machines, for example to those of a team's Cloudflare
 * Access.
 */
type TeamFetch = (url: string) => Promise<Response>

/** Starts a local chain. `close` also stops all servers that the test has started. */
export async function openHarness(): Promise<DoctorHarness> {
  const devnet = await startChain()
  const servers: RunningServer[] = []
  const printed: string[] = []
  return {
    devnet,
    printed,
    async check(changes, more = {}, aheadMs = 0, elsewhere, urls = []) {
      const source = sourceOf({ ...valuesFor(devnet), ...changes }, more)
      const platform = await platformAt(devnet, aheadMs)
      const reach: typeof fetch = (input, init) => {
        const isElsewhere = elsewhere !== undefined && new URL(String(input)).hostname !== '127.0.0.1'
        return isElsewhere ? elsewhere(String(input)) : platform.fetch(input, init)
      }
      const lines = await linesOf(source, { ...platform, fetch: reach }, urls)
      printed.push(...lines)
      return lines
    },
    async alteredNode(alter) {
      const server = await serveAltered(devnet, alter)
      servers.push(server)
      return { TRON_NODES: [{ rpc: `${server.url}/${urlSecret}`, api: server.url }] }
    },
    async serverUrl(respond) {
      const server = await serve(respond)
      servers.push(server)
      return server.url
    },
    async close() {
      for (const server of servers) await server.close()
      await devnet.stop()
    },
  }
}

/** The lines of failed checks. Warnings are not among them. */
export const failures = (lines: readonly string[]) => lines.filter((line) => line.startsWith('FAIL'))

/** A secret of realistic form for `AUTH_JWT_SECRET`. */
export const goodSecret = 'Qm9f-2xKp7_Vt4wLz8Rb1yHc6Nd3Js5G'
/** Part of the nodes' URLs. No printed line may contain it. */
export const urlSecret = 'path-secret-7c1f'
/** The API key of a node. No printed line may contain it. */
export const keySecret = 'key-secret-93ab'

/** The secrets, and parts of secrets, that a text contains. */
export function secretsIn(text: string): string[] {
  const secrets = [urlSecret, keySecret, goodSecret, 'too-short-4f', 'xpub6', 'xprv9', '/jsonrpc']
  return secrets.filter((secret) => text.includes(secret))
}

/**
 * Starts a local chain with a TRX deposit and a token deposit in final blocks, so that there are
 * logs to ask for.
 */
export async function startChain(): Promise<Devnet> {
  const devnet = await startDevnet(temporary)
  await devnet.pay({ to: depositBase58, amount: '3', currency: 'TRX' })
  await devnet.pay({ to: depositBase58, amount: '25', currency: 'USDT' })
  await devnet.mine(3)
  return devnet
}

/**
 * A valid configuration of this machine on the local chain. It causes one warning: that it has a
 * single node.
 */
export function valuesFor(devnet: Devnet): Values {
  const { TRON_XPUB, TRON_CHAIN_ID, CURRENCIES } = bindingsFor(devnet)
  const node = { rpc: `${devnet.rpcUrl}?key=${urlSecret}`, api: devnet.apiUrl, keyVar: 'NODE_KEY', ...noLimits }
  return { TRON_XPUB, TRON_CHAIN_ID, CURRENCIES, TRON_NODES: [node], NODE_KEY: keySecret, AUTH_JWT_SECRET: goodSecret }
}

/** A configuration with these values, as if they had been read from wrangler.toml and .dev.vars. */
export function sourceOf(values: Values, more: Partial<ConfigurationSource> = {}): ConfigurationSource {
  const origin = { origin: 'a test', varsFile: '.dev.vars', database: 'missing', objectFaults: [] } as const
  const place = { env: undefined, cell: null, binding: 'DB', databaseName: null, databaseId: null }
  const worker = { folder: root, urls: [], buckets: [], keepsVars: false, objectsTag: null }
  return { isDeployment: false, vars: {}, values, all: values, ...origin, place, databases: [], worker, ...more }
}

/**
 * What the doctor reads from a database with one issued address, at index 0, and without stored
 * settings.
 */
const storedFirst: ReadStored = async () => ok({ settings: [], lastIndex: 0, migration: 1 })

/**
 * The doctor's platform with a clock in virtual time. `run` runs work, and lets that time pass
 * until it ends.
 */
interface TimedPlatform extends DoctorPlatform, Pick<CommandTime, 'run'> {}

/** Reads a new database with the real migrations, after these statements. */
export function rowsOfNewDatabase(...statements: readonly string[]): QueryRows {
  const { sqlite } = openSqliteD1()
  for (const statement of statements) sqlite.exec(statement)
  return async (queries) => queries.map((query) => sqlite.prepare(query).all())
}

/**
 * The doctor's platform, whose clock is `aheadMs` ahead of the newest block. The local chain makes
 * blocks only on command.
 */
export async function platformAt(
  devnet: Devnet,
  aheadMs = 0,
  readStored = storedFirst,
  readRows: QueryRows = rowsOfNewDatabase(),
): Promise<TimedPlatform> {
  const { timestamp } = await resultOf<{ timestamp: string }>(devnet, 'eth_getBlockByNumber', 'latest', false)
  const { clock, fetch, run } = createCommandTime(Number(timestamp) * 1000 + aheadMs)
  return { clock, fetch, readStored, readRows: () => readRows, run }
}

/** Runs all checks of the doctor. Returns its lines as it prints them, one for each result. */
export const linesOf = async (
  source: ConfigurationSource,
  platform: TimedPlatform,
  urls: readonly string[] = [],
): Promise<string[]> => (await resultsOf(source, platform, urls)).map(lineOf)

/** Runs all checks of the doctor. */
export function resultsOf(
  source: ConfigurationSource,
  { run, ...platform }: TimedPlatform,
  urls: readonly string[] = [],
): Promise<CheckResult[]> {
  const read = async () => {
    const results: CheckResult[] = []
    for await (const result of runChecks(source, platform, false, urls)) results.push(result)
    return results
  }
  return run(read())
}

/**
 * Answers a request to a test's server. If the promise rejects, the server closes the connection
 * without an answer.
 */
export type Responder = (
  body: string,
  path: string,
  headers: IncomingHttpHeaders,
) => Promise<{ readonly status: number; readonly body: string }>

interface JsonRpcReply {
  readonly id: unknown
  readonly result?: unknown
}

export interface JsonRpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The altered result of a call; undefined keeps the chain's `result`. */
type Alteration = (
  call: JsonRpcCall,
  result: unknown,
) => { readonly result: unknown } | { readonly error: { code: number; message: string } } | undefined

/** Starts a server on a free port that answers every request with `respond`. */
export async function serve(respond: Responder): Promise<RunningServer> {
  const server = createServer((request, response) => {
    const answer = async () => {
      const { status, body } = await respond(await text(request), request.url ?? '', request.headers)
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    }
    answer().catch(() => response.destroy()) // the doctor reports an unreachable node, so the test fails
  })
  return listen(server)
}

/** Starts a proxy of a node that alters results of JSON-RPC calls, and passes the HTTP API on. */
function serveAltered({ rpcUrl, apiUrl }: Devnet, alter: Alteration): Promise<RunningServer> {
  return serve(async (body, path) => {
    const isApi = path.startsWith('/wallet/')
    const reply = await (await fetch(isApi ? `${apiUrl}${path}` : rpcUrl, { method: 'POST', body })).text()
    if (isApi) return { status: 200, body: reply }
    const calls = [JSON.parse(body) as JsonRpcCall | JsonRpcCall[]].flat() // safe: written by the service's own client
    const replies = [JSON.parse(reply) as JsonRpcReply | JsonRpcReply[]].flat() // safe: written by the local chain
    const altered = replies.map((one, i) => {
      const outcome = calls[i] && alter(calls[i], one.result)
      return outcome === undefined ? one : { jsonrpc: '2.0', id: one.id, ...outcome }
    })
    return { status: 200, body: JSON.stringify(body.startsWith('[') ? altered : altered[0]) }
  })
}
