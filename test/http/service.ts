import { createSharedBlocks } from '../../src/worker/cells/shared-blocks.ts'
import { type Address, parseAddress } from '../../src/worker/chain/address.ts'
import { finalityMs } from '../../src/worker/chain/finality.ts'
import { reservedUid } from '../../src/worker/common/ids.ts'
import { createEndpointObject, createScannerObject, createService } from '../../src/worker/compose.ts'
import type { LedgerMethods } from '../../src/worker/rpc/ledger-methods.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { freshDatabase } from '../support/database.ts'
import { createMemoryHost, type MemoryHost } from '../support/memory-host.ts'
import { connect, createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { backendSecret, otherXpubs, testSecret, testVariables } from '../support/variables.ts'
import { createWorld, type World } from './world.ts'

/** The first address of the tests' extended public key (PROTOCOL.md, Addresses and derivation). */
export const firstAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
/** The second address of the tests' extended public key. */
export const secondAddress = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'

/** Where the service of the tests is. */
const origin = 'https://wallet.example'

/** The whole service over D1 and two nodes, as `index.ts` composes it, with its objects in memory. */
export interface RunningService {
  readonly chain: BuiltChain
  readonly nodes: readonly ScriptedNode[]
  readonly db: D1Database
  readonly lines: string[]
  /** Seconds since 1970. Time also advances by itself. */
  readonly clock: { seconds: number }
  /** The response to a caller, or to a request without a token. */
  get(path: string, uid?: number | null, init?: RequestInit): Promise<Response>
  /** The response to a backend's request, with a token of backend `shop`; `claims` replaces claims of it. */
  ledger(path: string, init?: RequestInit, claims?: Readonly<Record<string, unknown>>): Promise<Response>
  /** The response to a backend's request with this JSON body; `by` is its name. */
  send(path: string, body: unknown, by?: string): Promise<Response>
  /** The response to a post of these entries, or of any other body. */
  post(entries: unknown): Promise<Response>
  /** The methods for other Workers. */
  readonly rpc: LedgerMethods
  /** The response to any request. */
  fetch(request: Request): Promise<Response>
  /** The alarm of a scanner, whenever it is due: of the one of this name, or of that of the tests' database. */
  tick(scanner?: string): Promise<void>
  /** One invocation of the cron. */
  cron(): Promise<void>
  /** Returns when nothing runs that the service began without waiting for it. */
  settled(): Promise<void>
  /** The alarms of all endpoints that are due, until none is. */
  deliver(): Promise<void>
  /** The bindings, with the objects of this deployment. */
  readonly bindings: Readonly<Record<string, unknown>>
  /** What the scanner keeps, and when its alarm is due. */
  readonly scannerHost: MemoryHost
  /** The requests to endpoints at `https://hooks.example/`. */
  readonly hooks: readonly { readonly url: string; readonly body: string }[]
  /** The status of their responses: 204 at first. */
  readonly hookAnswer: { status: number }
  /** Lets further requests to endpoints have no response until the returned function is called. */
  hangHooks(): () => void
  /** The same isolate, database and chain with other variables, as after a change of the configuration; `scannerOf` has the scanner. */
  with(changes: Record<string, unknown>, scannerOf?: RunningService): RunningService
}

/** What a backend's token allows in tests: everything. */
const allScopes = 'ledger:read ledger:post ledger:pay ledger:approve ledger:sign'

/** The nodes of the service, without limits that a test would reach. */
export const testNodes = ['one', 'two'].map((name) => {
  const api = `https://${name}.example`
  return { rpc: `${api}/jsonrpc`, api, perSecond: 10_000, perDay: 100_000_000 }
})

/** `TRON_NODES` in which each of them has these changes. */
export const nodesWith = (changes: object) => ({ TRON_NODES: testNodes.map((node) => ({ ...node, ...changes })) })

/** Variables with one endpoint, whose requests are in `hooks`. */
export const oneEndpoint = {
  WEBHOOKS: [{ url: 'https://hooks.example/', secretVar: 'HOOK' }],
  HOOK: `whsec_${btoa('s'.repeat(32))}`,
}

/** What surrounds a service of tests. */
interface Surroundings {
  /** The first height of the chain. */
  readonly firstHeight?: number | undefined
  /** Answers requests to URLs that are neither nodes nor endpoints. */
  readonly served?: Readonly<Record<string, () => Response>>
}

/** Where the database of the tests is in the deployment. */
interface Placement {
  readonly scannerName: string
  readonly bindingsOf: (variables: Record<string, unknown>) => Record<string, unknown>
  /** Stores what the database has from before. */
  readonly prepare: (db: D1Database) => Promise<unknown>
  /** The path of a backend's request with what names its cell. */
  readonly ledgerPath: (path: string) => string
}

const onlyCell: Placement = {
  scannerName: 'scanner',
  bindingsOf: (variables) => variables,
  prepare: async () => undefined,
  ledgerPath: (path) => path,
}

/** Every user of the tests is in the second cell, as before. The databases of the others throw when anything of them is read. */
const secondCell: Placement = {
  scannerName: 'scanner DB_2',
  bindingsOf: ({ DB, PAYOUTS, TRON_XPUB, ...variables }) => ({
    ...variables,
    ...{ DB: brokenDatabase(), DB_2: DB, DB_3: brokenDatabase() },
    ...{ KEY: otherXpubs[0], KEY_2: TRON_XPUB, KEY_3: otherXpubs[1] },
    CELLS: [
      { db: 'DB', uids: '1000000-1999999', xpub: 'KEY' },
      { db: 'DB_2', uids: '1-999999', xpub: 'KEY_2', ...(PAYOUTS === undefined ? {} : { payouts: PAYOUTS }) },
      { db: 'DB_3', uids: '2000000-', xpub: 'KEY_3' },
    ],
  }),
  prepare: (db) => db.prepare(`INSERT INTO stored_setting VALUES ('CELLS', '1-999999', 0)`).run(),
  ledgerPath: (path) => `${path}${path.includes('?') ? '&' : '?'}cell=2`,
}

let placement = onlyCell

/** Whether services that start from now on have their users in the second of three cells. */
export function placeInSecondCell(isSecond: boolean): void {
  placement = isSecond ? secondCell : onlyCell
}

/** Starts the service on an empty database. `variables` add to the usual ones or replace them. */
export async function startService(
  variables: Record<string, unknown> = {},
  { firstHeight, served = {} }: Surroundings = {},
): Promise<RunningService> {
  const db = await freshDatabase()
  const chain = createChain(firstHeight === undefined ? {} : { firstHeight })
  chain.addEmpty(finalityLag + 1)
  const nodes = testNodes.map(() => createScriptedNode(chain))
  for (const node of nodes) node.decimals.set(usdtAddress, 6)
  const lines: string[] = []
  const reach = connect(testNodes.flatMap((urls, i) => nodes.slice(i, i + 1).map((node) => ({ ...urls, node }))))
  const world = createWorld(async (url, init) => served[url]?.() ?? reach(url, init), lines, tokenNow)
  const service = createService(world.platform)
  const hosts = new Map<string, MemoryHost>()
  const hostOf = (name: string) => once(hosts, name, createMemoryHost)
  const { scannerName, bindingsOf, ledgerPath } = placement
  await placement.prepare(db)
  const withBindings = (variables: Record<string, unknown>, scannerOf?: RunningService): RunningService => {
    const objects = createObjects(world, bindingsOf(variables), hostOf, scannerOf?.bindings.SCANNER)
    const { bindings } = objects
    const fetch = (request: Request) => service.fetch(request, bindings)
    const ledger: RunningService['ledger'] = async (path, init = {}, changes = {}) => {
      const claims = { sub: 'shop', exp: world.clock.seconds + 600, scope: allScopes, ...changes }
      const headers = bearer(await signHs256(claims, backendSecret))
      return fetch(new Request(origin + ledgerPath(path), { ...init, headers: { ...headers, ...init.headers } }))
    }
    const running: RunningService = {
      chain,
      nodes,
      db,
      lines,
      clock: world.clock,
      fetch,
      ledger,
      hooks: world.hooks,
      hangHooks: world.hangHooks,
      hookAnswer: world.hookAnswer,
      bindings,
      scannerHost: hostOf(scannerName),
      send: (path, body, by = 'shop') => ledger(path, postInit(body), { sub: by }),
      post: (entries) => ledger('/ledger/entries', postInit({ entries })),
      rpc: service.ledger(bindings),
      async get(path, uid = 7, init = {}) {
        const claims = { sub: String(uid), exp: tokenNow + 86_400 }
        const headers = uid === null ? {} : bearer(await signHs256(claims, testSecret))
        return fetch(new Request(origin + path, { ...init, headers: { ...headers, ...init.headers } }))
      },
      async tick(name = scannerName) {
        hostOf(name).alarmAt = null // as the platform does before it runs an alarm
        await objects.scanner(name).alarm()
        await world.settled()
      },
      async cron() {
        await service.scheduled(bindings)
        await world.settled()
      },
      settled: () => world.settled(),
      async deliver() {
        await world.settled()
        for (const [name, host] of hosts) {
          while (!name.startsWith('scanner') && host.alarmAt !== null && host.alarmAt <= world.platform.clock.now()) {
            host.alarmAt = null
            await objects.endpoint(name).alarm()
          }
        }
      },
      with: (changes, scannerOf) => withBindings({ ...variables, ...changes }, scannerOf),
    }
    return running
  }
  return withBindings({ ...testVariables(db), TRON_NODES: testNodes, ...variables })
}

/** The value of a name, made when it is first needed. */
function once<T>(values: Map<string, T>, name: string, create: () => T): T {
  const value = values.get(name) ?? create()
  values.set(name, value)
  return value
}

/** The bindings with the objects of this deployment, one of each name. What they keep is in the hosts. */
function createObjects(
  { platform, passRestart }: World,
  variables: Record<string, unknown>,
  hostOf: (name: string) => MemoryHost,
  other: unknown,
) {
  const scanners = new Map<string, ReturnType<typeof createScannerObject>>()
  const endpoints = new Map<string, ReturnType<typeof createEndpointObject>>()
  const shared = createSharedBlocks(platform.clock)
  const bindings: Record<string, unknown> = {
    BLOCKS: { getByName: () => shared },
    ...variables,
    SCANNER: other ?? { getByName: (name: string) => scanner(name) },
    ENDPOINT: { getByName: (name: string) => endpoint(name) },
  }
  const scanner = (name: string) =>
    once(scanners, name, () => {
      const host = hostOf(name)
      if (host.values.size > 0) passRestart()
      return createScannerObject(platform, bindings, host, name)
    })
  const endpoint = (name: string) =>
    once(endpoints, name, () => createEndpointObject(platform, bindings, hostOf(name), name))
  return { bindings, scanner, endpoint }
}

/** The text of a response to a caller. */
export const textOf = async (service: RunningService, path: string, uid = 7) => (await service.get(path, uid)).text()
/** Requests to all nodes so far. */
export const requestsOf = ({ nodes }: RunningService) => nodes.reduce((sum, node) => sum + node.requests.length, 0)
/** The kinds of all alarms so far. */
export const alarmsIn = ({ lines }: RunningService) => lines.flatMap((line) => JSON.parse(line).alarm ?? [])

/** A POST request with this JSON body, or with this text. */
export function postInit(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
}

/** A database that is unavailable: every call throws `thrown`. */
export function brokenDatabase(thrown: unknown = new Error('D1_ERROR: the database is away')): unknown {
  const fail = () => {
    throw thrown
  }
  return { prepare: fail, batch: fail, withSession: fail }
}

/** The number of blocks between the newest block and the newest final one. */
export const finalityLag = 18

/** The address in a response of `/tron/generate`. */
export async function addressIn(response: Response): Promise<Address> {
  const { data } = await response.json<{ data: { address: string } }>()
  return addressFrom(data.address)
}

/** The address that is `T…`. */
export function addressFrom(base58: string): Address {
  const address = parseAddress(base58)
  if (!address.ok) throw new Error(`no address: ${base58}`)
  return address.value
}

const payer = addressOf(99)

/** A TRX transfer. */
export const trxTo = (to: Address, amount: bigint): TransactionSpec => ({ kind: 'trx', from: payer, to, amount })
/** A USDT transfer. */
export const usdtTo = (to: Address, amount: bigint): TransactionSpec => ({
  kind: 'token',
  contract: usdtAddress,
  from: payer,
  to,
  amount,
})

/** Makes one final block with these transactions; returns their txids. */
export function payFinal({ chain }: RunningService, ...specs: TransactionSpec[]): string[] {
  const block = chain.add(specs)
  chain.addEmpty(finalityLag)
  return block.transactions.map((transaction) => transaction.txid)
}

/** A final deposit of 25 USDT to caller 7; returns its txid. */
export async function payCaller(service: RunningService): Promise<string> {
  const [txid = ''] = payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 25_000_000n))
  return txid
}

/** Reserves the address at an index of the key, as `npm run operate -- reserve` does. */
export async function reserveAddress({ db }: RunningService, index: number, base58: string): Promise<void> {
  const columns = 'id, uid, address, issued_height, created_at'
  await db
    .prepare(`INSERT INTO stored_address (${columns}) VALUES (?1 + 1, ${reservedUid}, unhex(?2),
      coalesce((SELECT issued_height FROM address ORDER BY id DESC LIMIT 1), 0), 0)`)
    .bind(index, addressFrom(base58))
    .run()
}

/** A USDT transfer to caller 7 that a tick sees, and that is not in the chain of the next tick; returns its txid. */
export async function dropTransfer(service: RunningService): Promise<string> {
  const to = await addressIn(await service.get('/tron/generate'))
  const fork = service.chain.fork(service.chain.tip().height)
  await service.tick()
  const [txid = ''] = service.chain.add([usdtTo(to, 1n)]).transactions.map((transaction) => transaction.txid)
  service.clock.seconds += 20
  await service.tick()
  fork.addEmpty(25)
  for (const node of service.nodes) node.chain = fork
  service.clock.seconds += 60
  await service.tick()
  return txid
}

/** A response with its parsed body. */
export async function read(response: Response): Promise<{ readonly status: number; readonly body: unknown }> {
  return { status: response.status, body: await response.json() }
}

/** A response with the text of its body, where digits matter. */
export async function wholeOf(response: Response): Promise<{ readonly status: number; readonly text: string }> {
  return { status: response.status, text: await response.text() }
}

/** A failure as `read` returns it. */
export const failed = (status: number, msg: string) => ({ status, body: { code: status, msg } })

/** Makes the newest final block that is stored as old as such a block is: the blocks of a test have times of long before. */
export async function renewFinal({ db, clock }: RunningService): Promise<void> {
  const time = Math.round(clock.seconds * 1000) - finalityMs
  await db.prepare('UPDATE scan SET finalized_time = ?').bind(time).run()
}
