import { bytesToHex } from '@noble/hashes/utils.js'
import type { Address } from '../../src/addresses/address.ts'
import type { BuiltBlock, BuiltChain, Wire } from './chain-builder.ts'

/** One JSON-RPC call as it came in. */
export interface IncomingCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** One HTTP request as it came in. */
export interface Incoming {
  readonly service: 'rpc' | 'api'
  /** From 1, counted by the node. */
  readonly number: number
  readonly batch: boolean
  readonly calls: readonly IncomingCall[]
  readonly key: string | null
}

/** What a node answers to one call: its result or its error. */
export type Outcome = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** How one request goes wrong. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly body?: string }
  /** HTTP 200 with this body. */
  | { readonly kind: 'body'; readonly body: string }
  /** No answer until the asker gives up. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'broken-connection' }
  | { readonly kind: 'half-json' }
  /** A body that does not end before 40 MiB. */
  | { readonly kind: 'oversize' }
  /** A redirect to where the asker's key would be read. */
  | { readonly kind: 'redirect' }
  /** The right answer, later. */
  | { readonly kind: 'late'; readonly wait: () => Promise<void> }
  /** One error for every batch of more than `callsMax` calls. */
  | { readonly kind: 'batch-limit'; readonly callsMax: number; readonly code: number; readonly status?: number }
  /** The right envelopes, changed. */
  | { readonly kind: 'envelopes'; readonly change: (envelopes: readonly Wire[]) => unknown }
  /** Right but for some calls; undefined leaves the answer as it is. */
  | { readonly kind: 'answers'; readonly change: (call: IncomingCall, outcome: Outcome) => Outcome | undefined }

/** A node over a built chain that answers as java-tron does, and goes wrong where its script says. All of it can be changed. */
export interface ScriptedNode {
  chain: BuiltChain
  version: string
  /** How many blocks of the chain it has not seen yet. */
  behind: number
  /** Blocks from its newest to its newest final one. */
  finalityLag: number
  /** java-tron before 4.8.0 has no tag `finalized`; before 4.8.1 no `eth_getBlockReceipts`. */
  knowsFinalized: boolean
  knowsBlockReceipts: boolean
  /** Without it every receipt is null and all logs are `[]` (7.4). */
  keepsHistory: boolean
  /** By address: sun; by `contract address`: token units. */
  readonly balances: Map<string, bigint>
  readonly decimals: Map<Address, number>
  readonly unmined: Map<string, Wire>
  /** Null where the request goes well. */
  script: (incoming: Incoming) => Fault | null
  readonly requests: Incoming[]
  respond(service: 'rpc' | 'api', init: RequestInit): Promise<Response>
}

/** A healthy node over `chain`. */
export function createScriptedNode(chain: BuiltChain): ScriptedNode {
  const node: ScriptedNode = {
    chain,
    version: 'TRON/v4.8.1/Linux/Java1.8',
    behind: 0,
    finalityLag: 18,
    knowsFinalized: true,
    knowsBlockReceipts: true,
    keepsHistory: true,
    balances: new Map(),
    decimals: new Map(),
    unmined: new Map(),
    script: () => null,
    requests: [],
    respond: (service, init) => respond(node, service, init),
  }
  return node
}

/** A `fetch` that reaches nodes by URL: `rpc` exactly, or an `api` with `/wallet/gettransactionbyid` behind it. */
export function connect(
  nodes: readonly { readonly rpc: string; readonly api: string | null; readonly node: ScriptedNode }[],
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    for (const { rpc, api, node } of nodes) {
      if (url === rpc) return node.respond('rpc', init)
      if (api !== null && url === `${api}/wallet/gettransactionbyid`) return node.respond('api', init)
    }
    throw new TypeError(`nothing listens at ${url}`)
  }
}

async function respond(node: ScriptedNode, service: 'rpc' | 'api', init: RequestInit): Promise<Response> {
  const body: unknown = JSON.parse(String(init.body))
  const batch = Array.isArray(body)
  const calls: IncomingCall[] = service === 'api' ? [{ id: 0, method: 'api', params: [body] }] : batch ? body : [body]
  const key = new Headers(init.headers as Record<string, string>).get('TRON-PRO-API-KEY')
  const incoming: Incoming = { service, number: node.requests.length + 1, batch, calls, key }
  node.requests.push(incoming)
  const fault = node.script(incoming)
  if (fault?.kind === 'late') await fault.wait()
  const early = fault === null ? null : await failEarly(fault, init.signal ?? null, incoming)
  if (early !== null) return early
  const envelopes = calls.map((call) => {
    const right = answerCall(node, call)
    const outcome = fault?.kind === 'answers' ? (fault.change(call, right) ?? right) : right
    return { jsonrpc: '2.0', id: call.id, ...outcome }
  })
  const [only] = envelopes
  if (service === 'api') return json(only !== undefined && 'result' in only ? only.result : {})
  if (fault?.kind === 'envelopes') return json(fault.change(envelopes))
  if (fault?.kind === 'half-json') return text(JSON.stringify(batch ? envelopes : only).slice(0, -7))
  return json(batch ? envelopes : only)
}

const text = (body: string, status = 200) =>
  new Response(body, { status, headers: { 'content-type': 'application/json-rpc' } })
const json = (value: unknown) => text(JSON.stringify(value))

async function failEarly(fault: Fault, signal: AbortSignal | null, incoming: Incoming): Promise<Response | null> {
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
      return new Response(endless(), { status: 200 })
    case 'redirect':
      return new Response(null, { status: 302, headers: { location: 'https://elsewhere.test/' } })
    case 'batch-limit': {
      if (!incoming.batch || incoming.calls.length <= fault.callsMax) return null
      const error = { code: fault.code, message: `Batch size ${incoming.calls.length} exceeds the limit` }
      return text(JSON.stringify({ jsonrpc: '2.0', id: 'null', error }), fault.status ?? 200)
    }
    case 'half-json':
    case 'late':
    case 'envelopes':
    case 'answers':
      return null
  }
}

function endless(): ReadableStream<Uint8Array> {
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

const result = (value: unknown): Outcome => ({ result: value })
const failure = (code: number, message: string): Outcome => ({ error: { code, message } })
const badParameters = failure(-32602, 'method parameters invalid')
const hex = (value: number | bigint) => `0x${value.toString(16)}`

/** What the node answers to one call where nothing goes wrong; the HTTP API's one question has the method `api`. */
export function answerCall(node: ScriptedNode, { method, params }: IncomingCall): Outcome {
  switch (method) {
    case 'api':
      return rawDataOf(node, params[0])
    case 'eth_chainId':
    case 'net_version':
      return result(node.chain.chainId)
    case 'web3_clientVersion':
      return result(node.version)
    case 'eth_blockNumber':
      return result(hex(headOf(node)))
    case 'eth_getBlockByNumber':
      return params.length === 2 ? blockOf(node, params[0], params[1]) : badParameters
    case 'eth_getBlockReceipts':
      if (!node.knowsBlockReceipts) return failure(-32601, 'method not found')
      return params.length === 1 ? blockReceiptsOf(node, params[0]) : badParameters
    case 'eth_getLogs':
      return params.length === 1 ? logsOf(node, params[0]) : badParameters
    case 'eth_getTransactionReceipt':
      return params.length === 1 ? receiptOf(node, params[0]) : badParameters
    case 'eth_getTransactionByHash':
      return params.length === 1 ? transactionOf(node, params[0]) : badParameters
    case 'eth_getBalance':
    case 'eth_call':
      return stateOf(node, method, params)
    default:
      return failure(-32601, 'method not found')
  }
}

const headOf = (node: ScriptedNode) => node.chain.tip().height - node.behind

function blockOf(node: ScriptedNode, tag: unknown, full: unknown): Outcome {
  const height = heightOf(node, tag)
  if (typeof height !== 'number') return height
  const block = seen(node, height)
  return result(block === undefined ? null : full === true ? block.full : block.brief)
}

/** Section 2.2: a node that does not know a tag reads it as a number, and fails. */
function heightOf(node: ScriptedNode, tag: unknown): number | Outcome {
  if (typeof tag !== 'string') return failure(-32700, 'JSON parse error')
  if (tag === 'latest') return headOf(node)
  if (tag === 'earliest') return 0
  if (tag === 'finalized' && node.knowsFinalized) return headOf(node) - node.finalityLag
  if (tag === 'pending') return failure(-32602, 'TAG pending not supported')
  return /^0x[0-9a-f]+$/.test(tag) ? Number(tag) : failure(-32602, 'invalid block number')
}

function seen(node: ScriptedNode, height: number): BuiltBlock | undefined {
  return height <= headOf(node) ? node.chain.at(height) : undefined
}

function logsOf(node: ScriptedNode, filter: unknown): Outcome {
  const { blockHash, fromBlock, toBlock } = filter as { blockHash?: string; fromBlock?: string; toBlock?: string }
  if (blockHash === undefined) return rangeLogsOf(node, Number(fromBlock), Number(toBlock))
  const block = node.chain.byHash(blockHash.slice(2))
  if (block === undefined || block.height > headOf(node)) return failure(-32602, 'invalid blockHash')
  return result(node.keepsHistory ? block.logs : [])
}

/** Section 7.4: what lies above the node's head is silently left out. */
function rangeLogsOf(node: ScriptedNode, from: number, to: number): Outcome {
  if (from > to) return failure(-32602, 'please verify: fromBlock <= toBlock')
  if (to - from > 5000) return failure(-32602, 'exceed max block range: 5000')
  const logs: Wire[] = []
  for (let height = from; height <= Math.min(to, headOf(node)); height++) logs.push(...(seen(node, height)?.logs ?? []))
  if (logs.length > 10_000) return failure(-32005, 'query returned more than 10000 results')
  return result(node.keepsHistory ? logs : [])
}

function receiptOf(node: ScriptedNode, txid: unknown): Outcome {
  const transaction = node.keepsHistory ? minedTransaction(node, txid) : undefined
  return result(transaction?.receipt ?? null)
}

function blockReceiptsOf(node: ScriptedNode, tag: unknown): Outcome {
  const height = heightOf(node, tag)
  if (typeof height !== 'number') return height
  const block = height === 0 || !node.keepsHistory ? undefined : seen(node, height)
  return result(block?.transactions.map(({ receipt }) => receipt) ?? null)
}

function transactionOf(node: ScriptedNode, txid: unknown): Outcome {
  return result(minedTransaction(node, txid)?.wire ?? node.unmined.get(String(txid).slice(2)) ?? null)
}

function minedTransaction(node: ScriptedNode, txid: unknown) {
  const transaction = node.chain.transaction(String(txid).slice(2))
  return transaction !== undefined && Number(transaction.wire.blockNumber) <= headOf(node) ? transaction : undefined
}

function stateOf(node: ScriptedNode, method: string, params: readonly unknown[]): Outcome {
  const [subject, tag] = params
  if (params.length !== 2) return badParameters
  if (tag !== 'latest') return failure(-32602, 'QUANTITY not supported, just support TAG as latest')
  if (method === 'eth_getBalance') {
    if (!isAddress(subject)) return failure(-32602, 'invalid address hash value')
    return result(hex(node.balances.get(subject.slice(-40)) ?? 0n))
  }
  const call = subject as { to?: unknown; data?: unknown }
  const hasOthers = Object.keys(call).some((name) => name !== 'to' && name !== 'data')
  if (hasOthers || typeof call.data !== 'string') return failure(-32700, 'JSON parse error')
  if (!isAddress(call.to)) return failure(-32602, 'invalid address hash value')
  const contract = call.to.slice(-40) as Address // 40 hex digits
  const decimals = node.decimals.get(contract)
  if (decimals === undefined) return failure(-32600, 'Smart contract is not exist.')
  const word = (value: number | bigint) => result(`0x${value.toString(16).padStart(64, '0')}`)
  if (call.data === '0x313ce567') return word(decimals)
  if (call.data.startsWith('0x70a08231')) return word(node.balances.get(`${contract} ${call.data.slice(-40)}`) ?? 0n)
  return result('0x')
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?(?:41)?[0-9a-f]{40}$/i.test(value)

function rawDataOf(node: ScriptedNode, body: unknown): Outcome {
  const { value } = body as { value?: unknown }
  const transaction = minedTransaction(node, `0x${String(value)}`)
  if (transaction === undefined) return result({})
  const { txid, rawData } = transaction
  return result({ txID: txid, ret: [{ contractRet: 'SUCCESS' }], raw_data_hex: bytesToHex(rawData) })
}

/** A change of all answers to one method, for scripts. */
export function changing(method: string, change: (value: unknown, call: IncomingCall) => unknown): Fault {
  return {
    kind: 'answers',
    change: (call, outcome) =>
      call.method === method && 'result' in outcome ? { result: change(outcome.result, call) } : undefined,
  }
}

/** An error to all calls of one method, for scripts. */
export function failing(method: string, code: number, message: string): Fault {
  return { kind: 'answers', change: (call) => (call.method === method ? failure(code, message) : undefined) }
}
