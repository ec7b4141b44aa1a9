import type { Address } from '../../src/worker/chain/address.ts'
import { type ChainBlock, type RenderedBlock, renderBlock, type Wire } from './block-json.ts'
import type { BuiltChain } from './chain-builder.ts'
import { answerCall, type CallResponse, type IncomingCall, type NodeView } from './node-methods.ts'

/** An HTTP request that a node received. */
export interface IncomingRequest {
  readonly service: 'rpc' | 'api'
  /** The node counts its requests from 1. */
  readonly number: number
  readonly batch: boolean
  readonly calls: readonly IncomingCall[]
  /** The value of the API key's header, or null. */
  readonly key: string | null
}

/** How a request goes wrong. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly body?: string }
  /** Status 200 with this body, which need not be JSON. */
  | { readonly kind: 'body'; readonly body: string }
  /** No response before the client gives up. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'broken-connection' }
  | { readonly kind: 'truncated-json' }
  /** A body of 40 MiB, which the client must not read to its end. */
  | { readonly kind: 'oversize' }
  /** A redirect to another host, which would get the API key of a client that follows it. */
  | { readonly kind: 'redirect' }
  /** The correct response, after `wait`. */
  | { readonly kind: 'delayed'; readonly wait: () => Promise<void> }
  /** One error object instead of a list, for each batch of more than `callsMax` calls. */
  | { readonly kind: 'batch-limit'; readonly callsMax: number; readonly code: number; readonly status?: number }
  /** The correct JSON-RPC responses of a request, changed as a whole. */
  | { readonly kind: 'changed-responses'; readonly change: (responses: readonly Wire[]) => unknown }
  /** The correct responses, each changed by `change` unless that returns undefined. */
  | {
      readonly kind: 'changed-calls'
      readonly change: (call: IncomingCall, response: CallResponse) => CallResponse | undefined
    }

/**
 * A node that serves a built chain as java-tron does, except where `script` returns a fault. A test
 * may change every property at any time.
 */
export interface ScriptedNode {
  chain: BuiltChain
  /** How many of the chain's newest blocks the node does not have yet. */
  behind: number
  /** How many blocks the node's newest final block is below its newest one. */
  finalityLag: number
  supportsFinalized: boolean
  /**
   * Without history every receipt is null and each list of logs is empty (PROTOCOL.md, Log
   * queries).
   */
  hasHistory: boolean
  /**
   * Whether the node stores internal transactions, which java-tron does only if it is configured
   * to.
   */
  keepsInternals: boolean
  /** The most logs that the node returns in one reply. */
  logsMax: number
  /** Balances in smallest units: of TRX by address, of a token by `<contract> <address>`. */
  readonly balances: Map<string, bigint>
  /** Addresses in Base58Check whose accounts exist, even without a balance. */
  readonly activated: Set<string>
  readonly decimals: Map<Address, number>
  /** The signed transactions that were sent to the node. */
  readonly broadcasts: string[]
  /** The txids of transactions that the node knows though no block contains them. */
  readonly unmined: Set<string>
  /** Decides each request's fault; null means a correct response. */
  script: (incoming: IncomingRequest) => Fault | null
  readonly requests: IncomingRequest[]
  /** Answers a request. `path` is the path of the HTTP API, or empty for JSON-RPC. */
  respond(path: string, init: RequestInit): Promise<Response>
}

/** A healthy node that has the whole chain. */
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

const apiPaths = [
  ...['/wallet/getblockbylimitnext', '/wallet/getaccount', '/wallet/broadcasthex', '/wallet/gettransactioninfobyid'],
  '/wallet/getaccountresource',
]

/**
 * A `fetch` that passes requests to the node of their URL: exactly `rpc`, or `api` followed by one
 * of `apiPaths`. It rejects any other URL.
 */
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

/**
 * A fault that replaces the result of each call of a JSON-RPC method, or of a path of the HTTP API.
 */
export function changing(method: string, change: (result: unknown, call: IncomingCall) => unknown): Fault {
  return {
    kind: 'changed-calls',
    change: (call, response) =>
      call.method === method && 'result' in response ? { result: change(response.result, call) } : undefined,
  }
}

/** A fault that makes each call of a method fail with this error. */
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

/**
 * What nodes show of each block. All nodes share it, because rendering a large block takes long.
 */
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

/**
 * The response if the fault replaces all of it, or null if the fault changes a correct response.
 */
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
