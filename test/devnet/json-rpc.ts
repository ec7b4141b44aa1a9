/**
 * The JSON-RPC of the local node: the methods that the service and the tools use, with java-tron's
 * error messages (PROTOCOL.md, Errors of JSON-RPC).
 */
import { quantity, strip0x } from '../support/hex.ts'
import { devnetChainId } from './anvil.ts'
import { renderMined } from './blocks.ts'
import { EvmError } from './evm.ts'
import type { DevnetNode, FoundTransaction, Heads } from './node.ts'

/** A method: its exact number of parameters, and its result. */
type Method = readonly [parameters: number, run: (...params: readonly unknown[]) => Promise<unknown>]
type Methods = Readonly<Record<string, Method>>

/**
 * An error response. `data` is `"{}"` if a method failed, and null if the request itself was wrong
 * (as in java-tron).
 */
class RpcError extends Error {
  readonly code: number
  readonly data: string | null

  constructor(code: number, message: string, data: string | null = '{}') {
    super(message)
    this.code = code
    this.data = data
  }
}

const batchMax = 100
/** A query with more logs than this is answered with an error. */
const logsMax = 10_000
const invalid = (message: string) => new RpcError(-32602, message)
/** The error for a wrong number of parameters, or for a parameter of a wrong JSON type. */
const invalidCall = () => new RpcError(-32602, 'method parameters invalid', null)

/**
 * Makes the function that answers the body of a request. RPC errors are responses. The function
 * throws only at a fault of this server.
 */
export function createJsonRpc(node: DevnetNode): (body: string) => Promise<string> {
  const methods = { ...blockMethods(node), ...stateMethods(node) }
  return async (body) => {
    const request: unknown = JSON.parse(body)
    if (!Array.isArray(request)) return handleOne(request, methods)
    if (request.length > batchMax) {
      const message = `Batch size ${request.length} exceeds the limit of ${batchMax}`
      return failure('null', new RpcError(-32005, message, null)) // in this error, java-tron's `id` is the text 'null'
    }
    const responses: string[] = []
    // one call after the other, as java-tron does
    for (const one of request) responses.push(await handleOne(one, methods))
    return `[${responses.join(',')}]`
  }
}

async function handleOne(request: unknown, methods: Methods): Promise<string> {
  // safe: the members are checked below
  const { id = null, method: name = '', params = [] } = Object(request) as { [member: string]: unknown }
  try {
    const method = methods[String(name)]
    if (method === undefined) throw new RpcError(-32601, 'method not found', null)
    const [parameters, run] = method
    if (!Array.isArray(params) || params.length !== parameters) throw invalidCall()
    return JSON.stringify({ jsonrpc: '2.0', id, result: await run(...params) })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return failure(id, error)
  }
}

function failure(id: unknown, { code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === null ? {} : { data }) } })
}

function blockMethods(node: DevnetNode): Methods {
  const find = (txid: unknown) => node.findTransaction(parseHash(txid))
  return {
    eth_chainId: [0, async () => quantity(devnetChainId)],
    eth_getBlockByNumber: [
      2,
      async (at, full) => {
        // with `true` a real node returns whole transactions, which the service never asks for
        if (full !== false) throw invalidCall()
        const block = await node.blockAt(parseHeight(at, await node.heads()))
        return block === null ? null : renderMined(block).brief()
      },
    ],
    eth_getTransactionByHash: [1, async (txid) => toTransactionObject(await find(txid))],
    eth_getTransactionReceipt: [
      1,
      async (txid) => {
        const found = await find(txid)
        return found?.kind === 'mined' ? (renderMined(found.block).receipts()[found.transaction.index] ?? null) : null
      },
    ],
    eth_getLogs: [1, (filter) => getLogs(node, filter)],
  }
}

/**
 * Returns all logs of one block. Other filters are refused, because the service never sends them.
 */
async function getLogs(node: DevnetNode, filter: unknown): Promise<unknown> {
  const { blockHash, ...others } = readObject(filter)
  if (blockHash === undefined || Object.keys(others).length > 0) {
    throw invalid('the local chain has logs by blockHash alone, without a filter')
  }
  const block = await node.blockByHash(parseHash(blockHash))
  if (block === null) throw invalid('invalid blockHash')
  const logs = renderMined(block).logs()
  if (logs.length > logsMax) throw new RpcError(-32005, `query returned more than ${logsMax} results`)
  return logs
}

/**
 * The methods that read state. A full node's state is that after its newest block and all
 * transactions that are in no block yet (PROTOCOL.md, Balances). anvil calls this state `pending`.
 */
function stateMethods(node: DevnetNode): Methods {
  return {
    eth_getBalance: [
      2,
      async (address, tag) => {
        requireLatest(tag)
        return quantity(await node.balance(parseStateAddress(address)))
      },
    ],
    eth_call: [2, (call, tag) => ethCall(node, call, tag)],
  }
}

async function ethCall({ evm }: DevnetNode, given: unknown, tag: unknown): Promise<unknown> {
  const { from, to, data } = readObject(given)
  const target = `0x${parseStateAddress(to)}`
  const sender = from === undefined ? {} : { from: `0x${parseStateAddress(from)}` }
  requireLatest(tag)
  if ((await evm.call<string>('eth_getCode', target, 'pending')) === '0x') {
    throw new RpcError(-32600, 'Smart contract is not exist.')
  }
  try {
    return await evm.call('eth_call', { to: target, data: readText(data), ...sender }, 'pending')
  } catch (error) {
    if (!(error instanceof EvmError)) throw error
    // what follows is the contract's reason, if it gave one
    const message = error.message.replace(/^execution reverted/, 'REVERT opcode executed')
    throw new RpcError(-32000, message, error.data ?? '{}') // `data` is what the contract returned
  }
}

function readObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidCall()
  return value as Record<string, unknown> // safe: an object, by the check above
}

function readText(value: unknown): string {
  if (typeof value !== 'string') throw invalidCall()
  return value.toLowerCase()
}

/**
 * Parses an address: 20 bytes, or 21 bytes that start with 41, in hex with or without `0x`. Returns
 * 40 hex digits.
 */
function parseStateAddress(value: unknown): string {
  const address = /^(?:0x)?(?:41)?([0-9a-f]{40})$/.exec(readText(value))?.[1]
  if (address === undefined) throw invalid('invalid address hash value')
  return address
}

/** Refuses any state but `latest` (PROTOCOL.md, Block tags). */
function requireLatest(value: unknown): void {
  if (readText(value) !== 'latest') throw invalid('QUANTITY not supported, just support TAG as latest')
}

/** Parses the height of a block: a tag (`latest`, `finalized`), or a number in hex with `0x`. */
function parseHeight(value: unknown, heads: Heads): number {
  const given = readText(value)
  if (given === 'latest' || given === 'finalized') return heads[given]
  if (!/^0x[0-9a-f]{1,13}$/.test(given)) throw invalid('invalid block number')
  return Number(given)
}

/**
 * Parses the hash of a block or transaction: 64 hex digits with or without `0x`. Returns them
 * without.
 */
function parseHash(value: unknown): string {
  const digits = strip0x(readText(value))
  if (!/^[0-9a-f]{64}$/.test(digits)) throw invalid('invalid hash value')
  return digits
}

/**
 * A transaction as `eth_getTransactionByHash` shows it, without the contract's type and the result.
 * If no block contains the transaction, the members about its block are `0x`.
 */
function toTransactionObject(found: FoundTransaction | null): Record<string, unknown> | null {
  if (found === null) return null
  const block = found.kind === 'mined' ? found.block : null
  const { txid, type, owner, target, amount, code } = found.kind === 'mined' ? found.transaction.tron : found.tron
  return {
    blockHash: block === null ? '0x' : `0x${block.hash}`,
    blockNumber: block === null ? '0x' : quantity(block.height),
    hash: `0x${txid}`,
    from: `0x${owner}`,
    to: target === null ? null : `0x${target}`,
    value: quantity(amount),
    input: type === 'TriggerSmartContract' ? `0x${code}` : '0x',
  }
}
