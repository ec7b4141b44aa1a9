import { type Address, addressFromHex } from '../../src/worker/chain/address.ts'
import { infoOf, placeOf, type RenderedBlock, type Wire } from './block-json.ts'
import { quantity } from './hex.ts'

/**
 * One JSON-RPC call. A request to the HTTP API becomes one, too: its path is the method, and its
 * body the only parameter.
 */
export interface IncomingCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

export type CallResponse = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** The state from which a node answers. */
export interface NodeView {
  readonly chainId: string
  /** The height of the node's newest block. */
  readonly head: number
  /**
   * The height of the newest final block. Null: java-tron before 4.8.0, which does not know the tag
   * `finalized` (PROTOCOL.md, Block tags).
   */
  readonly finalized: number | null
  /**
   * A block of the node's chain, which may be above its head. Hashes and txids are 64 hex digits.
   */
  blockAt(height: number): RenderedBlock | undefined
  blockByHash(hash: string): RenderedBlock | undefined
  blockOf(txid: string): RenderedBlock | undefined
  /**
   * Without history every receipt is null and each list of logs is empty (PROTOCOL.md, Log
   * queries).
   */
  readonly hasHistory: boolean
  /** Whether the node stores internal transactions (java-tron's setting `vm.saveInternalTx`). */
  readonly keepsInternals: boolean
  /**
   * The most logs that the node returns in one reply; java-tron's default is 10,000 (PROTOCOL.md,
   * Log queries).
   */
  readonly logsMax: number
  /** A balance in smallest units, of TRX if `contract` is null. */
  balanceOf(address: Address, contract: Address | null): bigint
  /** The token's `decimals()`, or undefined if there is no such contract. */
  decimalsOf(contract: Address): number | undefined
  /**
   * The reply of `getaccount` for an address in Base58Check: `{}` if the account does not exist.
   */
  accountOf(address: string): Wire
  /** The reply to a signed transaction that is sent to the node. */
  broadcast(transaction: string): Wire
  /** Whether the node knows the transaction though no block contains it. */
  isUnmined(txid: string): boolean
}

const success = (value: unknown): CallResponse => ({ result: value })
const failure = (code: number, message: string): CallResponse => ({ error: { code, message } })
const badParameters = failure(-32602, 'method parameters invalid')

/** What a healthy node answers to one call. For the HTTP API `result` is the whole body. */
export function answerCall(node: NodeView, { method, params }: IncomingCall): CallResponse {
  switch (method) {
    case '/wallet/getblockbylimitnext':
      return success(blocksOf(node, params[0] as { startNum: number; endNum: number }))
    case '/wallet/broadcasthex':
      return success(node.broadcast((params[0] as { transaction: string }).transaction))
    case '/wallet/gettransactioninfobyid':
      return success(transactionInfoOf(node, (params[0] as { value: string }).value))
    case '/wallet/getaccountresource':
      return success({}) // no account of these nodes has a stake
    case '/wallet/getaccount':
      return success(node.accountOf((params[0] as { address: string }).address))
    case 'eth_chainId':
      return success(node.chainId)
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

/** Whose balance a call asks for, and in which token; null if it is another call. */
export function readBalanceCall({ method, params }: IncomingCall): BalanceQuestion | null {
  if (method === 'eth_getBalance') return { address: toAddress(params[0]), contract: null }
  if (method !== 'eth_call') return null
  const { to, data } = params[0] as { readonly to: string; readonly data: string } // safe: our own request
  return data.startsWith('0x70a08231') ? { address: toAddress(data), contract: toAddress(to) } : null
}

/** `contract` null is TRX. */
export interface BalanceQuestion {
  readonly address: Address
  readonly contract: Address | null
}

/** The address in the last 20 bytes of a text of hex digits. Throws if it has fewer. */
function toAddress(text: unknown): Address {
  const address = addressFromHex(String(text).slice(-40))
  if (address === null) throw new Error(`no address: ${text}`)
  return address
}

/**
 * The block with txids, whatever the call asks for: the service does not ask for whole
 * transactions.
 */
function blockOf(node: NodeView, tag: unknown): CallResponse {
  const height = heightOf(node, tag)
  return typeof height === 'number' ? success(blockAt(node, height)?.brief() ?? null) : height
}

/**
 * The height that a block tag means. A node that does not know a tag reads it as a number and fails
 * (PROTOCOL.md, Block tags).
 */
function heightOf({ head, finalized }: NodeView, tag: unknown): number | CallResponse {
  if (typeof tag !== 'string') return failure(-32700, 'JSON parse error')
  if (tag === 'latest') return head
  if (tag === 'finalized' && finalized !== null) return finalized
  return /^0x[0-9a-f]+$/.test(tag) ? Number(tag) : failure(-32602, 'invalid block number')
}

function blockAt(node: NodeView, height: number): RenderedBlock | undefined {
  return height <= node.head ? node.blockAt(height) : undefined
}

function logsOf(node: NodeView, filter: unknown): CallResponse {
  const { blockHash = '' } = filter as { readonly blockHash?: string }
  const found = node.blockByHash(blockHash.slice(2))
  if (found === undefined || found.block.height > node.head) return failure(-32602, 'invalid blockHash')
  if (!node.hasHistory) return success([])
  const isTooLong = found.logs().length > node.logsMax
  return isTooLong ? failure(-32005, 'query returned more than 10000 results') : success(found.logs())
}

function receiptOf(node: NodeView, hash: unknown): CallResponse {
  const found = node.hasHistory ? minedIn(node, hash) : null
  return success(found === null ? null : (found.rendered.receipts()[found.index] ?? null))
}

function transactionOf(node: NodeView, hash: unknown): CallResponse {
  const found = minedIn(node, hash)
  if (found !== null) return success({ hash, ...placeOf(found.rendered.block, found.index) })
  const unmined = { hash, blockHash: '0x', blockNumber: '0x', transactionIndex: '0x' }
  return success(node.isUnmined(String(hash).slice(2)) ? unmined : null)
}

function transactionInfoOf(node: NodeView, txid: string): Wire {
  const found = node.hasHistory ? minedIn(node, `0x${txid}`) : null
  return found === null ? {} : infoOf(found.rendered.block, found.index, node.keepsInternals)
}

function minedIn(node: NodeView, hash: unknown): { readonly rendered: RenderedBlock; readonly index: number } | null {
  const txid = String(hash).slice(2)
  const rendered = node.blockOf(txid)
  if (rendered === undefined || rendered.block.height > node.head) return null
  const index = rendered.block.transactions.findIndex((transaction) => transaction.txid === txid)
  return index < 0 ? null : { rendered, index }
}

/**
 * The node's error if a call asks for another state than that of `latest`; else null (PROTOCOL.md,
 * Balances).
 */
function requireLatest(params: readonly unknown[]): CallResponse | null {
  if (params.length !== 2) return badParameters
  return params[1] === 'latest' ? null : failure(-32602, 'QUANTITY not supported, just support TAG as latest')
}

function balanceOf(node: NodeView, address: unknown): CallResponse {
  if (!isAddress(address)) return failure(-32602, 'invalid address hash value')
  return success(quantity(node.balanceOf(toAddress(address), null)))
}

function callResultOf(node: NodeView, call: unknown): CallResponse {
  const { to, data, ...others } = call as { to?: unknown; data?: unknown }
  if (Object.keys(others).length > 0 || typeof data !== 'string') return failure(-32700, 'JSON parse error')
  if (!isAddress(to)) return failure(-32602, 'invalid address hash value')
  const contract = toAddress(to)
  const decimals = node.decimalsOf(contract)
  if (decimals === undefined) return failure(-32600, 'Smart contract is not exist.')
  const word = (value: number | bigint) => success(`0x${value.toString(16).padStart(64, '0')}`)
  if (data === '0x313ce567') return word(decimals)
  if (data.startsWith('0x70a08231')) return word(node.balanceOf(toAddress(data), contract))
  return success('0x')
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?(?:41)?[0-9a-f]{40}$/i.test(value)

/**
 * The blocks from `startNum` up to but not including `endNum`; none if there would be more than 100
 * (PROTOCOL.md, HTTP API).
 */
function blocksOf(node: NodeView, { startNum, endNum }: { startNum: number; endNum: number }): Wire {
  const count = endNum - startNum > 100 ? 0 : Math.max(endNum - startNum, 0)
  const block = Array.from({ length: count }, (_, i) => blockAt(node, startNum + i)?.api()).filter(
    (one) => one !== undefined,
  )
  return block.length === 0 ? {} : { block }
}
