import { isObject } from '../../src/worker/tron/parse/fields.ts'
import ipLimit from '../recordings/documented/rate-limit-of-trongrid-ip.json' with { type: 'json' }
import keyLimit from '../recordings/documented/rate-limit-of-trongrid-key.json' with { type: 'json' }
import { recording } from '../recordings/recordings.ts'
import type { Wire } from '../support/block-json.ts'
import { changing, type Fault, failing, type IncomingRequest } from '../support/scripted-node.ts'
import type { Harness } from './harness.ts'

/**
 * A section of PROTOCOL.md, what a node does wrong, and the fault with which a scripted node does
 * it.
 */
export type FaultRow = readonly [section: string, title: string, fault: RequestFault]
/** A fault that is the same for each request, or that depends on the chain and the request. */
export type RequestFault = Fault | ((h: Harness, incoming: IncomingRequest) => Fault | null)
type Item = Record<string, unknown>

/** A node that changes each block in replies of the HTTP API. */
export const blocks = (change: (block: Item) => unknown): Fault =>
  changing('/wallet/getblockbylimitnext', (value) => {
    const { block = [] } = structuredClone(value) as { block?: Item[] }
    return { block: block.map(change) }
  })
/** A node that changes members in the header's `raw_data` of each block. */
const headers = (patch: Item): Fault =>
  blocks(({ block_header, ...block }) => {
    const header = block_header as { raw_data: Item }
    return { ...block, block_header: { ...header, raw_data: { ...header.raw_data, ...patch } } }
  })
/** A node that changes the list of transactions in each block. */
export const transactions = (change: (list: Item[]) => unknown): Fault =>
  blocks((block) => ({ ...block, transactions: change(block.transactions as Item[]) }))
const everyTransaction = (patch: Item) => transactions((list) => list.map((one) => ({ ...one, ...patch })))
/** A node that changes the list of logs of a block. */
export const logs = (change: (list: Item[]) => unknown): Fault =>
  changing('eth_getLogs', (value) => change(structuredClone(value) as Item[]))
/** A node that changes each receipt. */
export const receipts = (change: (receipt: Item) => unknown): Fault =>
  changing('eth_getTransactionReceipt', (value) => change(structuredClone(value) as Item))
/** A node that changes the same members in every log. */
export const everyLog = (patch: Wire): Fault => logs((list) => list.map((log) => ({ ...log, ...patch })))

const replies = (change: (list: readonly Wire[]) => unknown): Fault => ({ kind: 'changed-responses', change })
const everyReply = (change: (reply: Wire) => unknown) => replies((list) => list.map(change))
const logsOf = (value: unknown, patch: Wire) => (value as Wire[]).map((log) => ({ ...log, ...patch }))
const status = (code: number, body = ''): Fault => ({ kind: 'status', status: code, body })
const text = (body: string): Fault => ({ kind: 'body', body })
const json = (value: unknown): Fault => text(JSON.stringify(value))
const anError = { jsonrpc: '2.0', error: { code: -32700, message: 'JSON parse error' } }
/**
 * A node that replaces the last replies of a batch by errors without a usable id: null or the text
 * "null".
 */
const withoutIds = (count: number) =>
  replies((list) => [
    ...list.slice(0, -count),
    ...Array.from({ length: count }, (_, i) => ({ ...anError, id: i === 0 ? null : 'null' })),
  ])
const otherHash = `0x0000000000000001${'cd'.repeat(24)}`

/** A node whose response to every request is the one at index `i` of a recording. */
function recorded(name: string, i: number): Fault {
  const call = recording(name)[i]
  return status(call?.status ?? 200, call?.responseText ?? JSON.stringify(call?.response))
}

/**
 * A node that answers every call of a method with the error of the call at index `i` of a
 * recording.
 */
function recordedError(method: string, name: string, i: number): Fault {
  const response = recording(name)[i]?.response
  if (!isObject(response) || !isObject(response.error)) throw new Error(`no error: ${name}`)
  return failing(method, Number(response.error.code), String(response.error.message))
}

/** Receipts that must count as no answer (PROTOCOL.md, Receipts). */
export const receiptFaults: readonly FaultRow[] = [
  ['Receipts', 'null, which does not mean failed', receipts(() => null)],
  ['Receipts', 'the receipt of another transaction', receipts((r) => ({ ...r, transactionHash: otherHash }))],
  ['Receipts', 'a receipt without its block', receipts(({ blockHash: _, ...r }) => r)],
  ['Receipts', 'a block hash of another height', receipts((r) => ({ ...r, blockNumber: '0x7' }))],
  ['Receipts', '"0x" as the height', receipts((r) => ({ ...r, blockNumber: '0x' }))],
  ['Receipts', 'a receipt without logs', receipts(({ logs: _, ...r }) => r)],
  ['Receipts', 'a log of another block', receipts((r) => ({ ...r, logs: logsOf(r.logs, { blockHash: otherHash }) }))],
  [
    'Receipts',
    'a log of another transaction',
    receipts((r) => ({ ...r, logs: logsOf(r.logs, { transactionHash: otherHash }) })),
  ],
  ['Receipts', 'a removed log', receipts((r) => ({ ...r, logs: logsOf(r.logs, { removed: true }) }))],
  ['Receipts', 'an error', recordedError('eth_getTransactionReceipt', 'errors/parameters-refused', 1)],
  ['Receipts', 'no such method', recordedError('eth_getTransactionReceipt', 'errors/methods-refused', 0)],
  ['Receipts', 'no status', receipts(({ status: _, ...r }) => r)],
  ['Receipts', 'a status of 0x2', receipts((r) => ({ ...r, status: '0x2' }))],
  ['Receipts', 'a number as the status', receipts((r) => ({ ...r, status: 1 }))],
]

/** Logs that must count as no answer (PROTOCOL.md, Log queries and Logs). */
export const logFaults: readonly FaultRow[] = [
  ['Log queries', 'an unknown block hash', recordedError('eth_getLogs', 'blocks/block-above-the-head', 2)],
  ['Log queries', 'a refused topic', recordedError('eth_getLogs', 'errors/log-queries-refused', 3)],
  ['Log queries', 'a number format error', recordedError('eth_getLogs', 'errors/tags-refused', 9)],
  ['Log queries', 'a fault of the log index', failing('eth_getLogs', -32000, 'section bloom is lost')],
  ['Log queries', 'null in place of logs', logs(() => null)],
  ['Logs', 'logs in another order', logs((list) => list.toReversed())],
  ['Logs', 'a duplicate log', logs((list) => [...list, ...list.slice(-1)])],
  ['Logs', 'a removed log', everyLog({ removed: true })],
  ['Logs', 'a log of another block', everyLog({ blockHash: otherHash })],
  ['Logs', 'a log of another height', everyLog({ blockNumber: '0x1' })],
  ['Logs', 'a log of a transaction of another block', everyLog({ transactionHash: otherHash })],
  ['Logs', 'a number as logIndex', logs((list) => list.map((log, i) => ({ ...log, logIndex: i })))],
  ['Logs', 'no logIndex', logs((list) => list.map(({ logIndex: _, ...log }) => log))],
  ['Logs', 'the transaction index of another transaction', everyLog({ transactionIndex: '0x0' })],
  ['Logs', 'five topics', everyLog({ topics: Array(5).fill(otherHash) })],
  ['Logs', 'a topic of 31 bytes', everyLog({ topics: [`0x${'ab'.repeat(31)}`] })],
  ['Logs', 'data with half a byte', everyLog({ data: '0x123' })],
  ['Logs', 'no contract address', everyLog({ address: null })],
]

/** Responses that must count as no answer to any query (PROTOCOL.md, JSON-RPC transport). */
export const responseFaults: readonly FaultRow[] = [
  ['Batches and ids', 'one reply too few', replies((list) => list.slice(1))],
  ['Batches and ids', 'one reply too many', replies((list) => [...list, ...list.slice(-1)])],
  ['Batches and ids', 'one reply twice and one missing', replies((list) => [...list.slice(0, -1), list[0]])],
  ['Batches and ids', 'one reply without its array', replies((list) => list[0])],
  ['Batches and ids', 'the reply to an empty batch', recorded('transport/batches', 5)],
  ['Batches and ids', 'the reply to calls without ids', recorded('transport/batches', 4)],
  ['Batches and ids', 'two errors without an id', withoutIds(2)],
  ['Batches and ids', 'an error without an id and all replies', replies((list) => [...list, { ...anError, id: null }])],
  ['Batches and ids', 'ids as text', everyReply((one) => ({ ...one, id: String(one.id) }))],
  ['Batches and ids', 'ids of another request', everyReply((one) => ({ ...one, id: Number(one.id) + 1 }))],
  ['Batches and ids', 'a result with the id "null"', everyReply((one) => ({ ...one, id: 'null' }))],
  ['JSON-RPC transport', 'an empty body', recorded('transport/replies-that-are-not-json-rpc', 1)],
  ['JSON-RPC transport', 'blanks', text(' \n')],
  ['JSON-RPC transport', 'another path', recorded('transport/replies-that-are-not-json-rpc', 3)],
  ['JSON-RPC transport', 'no member jsonrpc', everyReply(({ jsonrpc: _, ...one }) => one)],
  ['JSON-RPC transport', 'JSON-RPC 1.0', everyReply((one) => ({ ...one, jsonrpc: '1.0' }))],
  ['JSON-RPC transport', 'result and error', everyReply((one) => ({ ...one, error: { code: 1, message: '' } }))],
  ['JSON-RPC transport', 'neither result nor error', everyReply(({ result: _, ...one }) => one)],
  ['JSON-RPC transport', 'HTML with HTTP 200', text('<!doctype html><title>502 Bad Gateway</title>')],
  ['JSON-RPC transport', 'truncated JSON', { kind: 'truncated-json' }],
  ['JSON-RPC transport', 'a broken connection', { kind: 'broken-connection' }],
  ['JSON-RPC transport', 'a redirect', { kind: 'redirect' }],
  ['Errors of JSON-RPC', 'no code', everyReply(({ result: _, ...one }) => ({ ...one, error: { message: 'x' } }))],
  ['Errors of JSON-RPC', '-32700 with the id "null" for the batch', recorded('transport/ids', 6)],
  ['Errors of JSON-RPC', '-32600 with the id "null" for the batch', recorded('transport/ids', 7)],
  [
    'Errors of JSON-RPC',
    '-32603 for the batch',
    json({ jsonrpc: '2.0', id: 'null', error: { code: -32603, message: 'Internal error' } }),
  ],
  ['Errors of JSON-RPC', '-32001 for the chain id', recordedError('eth_chainId', 'errors/methods-refused', 4)],
  ['Rate limits and gateways', 'the limiter of a node', recorded('transport/replies-that-are-not-json-rpc', 0)],
  ['Rate limits and gateways', 'HTTP 403 above the limit of a key', status(403, JSON.stringify(keyLimit))],
  ['Rate limits and gateways', 'HTTP 200 above the limit of an IP address', json(ipLimit)],
  ['Rate limits and gateways', 'HTTP 429', status(429, 'Too Many Requests')],
  ['Rate limits and gateways', 'HTTP 503', status(503, '<html>')],
  ['Rate limits and gateways', 'HTTP 400 of a gateway', status(400, '{"message":"unsupported"}')],
  ['Rate limits and gateways', 'HTTP 401 of a gateway', status(401, '{"message":"bad key"}')],
  ['Rate limits and gateways', 'HTTP 404 of a gateway', status(404)],
  ['Rate limits and gateways', 'HTTP 413 for every size', status(413)],
  ['Rate limits and gateways', 'HTTP 500', status(500)],
  ['Rate limits and gateways', 'HTTP 502', status(502, '<html>')],
  ['Chain identity', 'the chain id of another network', changing('eth_chainId', () => '0xcd8690dc')],
  ['Chain identity', 'null as the chain id', changing('eth_chainId', () => null)],
  ['Chain identity', '"0x" as the chain id', changing('eth_chainId', () => '0x')],
  ['Chain identity', 'a number as the chain id', changing('eth_chainId', () => 728126428)],
]

/** Errors to `eth_getLogs` that must count as no answer (PROTOCOL.md, Errors of JSON-RPC). */
export const errorFaults: readonly FaultRow[] = [
  ['Errors of JSON-RPC', '-32600', recordedError('eth_getLogs', 'transport/ids', 7)],
  ['Errors of JSON-RPC', '-32601', recordedError('eth_getLogs', 'errors/methods-refused', 2)],
  ['Errors of JSON-RPC', '-32602', recordedError('eth_getLogs', 'errors/parameters-refused', 0)],
  ['Errors of JSON-RPC', '-32603', failing('eth_getLogs', -32603, 'Internal error')],
  ['Errors of JSON-RPC', '-32000', recordedError('eth_getLogs', 'errors/parameters-refused', 5)],
]

/** Blocks that must count as no answer (PROTOCOL.md, Blocks and HTTP API). */
export const blockFaults: readonly FaultRow[] = [
  ['HTTP API', 'no blocks', changing('/wallet/getblockbylimitnext', () => ({}))],
  ['HTTP API', 'something else than blocks', changing('/wallet/getblockbylimitnext', () => ({ block: 'none' }))],
  [
    'HTTP API',
    'one block in place of a list',
    changing('/wallet/getblockbylimitnext', (v) => (v as { block: Item[] }).block[0]),
  ],
  [
    'HTTP API',
    'more blocks than were asked for',
    changing('/wallet/getblockbylimitnext', (v) => {
      const { block } = v as { block: Item[] }
      return { block: [...block, ...block] }
    }),
  ],
  ['Blocks', 'null for a block', blocks(() => null)],
  ['Blocks', 'another height', headers({ number: 5 })],
  ['Blocks', 'a height as text', headers({ number: '70000000' })],
  ['Blocks', 'a hash of another height', blocks((b) => ({ ...b, blockID: otherHash.slice(2) }))],
  ['Blocks', 'a hash with 0x', blocks((b) => ({ ...b, blockID: `0x${b.blockID}` }))],
  ['Blocks', 'a parent hash of another height', headers({ parentHash: otherHash.slice(2) })],
  ['Blocks', 'no time', headers({ timestamp: null })],
  ['Blocks', 'no header', blocks(({ block_header: _, ...b }) => b)],
  ['Blocks', 'txids in place of transactions', transactions((list) => list.map(({ txID }) => txID))],
  ['Blocks', 'an object in place of transactions', transactions((list) => ({ ...list }))],
  ['Transactions', 'a duplicate transaction', transactions((list) => [...list, list[0]])],
  ['Transactions', 'no bytes', transactions((list) => list.map(({ raw_data_hex: _, ...one }) => one))],
  ['Transactions', 'half a byte', everyTransaction({ raw_data_hex: '0' })],
  ['Transactions', 'bytes that are no hex', everyTransaction({ raw_data_hex: 'zz' })],
  [
    'Transactions',
    'the bytes of another transaction',
    transactions((list) => list.map((one) => ({ ...one, raw_data_hex: list[1]?.raw_data_hex })).slice(0, 1)),
  ],
  ['Transactions', 'no result', everyTransaction({ ret: [] })],
  ['Transactions', 'a number as the result', everyTransaction({ ret: [{ contractRet: 1 }] })],
  ['Transactions', 'a txid of 31 bytes', everyTransaction({ txID: 'ab'.repeat(31) })],
]
