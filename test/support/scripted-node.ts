import type { Address } from '../../src/worker/chain/address.ts'
import { type ChainBlock, type RenderedBlock, renderBlock, type Wire } from './block-json.ts'
import type { BuiltChain } from './chain-builder.ts'
import { answerCall, type CallResponse, type IncomingCall, type NodeView } from './node-methods.ts'

/** One received HTTP request. */
export interface IncomingRequest {
  readonly service: 'rpc' | 'api'
  /** From 1, counted by the node. */
  readonly number: number
  readonly batch: boolean
  readonly calls: readonly IncomingCall[]
  /** The API key header, or null. */
  readonly key: string | null
}

/** How one request fails or gets a wrong response. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly body?: string }
  /** HTTP 200 with this body. */
  | { readonly kind: 'body'; readonly body: string }
  /** No response until the client aborts the request. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'broken-connection' }
  | { readonly kind: 'truncated-json' }
  /** A body of 40 MiB. */
  | { readonly kind: 'oversize' }
  /** A redirect to another host: a client that follows it sends its API key there. */
  | { readonly kind: 'redirect' }
  /** The correct response after a delay. */
  | { readonly kind: 'delayed'; readonly wait: () => Promise<void> }
  /** One error for every batch of more than `callsMax` calls. */
  | { readonly kind: 'batch-limit'; readonly callsMax: number; readonly code: number; readonly status?: number }
  /** All correct JSON-RPC responses of a request, changed together. */
  | { readonly kind: 'changed-responses'; readonly change: (responses: readonly Wire[]) => unknown }
  /** The correct response, changed for some calls; undefined leaves a call's response unchanged. */
  | {
      readonly kind: 'changed-calls'
      readonly change: (call: IncomingCall, response: CallResponse) => CallResponse | undefined
    }

/** A node over a built chain. It responds as java-tron does, except where `script` returns a fault. A test may change all of it. */
export interface ScriptedNode {
  chain: BuiltChain
  /** Number of blocks of the chain that the node does not have yet. */
  behind: number
  /** Blocks from its newest to its newest finalized one. */
  finalityLag: number
  /** java-tron before 4.8.0 has no tag `finalized` (PROTOCOL.md, Block tags). */
  supportsFinalized: boolean
  /** Without history every receipt is null and all logs are `[]` (PROTOCOL.md, Log queries). */
  hasHistory: boolean
  /** Whether it keeps internal transactions: java-tron does not by itself. */
  keepsInternals: boolean
  /** Most logs in one reply. */
  logsMax: number
  /** By address: sun; by `contract address`: token units. */
  readonly balances: Map<string, bigint>
  /** Accounts in Base58Check that exist whatever they hold. */
  readonly activated: Set<string>
  readonly decimals: Map<Address, number>
  /** Signed transactions that it was sent. */
  readonly broadcasts: string[]
  /** Txids of transactions that are in no block. */
  readonly unmined: Set<string>
  /** The fault for a request, or null for a correct response. */
  script: (incoming: IncomingRequest) => Fault | null
  readonly requests: IncomingRequest[]
  /** `path` is that of the HTTP API, or empty for JSON-RPC. */
  respond(path: string, init: RequestInit): Promise<Response>
}

/** A healthy node over `chain`. */
export function createScriptedNode(chain: BuiltChain): ScriptedNode {
  const node: ScriptedNode = {
    chain,
    behind: 0,
    finalityLag: 18,
    supportsFinalized: true,
    hasHistory: true,
    keepsInternals: true,
    logsMax: 10_000,
    balances: new Map(),
    activated: new Set(),
    decimals: new Map(),
    broadcasts: [],
    unmined: new Set(),
    script: () => null,
    requests: [],
    respond: (path, init) => respond(node, path, init),
  }
  return node
}

/** The paths of a node's HTTP API that the service uses. */
const apiPaths = [
  ...['/wallet/getblockbylimitnext', '/wallet/getaccount', '/wallet/broadcasthex', '/wallet/gettransactioninfobyid'],
]

/** A `fetch` that reaches nodes by URL: the exact `rpc` URL, or one of `apiPaths` under an `api` URL. */
export function connect(
  nodes: readonly { readonly rpc: string; readonly api: string; readonly node: ScriptedNode }[],
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    for (const { rpc, api, node } of nodes) {
      if (url === rpc) return node.respond('', init)
      const path = apiPaths.find((one) => url === api + one)
      if (path !== undefined) return node.respond(path, init)
    }
    throw new TypeError(`nothing listens at ${url}`)
  }
}

/** A fault that changes all results of one method, or of one path of the HTTP API. */
export function changing(method: string, change: (result: unknown, call: IncomingCall) => unknown): Fault {
  return {
    kind: 'changed-calls',
    change: (call, response) =>
      call.method === method && 'result' in response ? { result: change(response.result, call) } : undefined,
  }
}

/** A fault that makes all calls of one method fail. */
export function failing(method: string, code: number, message: string): Fault {
  return {
    kind: 'changed-calls',
    change: (call) => (call.method === method ? { error: { code, message } } : undefined),
  }
}

async function respond(node: ScriptedNode, path: string, init: RequestInit): Promise<Response> {
  const incoming = receive(node, path, init)
  const fault = node.script(incoming)
  if (fault?.kind === 'delayed') await fault.wait()
  const failed = fault === null ? null : await failRequest(fault, init.signal ?? null, incoming)
  if (failed !== null) return failed
  const view = viewOf(node)
  const responses = incoming.calls.map((call) => {
    const correct = answerCall(view, call)
    const response = fault?.kind === 'changed-calls' ? (fault.change(call, correct) ?? correct) : correct
    return { jsonrpc: '2.0', id: call.id, ...response }
  })
  const [only] = responses
  if (path !== '' && fault?.kind !== 'truncated-json') {
    return json(only !== undefined && 'result' in only ? only.result : { Error: 'class java.lang.Exception' })
  }
  if (fault?.kind === 'changed-responses') return json(fault.change(responses))
  const body = JSON.stringify(incoming.batch ? responses : only)
  return text(fault?.kind === 'truncated-json' ? body.slice(0, -7) : body)
}

/** Blocks as nodes show them, made once for all nodes of a test. */
const rendered = new WeakMap<ChainBlock, RenderedBlock>()

function rendering(block: ChainBlock | undefined): RenderedBlock | undefined {
  if (block === undefined) return undefined
  const known = rendered.get(block) ?? renderBlock(block)
  rendered.set(block, known)
  return known
}

function viewOf(node: ScriptedNode): NodeView {
  const { chain, balances, activated, decimals, unmined, hasHistory, keepsInternals, logsMax } = node
  const head = chain.tip().height - node.behind
  return {
    chainId: chain.chainId,
    head,
    finalized: node.supportsFinalized ? head - node.finalityLag : null,
    blockAt: (height) => rendering(chain.at(height)),
    blockByHash: (hash) => rendering(chain.byHash(hash)),
    blockOf: (txid) => rendering(chain.blockOf(txid)),
    hasHistory,
    keepsInternals,
    logsMax,
    balanceOf: (address, contract) => balances.get(contract === null ? address : `${contract} ${address}`) ?? 0n,
    decimalsOf: (contract) => decimals.get(contract),
    accountOf: (address) => (activated.has(address) ? { address } : {}),
    broadcast: (transaction) => {
      node.broadcasts.push(transaction)
      return { result: true, code: 'SUCCESS', message: '' }
    },
    isUnmined: (txid) => unmined.has(txid),
  }
}

function receive(node: ScriptedNode, path: string, init: RequestInit): IncomingRequest {
  const body: unknown = JSON.parse(String(init.body))
  const batch = Array.isArray(body)
  const service = path === '' ? 'rpc' : 'api'
  const calls: IncomingCall[] = service === 'api' ? [{ id: 0, method: path, params: [body] }] : batch ? body : [body]
  const key = new Headers(init.headers as Record<string, string>).get('TRON-PRO-API-KEY')
  const incoming: IncomingRequest = { service, number: node.requests.length + 1, batch, calls, key }
  node.requests.push(incoming)
  return incoming
}

const text = (body: string, status = 200) =>
  new Response(body, { status, headers: { 'content-type': 'application/json-rpc' } })
const json = (value: unknown) => text(JSON.stringify(value))

/** The response to a request that fails as a whole, or null for a fault that changes a correct response. */
async function failRequest(
  fault: Fault,
  signal: AbortSignal | null,
  { batch, calls }: IncomingRequest,
): Promise<Response | null> {
  switch (fault.kind) {
    case 'status':
      return text(fault.body ?? `HTTP ${fault.status}`, fault.status)
    case 'body':
      return text(fault.body)
    case 'hang':
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')))
      })
    case 'broken-connection':
      throw new TypeError('fetch failed: https://node.test/secret-path')
    case 'oversize':
      return new Response(largeBody(), { status: 200 })
    case 'redirect':
      return new Response(null, { status: 302, headers: { location: 'https://elsewhere.test/' } })
    case 'batch-limit': {
      if (!batch || calls.length <= fault.callsMax) return null
      const error = { code: fault.code, message: `Batch size ${calls.length} exceeds the limit` }
      return text(JSON.stringify({ jsonrpc: '2.0', id: 'null', error }), fault.status ?? 200)
    }
    case 'truncated-json':
    case 'delayed':
    case 'changed-responses':
    case 'changed-calls':
      return null
  }
}

function largeBody(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(1024 * 1024).fill(0x20)
  let left = 40
  return new ReadableStream({
    pull(controller) {
      left -= 1
      if (left === 0) controller.close()
      else controller.enqueue(chunk)
    },
  })
}
