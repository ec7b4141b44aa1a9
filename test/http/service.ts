import { type Address, parseAddress } from '../../src/chain/address.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createService } from '../../src/compose.ts'
import { createLogger } from '../../src/platform/logger.ts'
import type { LedgerMethods } from '../../src/rpc/ledger-methods.ts'
import { type BuiltChain, createChain } from '../support/chain-builder.ts'
import { freshDatabase } from '../support/database.ts'
import { connect, createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { backendSecret, testSecret, testVariables } from '../support/variables.ts'

/** The first address of the tests' extended public key (PROTOCOL.md, Addresses and derivation). */
export const firstAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
/** The second address of the tests' extended public key. */
export const secondAddress = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'

/** Where the service of the tests is. */
const origin = 'https://wallet.example'

/** The whole service over D1 and two nodes. */
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
  /** The response to a post of these entries, or of any other body. */
  post(entries: unknown): Promise<Response>
  /** The methods for other Workers. */
  readonly rpc: LedgerMethods
  /** The response to any request. */
  fetch(request: Request): Promise<Response>
  tick(): Promise<void>
  /** One invocation of the cron. */
  minute(): Promise<void>
  /** The requests to endpoints at `https://hooks.example/`, which all succeed. */
  readonly hooks: readonly { readonly body: string }[]
  /** Lets further requests to endpoints have no response until the returned function is called. */
  hangHooks(): () => void
  /** The same isolate, database and chain with other variables, as after a change of the configuration. */
  with(changes: Record<string, unknown>): RunningService
}

/** Starts the service on an empty database. `variables` add to the usual ones or replace them. */
export async function startService(variables: Record<string, unknown> = {}): Promise<RunningService> {
  const db = await freshDatabase()
  const chain = createChain()
  chain.addEmpty(finalityLag + 1)
  const nodes = [createScriptedNode(chain), createScriptedNode(chain)]
  for (const node of nodes) node.decimals.set(usdtAddress, 6)
  const reach = connect(
    nodes.map((node, i) => {
      const host = `https://${i === 0 ? 'one' : 'two'}.example`
      return { rpc: `${host}/jsonrpc`, api: host, node }
    }),
  )
  const lines: string[] = []
  const clock = { seconds: tokenNow }
  const startedAt = performance.now()
  let names = 0
  const hooks: { readonly body: string }[] = []
  let hookResponses = Promise.resolve()
  const service = createService({
    clock: {
      now: () => (clock.seconds * 1000 + Math.floor(performance.now() - startedAt)) as UnixMs,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      random: () => 0.5,
    },
    logger: createLogger((line) => lines.push(line)),
    fetch: async (input, init = {}) => {
      if (!String(input).startsWith('https://hooks.example/')) return reach(String(input), init)
      hooks.push({ body: String(init.body) })
      await hookResponses
      return new Response(null, { status: 204 })
    },
    uniqueName: () => `name-${++names}`,
  })
  const withBindings = (bindings: Record<string, unknown>): RunningService => {
    const fetch = (request: Request) => service.fetch(request, bindings)
    const ledger: RunningService['ledger'] = async (path, init = {}, changes = {}) => {
      const claims = { sub: 'shop', exp: clock.seconds + 600, scope: 'ledger:read ledger:post', ...changes }
      const headers = bearer(await signHs256(claims, backendSecret))
      return fetch(new Request(origin + path, { ...init, headers: { ...headers, ...init.headers } }))
    }
    return {
      chain,
      nodes,
      db,
      lines,
      clock,
      fetch,
      ledger,
      post: (entries) => ledger('/ledger/entries', postInit({ entries })),
      rpc: service.ledger(bindings),
      async get(path, uid = 7, init = {}) {
        const claims = { sub: String(uid), exp: tokenNow + 86_400 }
        const headers = uid === null ? {} : bearer(await signHs256(claims, testSecret))
        return fetch(new Request(origin + path, { ...init, headers: { ...headers, ...init.headers } }))
      },
      tick: () => service.tick(bindings),
      minute: () => service.minute(bindings, (...task) => service.deliver(bindings, ...task)),
      hooks,
      hangHooks() {
        const { promise, resolve } = Promise.withResolvers<void>()
        hookResponses = promise
        return resolve
      },
      with: (changes) => withBindings({ ...bindings, ...changes }),
    }
  }
  return withBindings({ ...testVariables(db), ...variables })
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
