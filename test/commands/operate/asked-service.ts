/** A running service for `npm run operate` to ask, and a folder in which the command runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runOperate } from '../../../src/commands/operate/command.ts'
import { createScannerObject, createService, type Platform } from '../../../src/worker/compose.ts'
import { createLogger } from '../../../src/worker/platform/logger.ts'
import { withSessions } from '../../simulation/database.ts'
import { type CommandEnd, type CommandOptions, callCommand } from '../../support/command.ts'
import { type CommandTime, createCommandTime } from '../../support/command-time.ts'
import { listen } from '../../support/loopback.ts'
import { createMemoryHost } from '../../support/memory-host.ts'
import { payoutBase58 as payoutAddress } from '../../support/payouts.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { bearer, signHs256 } from '../../support/tokens.ts'
import { backendSecret, testVariables } from '../../support/variables.ts'
import { databaseId } from '../local-database.ts'

export interface AskedService {
  readonly url: string
  /** The time of the service and of the commands. */
  readonly time: CommandTime
  /** All requests that the service has received. */
  readonly asked: { readonly path: string; readonly authorization: string; readonly body: string }[]
  /**
   * Runs `npm run operate` with these arguments. Each line of `input` answers a question of the
   * command.
   */
  operate(args: readonly string[], options?: Pick<CommandOptions, 'input' | 'environment'>): Promise<CommandEnd>
  /** Sends a POST request with a token of the backend `shop`. Returns `data` of the answer. */
  post(path: string, body: object): Promise<{ readonly list: readonly { readonly id: number }[] }>
  /** Runs a statement on the service's database; returns its rows. */
  rows(sql: string): readonly unknown[]
  /** Writes a file into the folder in which the command runs. */
  write(name: string, text: string): void
  close(): Promise<void>
}

/**
 * Starts the service. `secret` is `BACKEND_JWT_SECRET` in the folder's `.dev.vars`; if it is null,
 * the folder has no such file. `changes` replace or add variables of the service.
 */
export async function startAsked(secret: string | null, changes: Record<string, unknown> = {}): Promise<AskedService> {
  const store = openSqliteD1()
  const bindings: Record<string, unknown> = {
    ...testVariables(withSessions(store.connect(async (work) => work()))),
    PAYOUTS: { address: payoutAddress },
    ...changes,
  }
  const time = createCommandTime()
  const { clock } = time
  const platform: Platform = {
    clock: { ...clock, sleep: () => new Promise(() => {}) }, // nothing here waits for time to pass
    fetch: () => Promise.reject(new TypeError('nothing else is reached')),
    logger: createLogger(() => {}),
    uniqueName: () => crypto.randomUUID(),
    waitUntil: () => {},
  }
  const scanner = createScannerObject(platform, bindings, createMemoryHost())
  Object.assign(bindings, { SCANNER: { getByName: () => scanner } })
  const service = createService(platform)
  const asked: AskedService['asked'] = []
  const server = createServer(async (incoming, answer) => {
    const { url: path = '/', headers } = incoming
    const request = await requestOf(incoming)
    asked.push({ path, authorization: headers.authorization ?? '', body: await request.clone().text() })
    const response = await service.fetch(request, bindings)
    answer.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
  })
  const { url, close } = await listen(server)
  const folder = mkdtempSync(join(tmpdir(), 'people-'))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const vars = `TRON_CHAIN_ID = "${bindings.TRON_CHAIN_ID}"\nPAYOUTS = '{"address":"${payoutAddress}"}'\nCURRENCIES = '${JSON.stringify(bindings.CURRENCIES)}'`
  write(
    'wrangler.toml',
    `name = "x"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"\n[vars]\n${vars}
[[d1_databases]]\nbinding = "DB"\ndatabase_name = "x"\ndatabase_id = "${databaseId}"\n`,
  )
  if (secret !== null) write('.dev.vars', `BACKEND_JWT_SECRET="${secret}"\n`)
  return {
    url,
    time,
    asked,
    write,
    operate: (args, options = {}) => {
      const place = args.includes('--production') ? [] : ['--local']
      return callCommand(runOperate, [...args, ...place], { ...options, time, cwd: folder })
    },
    async post(path, body) {
      const claims = { sub: 'shop', scope: 'ledger:post ledger:pay', exp: Math.floor(clock.now() / 1_000) + 600 }
      const headers = { ...bearer(await signHs256(claims, backendSecret)), 'content-type': 'application/json' }
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      // safe: the service's own reply
      const { data, msg } = (await response.json()) as { data: { list: { id: number }[] }; msg: string }
      if (!response.ok) throw new Error(msg)
      return data
    },
    rows: (sql) => store.sqlite.prepare(sql).all(),
    async close() {
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const { method = 'GET', url = '/', headers } = incoming
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const body = method === 'GET' ? null : Buffer.concat(chunks)
  return new Request(`http://${headers.host}${url}`, { method, headers: Object.entries(headers).flatMap(pairOf), body })
}

const pairOf = ([name, value]: [string, string | string[] | undefined]): [string, string][] =>
  typeof value === 'string' ? [[name, value]] : []
