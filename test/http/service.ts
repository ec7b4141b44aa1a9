import { createSharedBlocks } from '../../src/worker/cells/shared-blocks.ts'
import { type Address, parseAddress } from '../../src/worker/chain/address.ts'
import { finalityMs } from '../../src/worker/chain/finality.ts'
import { reservedUid } from '../../src/worker/common/ids.ts'
import { createEndpointObject, createScannerObject, createService } from '../../src/worker/compose.ts'
import type { LedgerMethods } from '../../src/worker/rpc/ledger-methods.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { createMemoryHost, type MemoryHost } from '../support/memory-host.ts'
import { connect, createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { backendSecret, otherXpubs, testSecret, testVariables } from '../support/variables.ts'
import { createWorld, type World } from './world.ts'

/**
 * The address at index 0 of the tests' extended public key (PROTOCOL.md, Addresses and derivation).
 */
export const firstAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
/** The address at index 1 of the tests' extended public key. */
export const secondAddress = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'

const origin = 'https://wallet.example'

/**
 * The whole service as `index.ts` composes it, over a real D1 and two scripted nodes, with its
 * Durable Objects in memory.
 */
export interface RunningService {
  readonly chain: BuiltChain
  readonly nodes: readonly ScriptedNode[]
  readonly db: D1Database
  readonly lines: string[]
  /**
   * The time in seconds since 1970. Setting it moves the clock; pauses of the service move it, too.
   */
  readonly clock: { seconds: number }
  /** A request with a user's token, by default of user 7; `uid` null sends none. */
  get(path: string, uid?: number | null, init?: RequestInit): Promise<Response>
  /** A request with the token of the backend `shop`, with all scopes; `claims` replaces claims. */
  ledger(path: string, init?: RequestInit, claims?: Readonly<Record<string, unknown>>): Promise<Response>
  /** A POST of this JSON body with the token of the backend `by`, by default `shop`. */
  send(path: string, body: unknown, by?: string): Promise<Response>
  /** Posts ledger entries. Tests also pass other values, to see them refused. */
  post(entries: unknown): Promise<Response>
  /** The RPC methods that other Workers call. */
  readonly rpc: LedgerMethods
  /** Any request, as it is. */
  fetch(request: Request): Promise<Response>
  /**
   * Runs the alarm of a scanner, due or not, and waits for all that follows. By default the scanner
   * of the cell with the tests' users.
   */
  tick(scanner?: string): Promise<void>
  /** Runs the cron handler once, and waits for all that follows. */
  cron(): Promise<void>
  /** Waits for all work that the service does in the background. */
  settled(): Promise<void>
  /** Runs the alarms of all endpoints until none is due. */
  deliver(): Promise<void>
  /** The bindings of this deployment, with its objects. */
  readonly bindings: Readonly<Record<string, unknown>>
  /** The storage and the alarm of the scanner. */
  readonly scannerHost: MemoryHost
  /** The storage and the alarm of each object by its name. */
  readonly hosts: ReadonlyMap<string, MemoryHost>
  /** The requests that the endpoint `https://hooks.example/` has received. */
  readonly hooks: readonly { readonly url: string; readonly body: string }[]
  /** The status with which the endpoint `https://hooks.example/` answers, at first 204. */
  readonly hookAnswer: { status: number }
  /** Makes the endpoint leave requests without a response until the returned function is called. */
  hangHooks(): () => void
  /**
   * The same isolate, database and chain after a change of variables, with new objects over the
   * same storage. With `scannerOf`, the scanner of that service is used in place of the new
   * service's.
   */
  with(changes: Record<string, unknown>, scannerOf?: RunningService): RunningService
}

/** The tests' backends may do everything. */
const allScopes = 'ledger:read ledger:post ledger:pay ledger:approve ledger:sign'

/** Two nodes whose allowances no test reaches by accident. */
export const testNodes = ['one', 'two'].map(nodeNamed)
/** Three such nodes: `startService` has a third node if its variables name them. */
export const threeNodes = ['one', 'two', 'three'].map(nodeNamed)

function nodeNamed(name: string) {
  const api = `https://${name}.example`
  return { rpc: `${api}/jsonrpc`, api, perSecond: 10_000, perDay: 100_000_000 }
}

/** `TRON_NODES` with both nodes, and the same changes to each. */
export const nodesWith = (changes: object) => ({ TRON_NODES: testNodes.map((node) => ({ ...node, ...changes })) })

/** Variables with one endpoint; `hooks` lists the requests to it. */
export const oneEndpoint = {
  WEBHOOKS: [{ url: 'https://hooks.example/', secretVar: 'HOOK' }],
  HOOK: `whsec_${btoa('s'.repeat(32))}`,
}

/** What a service is started in. */
export interface Surroundings {
  /** The height of the chain's first block. */
  readonly firstHeight?: number | undefined
  /** The database, empty and with all migrations. By default the D1 of workerd. */
  readonly db?: D1Database
  /** Answers to requests, by URL. Nodes and the endpoint need no entry here. */
  readonly served?: Readonly<Record<string, () => Response>>
}

/** Which cell has the tests' database and users. */
interface Placement {
  readonly scannerName: string
  readonly bindingsOf: (variables: Record<string, unknown>) => Record<string, unknown>
  /** Stores the rows that an earlier deployment has left in the database. */
  readonly prepare: (db: D1Database) => Promise<unknown>
  /**
   * Adds the parameter `cell` to the path of a backend's request, where there are several cells.
   */
  readonly ledgerPath: (path: string) => string
}

const onlyCell: Placement = {
  scannerName: 'scanner',
  bindingsOf: (variables) => variables,
  prepare: async () => undefined,
  ledgerPath: (path) => path,
}

/**
 * Three cells, with all users of the tests in the second one. The databases of the other two throw
 * on any read.
 */
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
  prepare: (db) => db.prepare(`INSERT INTO user_range VALUES (1, 1, 999999, 0)`).run(),
  ledgerPath: (path) => `${path}${path.includes('?') ? '&' : '?'}cell=2`,
}

let placement = onlyCell

/**
 * Chooses where services that start from now on have their users: in the second of three cells, or
 * in the only cell.
 */
export function placeInSecondCell(isSecond: boolean): void {
  placement = isSecond ? secondCell : onlyCell
}

/** How many cells share the nodes' allowances in services that start from now on. */
export const cellCount = () => (placement === secondCell ? 3 : 1)

/** Starts the service over an empty database. `variables` add to the usual ones or replace them. */
export async function startService(
  variables: Record<string, unknown> = {},
  { firstHeight, db: given, served = {} }: Surroundings = {},
): Promise<RunningService> {
  // Imported only where it is needed, because the module exists in workerd alone.
  const db = given ?? (await (await import('../support/database.ts')).freshDatabase())
  const chain = createChain(firstHeight === undefined ? {} : { firstHeight })
  chain.addEmpty(finalityLag + 1)
  const urlsOfNodes = variables.TRON_NODES === threeNodes ? threeNodes : testNodes
  const nodes = urlsOfNodes.map(() => createScriptedNode(chain))
  for (const node of nodes) node.decimals.set(usdtAddress, 6)
  const lines: string[] = []
  const reach = connect(urlsOfNodes.flatMap((urls, i) => nodes.slice(i, i + 1).map((node) => ({ ...urls, node }))))
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
      ...{ scannerHost: hostOf(scannerName), hosts },
      send: (path, body, by = 'shop') => ledger(path, postInit(body), { sub: by }),
      post: (entries) => ledger('/ledger/entries', postInit({ entries })),
      rpc: service.ledger(bindings),
      async get(path, uid = 7, init = {}) {
        const claims = { sub: String(uid), exp: tokenNow + 86_400 }
        const headers = uid === null ? {} : bearer(await signHs256(claims, testSecret))
        return fetch(new Request(origin + path, { ...init, headers: { ...headers, ...init.headers } }))
      },
      async tick(name = scannerName) {
        hostOf(name).alarmAt = null // the platform clears an alarm before it runs it
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

/** The value under a name; it is created on first use. */
function once<T>(values: Map<string, T>, name: string, create: () => T): T {
  const value = values.get(name) ?? create()
  values.set(name, value)
  return value
}

/**
 * The bindings of a deployment, with one object for each name. `hostOf` returns an object's
 * storage. `other` replaces the binding `SCANNER`, if set.
 */
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

/** The text of a response to a user, by default to user 7. */
export const textOf = async (service: RunningService, path: string, uid = 7) => (await service.get(path, uid)).text()
/** How many requests both nodes have received so far. */
export const requestsOf = ({ nodes }: RunningService) => nodes.reduce((sum, node) => sum + node.requests.length, 0)
/** The kinds of all alarms that were logged so far. */
export const alarmsIn = ({ lines }: RunningService) => lines.flatMap((line) => JSON.parse(line).alarm ?? [])

/** A POST of a value as JSON; a text is sent as it is. */
export function postInit(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
}

/** A database whose every call throws `thrown`. */
export function brokenDatabase(thrown: unknown = new Error('D1_ERROR: the database is away')): unknown {
  const fail = () => {
    throw thrown
  }
  return { prepare: fail, batch: fail, withSession: fail }
}

/** What D1 says while it is away, and Drizzle's error around it. */
export const awayError = () =>
  new Error('D1_ERROR: Network connection lost.', { cause: new Error('Network connection lost.') })
/** A database whose every call fails because D1 is away. */
export const awayDatabase = () => brokenDatabase(awayError())

/** How many blocks the newest block is above the newest final one. */
export const finalityLag = 18

/** The address in a response of `/tron/generate`. */
export async function addressIn(response: Response): Promise<Address> {
  const { data } = await response.json<{ data: { address: string } }>()
  return addressFrom(data.address)
}

/** Parses an address in Base58Check. Throws if it is none. */
export function addressFrom(base58: string): Address {
  const address = parseAddress(base58)
  if (!address.ok) throw new Error(`no address: ${base58}`)
  return address.value
}

/** Who sends the transfers of tests. */
export const payer = addressOf(99)

/** A transfer of `amount` sun from `payer`. */
export const trxTo = (to: Address, amount: bigint): TransactionSpec => ({ kind: 'trx', from: payer, to, amount })
/** A transfer of USDT from `payer`, in smallest units. */
export const usdtTo = (to: Address, amount: bigint): TransactionSpec => ({
  kind: 'token',
  contract: usdtAddress,
  from: payer,
  to,
  amount,
})

/** Puts the transactions into one block and makes it final, without a scan. Returns their txids. */
export function payFinal({ chain }: RunningService, ...specs: TransactionSpec[]): string[] {
  const block = chain.add(specs)
  chain.addEmpty(finalityLag)
  return block.transactions.map((transaction) => transaction.txid)
}

/** Pays 25 USDT to user 7 in a final block, without a scan. Returns the txid. */
export async function payCaller(service: RunningService): Promise<string> {
  const [txid = ''] = payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 25_000_000n))
  return txid
}

/** Reserves the key's address at `index`, as `npm run operate -- reserve` does. */
export async function reserveAddress({ db }: RunningService, index: number, base58: string): Promise<void> {
  const columns = 'id, uid, address, issued_height, created_at'
  await db
    .prepare(`INSERT INTO stored_address (${columns}) VALUES (?1 + 1, ${reservedUid}, unhex(?2),
      coalesce((SELECT issued_height FROM address ORDER BY id DESC LIMIT 1), 0), 0)`)
    .bind(index, addressFrom(base58))
    .run()
}

/**
 * A USDT transfer to user 7 that one tick sees, and that is missing in the chain of the next tick.
 * Returns its txid.
 */
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

/** Status and body of a response, which must be JSON. */
export async function read(response: Response): Promise<{ readonly status: number; readonly body: unknown }> {
  return { status: response.status, body: await response.json() }
}

/** Status and text of a response, for tests where each digit counts. */
export async function wholeOf(response: Response): Promise<{ readonly status: number; readonly text: string }> {
  return { status: response.status, text: await response.text() }
}

/** A failure in the form that `read` returns. */
export const failed = (status: number, msg: string) => ({ status, body: { code: status, msg } })

/**
 * Stores that the newest final block is of the usual age. Otherwise credits would count as late,
 * because the blocks of tests have times of long ago.
 */
export async function renewFinal({ db, clock }: RunningService): Promise<void> {
  const time = Math.round(clock.seconds * 1000) - finalityMs
  await db.prepare('UPDATE scan SET finalized_time = ?').bind(time).run()
}
