import type { Address } from '../../src/chain/address.ts'
import type { BuiltBlock, BuiltTransaction, Wire } from './block-json.ts'
import type { BuiltChain } from './chain-builder.ts'
import { quantity } from './hex.ts'

/** One received JSON-RPC call, or a request to the HTTP API: its path is the method, its body the only parameter. */
export interface IncomingCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** A node's response to one call: its result or its error. */
export type CallResponse = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** The state that a node's responses are made from. A test may change all of it. */
export interface NodeState {
  chain: BuiltChain
  version: string
  /** Number of blocks of the chain that the node does not have yet. */
  behind: number
  /** Blocks from its newest to its newest finalized one. */
  finalityLag: number
  /** java-tron before 4.8.0 has no tag `finalized` (PROTOCOL.md, Block tags). */
  supportsFinalized: boolean
  /** Without history every receipt is null and all logs are `[]` (PROTOCOL.md, Log queries). */
  hasHistory: boolean
  /** Most logs in one reply. java-tron's own limit is 10,000 (PROTOCOL.md, Log queries). */
  logsMax: number
  /** By address: sun; by `contract address`: token units. */
  readonly balances: Map<string, bigint>
  /** Accounts in Base58Check that exist whatever they hold. */
  readonly activated: Set<string>
  readonly decimals: Map<Address, number>
  /** Transactions that are in no block, by txid. */
  readonly unmined: Map<string, Wire>
}

const success = (value: unknown): CallResponse => ({ result: value })
const failure = (code: number, message: string): CallResponse => ({ error: { code, message } })
const badParameters = failure(-32602, 'method parameters invalid')

/** The response of a healthy node to one call. That of the HTTP API is the result. */
export function answerCall(node: NodeState, { method, params }: IncomingCall): CallResponse {
  switch (method) {
    case '/wallet/getblockbylimitnext':
      return success(blocksOf(node, params[0] as { startNum: number; endNum: number }))
    case '/wallet/getnowblock':
      return success(blockAt(node, headOf(node))?.api ?? {})
    case '/wallet/getaccount':
      return success(accountOf(node, params[0] as { address: string }))
    case '/wallet/gettransactionbyid':
      return success(minedTransaction(node, `0x${(params[0] as { value: string }).value}`)?.api ?? {})
    case 'eth_chainId':
      return success(node.chain.chainId)
    case 'web3_clientVersion':
      return success(node.version)
    case 'eth_getBlockByNumber':
      return params.length === 2 ? blockOf(node, params[0]) : badParameters
    case 'eth_getLogs':
      return params.length === 1 ? logsOf(node, params[0]) : badParameters
    case 'eth_getTransactionReceipt':
      return params.length === 1 ? receiptOf(node, params[0]) : badParameters
    case 'eth_getTransactionByHash':
      return params.length === 1 ? transactionOf(node, params[0]) : badParameters
    case 'eth_getBalance':
      return requireLatest(params) ?? balanceOf(node, params[0])
    case 'eth_call':
      return requireLatest(params) ?? callResultOf(node, params[0])
    default:
      return failure(-32601, 'method not found')
  }
}

const headOf = (node: NodeState) => node.chain.tip().height - node.behind

/** With txids: the service does not ask for full transactions. */
function blockOf(node: NodeState, tag: unknown): CallResponse {
  const height = heightOf(node, tag)
  if (typeof height !== 'number') return height
  const block = blockAt(node, height)
  return success(block?.brief ?? null)
}

/** A node without support for a tag reads it as a number and fails (PROTOCOL.md, Block tags). */
function heightOf(node: NodeState, tag: unknown): number | CallResponse {
  if (typeof tag !== 'string') return failure(-32700, 'JSON parse error')
  if (tag === 'latest') return headOf(node)
  if (tag === 'finalized' && node.supportsFinalized) return headOf(node) - node.finalityLag
  return /^0x[0-9a-f]+$/.test(tag) ? Number(tag) : failure(-32602, 'invalid block number')
}

function blockAt(node: NodeState, height: number): BuiltBlock | undefined {
  return height <= headOf(node) ? node.chain.at(height) : undefined
}

function logsOf(node: NodeState, filter: unknown): CallResponse {
  const { blockHash = '' } = filter as { readonly blockHash?: string }
  const block = node.chain.byHash(blockHash.slice(2))
  if (block === undefined || block.height > headOf(node)) return failure(-32602, 'invalid blockHash')
  if (!node.hasHistory) return success([])
  const isTooLong = block.logs.length > node.logsMax
  return isTooLong ? failure(-32005, 'query returned more than 10000 results') : success(block.logs)
}

function receiptOf(node: NodeState, txid: unknown): CallResponse {
  const transaction = node.hasHistory ? minedTransaction(node, txid) : undefined
  return success(transaction?.receipt ?? null)
}

function transactionOf(node: NodeState, txid: unknown): CallResponse {
  return success(minedTransaction(node, txid)?.wire ?? node.unmined.get(String(txid).slice(2)) ?? null)
}

function minedTransaction(node: NodeState, txid: unknown): BuiltTransaction | undefined {
  const transaction = node.chain.transaction(String(txid).slice(2))
  return transaction !== undefined && Number(transaction.wire.blockNumber) <= headOf(node) ? transaction : undefined
}

/** The error for a call of a state method that is not about `latest`, or null (PROTOCOL.md, Balances). */
function requireLatest(params: readonly unknown[]): CallResponse | null {
  if (params.length !== 2) return badParameters
  return params[1] === 'latest' ? null : failure(-32602, 'QUANTITY not supported, just support TAG as latest')
}

function balanceOf(node: NodeState, address: unknown): CallResponse {
  if (!isAddress(address)) return failure(-32602, 'invalid address hash value')
  return success(quantity(node.balances.get(address.slice(-40)) ?? 0n))
}

function callResultOf(node: NodeState, call: unknown): CallResponse {
  const { to, data, ...others } = call as { to?: unknown; data?: unknown }
  if (Object.keys(others).length > 0 || typeof data !== 'string') return failure(-32700, 'JSON parse error')
  if (!isAddress(to)) return failure(-32602, 'invalid address hash value')
  const contract = to.slice(-40) as Address // 40 hex digits
  const decimals = node.decimals.get(contract)
  if (decimals === undefined) return failure(-32600, 'Smart contract is not exist.')
  const word = (value: number | bigint) => success(`0x${value.toString(16).padStart(64, '0')}`)
  if (data === '0x313ce567') return word(decimals)
  if (data.startsWith('0x70a08231')) return word(node.balances.get(`${contract} ${data.slice(-40)}`) ?? 0n)
  return success('0x')
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?(?:41)?[0-9a-f]{40}$/i.test(value)

/** At most 100 blocks, the end excluded; none for a longer or an empty range (PROTOCOL.md, HTTP API). */
function blocksOf(node: NodeState, { startNum, endNum }: { startNum: number; endNum: number }): Wire {
  const count = endNum - startNum > 100 ? 0 : Math.max(endNum - startNum, 0)
  const block = Array.from({ length: count }, (_, i) => blockAt(node, startNum + i)?.api).filter(
    (one) => one !== undefined,
  )
  return block.length === 0 ? {} : { block }
}

function accountOf(node: NodeState, { address }: { address: string }): Wire {
  return node.activated.has(address) ? { address } : {}
}
