import { type Address, addressFromHex, parseAddress } from '../../src/chain/address.ts'
import type { Block, ChainView } from './chain.ts'
import { chainId } from './chain.ts'
import type { NodePlan } from './scenario.ts'

/** A JSON object as a node writes it. */
export type Wire = Readonly<Record<string, unknown>>

/** One received JSON-RPC call. A request to the HTTP API is a call of `api` with its body. */
export interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** A node's reply to one call: its result or its error. */
export type CallReply = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** The state of a node that it replies from. */
export interface NodeView {
  readonly chain: ChainView
  /** The newest block that it has, and the newest one that it calls final. */
  readonly head: number
  readonly finalized: number
  readonly plan: NodePlan
  /** Without history every receipt is null and all logs are `[]` (PROTOCOL.md, Log queries). */
  readonly hasHistory: boolean
  /** Most logs in one reply. */
  readonly logsMax: number
  /** In chain units. `contract` null is TRX. */
  readonly balanceOf: (address: Address, contract: Address | null) => bigint
  readonly decimals: ReadonlyMap<Address, number>
  /** Transactions that are in no block. */
  readonly unmined: ReadonlySet<string>
}

const error = (code: number, message: string): CallReply => ({ error: { code, message } })
const quantity = (value: number | bigint) => `0x${value.toString(16)}`
const word = (value: number | bigint): CallReply => ({ result: `0x${value.toString(16).padStart(64, '0')}` })

/** The reply of java-tron to one call (PROTOCOL.md). */
export function answerCall(view: NodeView, { method, params }: Call): CallReply {
  const [first, second] = params
  switch (method) {
    case 'api':
      return { result: answerApi(view, first as Wire) } // our own JSON
    case 'eth_chainId':
      return { result: chainId }
    case 'eth_getBlockByNumber':
      return { result: blockOf(view, String(first)) }
    case 'eth_getLogs':
      return logsOf(view, String((first as Wire).blockHash)) // our own JSON
    case 'eth_getTransactionReceipt':
      return { result: view.hasHistory ? receiptOf(view, String(first)) : null }
    case 'eth_getTransactionByHash':
      return { result: locationOf(view, String(first)) }
    case 'eth_getBalance':
      return second === 'latest' ? { result: quantity(view.balanceOf(toAddress(first), null)) } : error(-32602, 'tag')
    case 'eth_call':
      return callOf(view, first as { to: string; data: string }) // our own JSON
    default:
      return error(-32601, 'method not found')
  }
}

/** The address and the token of a call that asks for a balance, or null. */
export function readBalanceCall({ method, params }: Call): { address: Address; contract: Address | null } | null {
  if (method === 'eth_getBalance') return { address: toAddress(params[0]), contract: null }
  if (method !== 'eth_call') return null
  const { to, data } = params[0] as { readonly to: string; readonly data: string } // our own JSON
  return data.startsWith('0x70a08231') ? { address: toAddress(data), contract: toAddress(to) } : null
}

function toAddress(text: unknown): Address {
  const address = addressFromHex(String(text).slice(-40))
  if (address === null) throw new Error(`no address: ${text}`)
  return address
}

function callOf({ decimals, balanceOf }: NodeView, { to, data }: { to: string; data: string }): CallReply {
  const contract = toAddress(to)
  const own = decimals.get(contract)
  if (own === undefined) return error(-32600, 'Smart contract is not exist.')
  return data === '0x313ce567' ? word(own) : word(balanceOf(toAddress(data), contract))
}

function blockAt({ chain, head }: NodeView, height: number): Block | undefined {
  return height <= head ? chain.at(height) : undefined
}

function minedIn({ chain, head }: NodeView, hex: string): Block | undefined {
  const block = chain.blockOf(hex.slice(2))
  return block !== undefined && block.height <= head ? block : undefined
}

function blockOf(view: NodeView, tag: string): Wire | null {
  const height = tag === 'latest' ? view.head : tag === 'finalized' ? view.finalized : Number(tag)
  const block = blockAt(view, height)
  return block === undefined ? null : render(block, view.plan).brief
}

function logsOf(view: NodeView, blockHash: string): CallReply {
  const block = view.chain.byHash(blockHash.slice(2))
  if (block === undefined || block.height > view.head) return error(-32602, 'invalid blockHash')
  if (!view.hasHistory) return { result: [] }
  const { logs } = render(block, view.plan)
  return logs.length > view.logsMax ? error(-32005, 'query returned more than 10000 results') : { result: logs }
}

function receiptOf(view: NodeView, hex: string): Wire | null {
  const block = minedIn(view, hex)
  return block === undefined ? null : (render(block, view.plan).receipts.get(hex) ?? null)
}

function locationOf(view: NodeView, hex: string): Wire | null {
  const block = minedIn(view, hex)
  const at = block?.transactions.findIndex(({ txid }) => hex === `0x${txid}`) ?? -1
  if (block !== undefined && at >= 0) return { hash: hex, ...placeOf(block, at) }
  const unmined = { hash: hex, blockHash: '0x', blockNumber: '0x', transactionIndex: '0x' }
  return view.unmined.has(hex.slice(2)) ? unmined : null
}

function answerApi(view: NodeView, { startNum, endNum, address }: Wire): Wire {
  if (typeof address === 'string') {
    const account = parseAddress(address)
    const held = account.ok ? view.balanceOf(account.value, null) : 0n
    return held > 0n ? { address, balance: Number(held) } : {}
  }
  const from = Number(startNum)
  const heights = Array.from({ length: Math.min(Number(endNum) - from, 100) }, (_, i) => from + i)
  const block = heights.flatMap((height) => blockAt(view, height) ?? []).map((one) => render(one, view.plan).api)
  return block.length === 0 ? {} : { block }
}

/** A block in all forms that nodes give. */
interface Rendered {
  readonly brief: Wire
  readonly api: Wire
  readonly logs: readonly Wire[]
  readonly receipts: ReadonlyMap<string, Wire>
}

/** Blocks are rendered once for all nodes of the same kind: they are most of all text. */
const rendered = new Map<string, WeakMap<Block, Rendered>>()

function render(block: Block, plan: NodePlan): Rendered {
  const kind = `${plan.keepsFailedLogs} ${plan.numbersByTransaction}`
  const ofKind = rendered.get(kind) ?? new WeakMap<Block, Rendered>()
  rendered.set(kind, ofKind)
  const existing = ofKind.get(block) ?? renderAnew(block, plan)
  ofKind.set(block, existing)
  return existing
}

const placeOf = ({ hash, height }: Block, at: number) => ({
  blockHash: `0x${hash}`,
  blockNumber: quantity(height),
  transactionIndex: quantity(at),
})

function renderAnew(block: Block, { keepsFailedLogs, numbersByTransaction }: NodePlan): Rendered {
  const { height, hash, parentHash, seconds, transactions } = block
  const logs: Wire[] = []
  const receipts = new Map<string, Wire>()
  for (const [at, { txid, failed, logs: own }] of transactions.entries()) {
    const place = { ...placeOf(block, at), transactionHash: `0x${txid}` }
    const first = numbersByTransaction ? 0 : logs.length
    const shown = failed && !keepsFailedLogs ? [] : own
    const written = shown.map(({ contract, topics, data }, i) => {
      return { address: `0x${contract}`, ...place, data, logIndex: quantity(first + i), removed: false, topics }
    })
    logs.push(...written)
    receipts.set(`0x${txid}`, { ...place, status: failed ? '0x0' : '0x1', logs: written })
  }
  const brief = {
    number: quantity(height),
    hash: `0x${hash}`,
    parentHash: `0x${parentHash}`,
    timestamp: quantity(seconds),
    transactions: transactions.map(({ txid }) => `0x${txid}`),
  }
  const listed = transactions.map(({ txid, rawData, failed }) => ({
    ret: [{ contractRet: failed ? 'REVERT' : 'SUCCESS' }],
    txID: txid,
    raw_data_hex: Buffer.from(rawData).toString('hex'),
  }))
  const header = { raw_data: { number: height, parentHash, timestamp: seconds * 1000 } }
  const list = listed.length === 0 ? {} : { transactions: listed } // left out of an empty block
  return { brief, api: { blockID: hash, block_header: header, ...list }, logs, receipts }
}
