/** The JSON-RPC methods that the service and the tools use, with java-tron's error messages (PROTOCOL.md, Errors). */
import { quantity, strip0x } from '../support/hex.ts'
import { devnetChainId } from './anvil.ts'
import { EvmError } from './evm.ts'
import type { DevnetNode, Heads } from './node.ts'
import { invalid, invalidCall, type Method, RpcError } from './rpc.ts'
import { toBlockObject, toLogObjects, toReceiptObject, toTransactionObject } from './rpc-objects.ts'

const chainId = quantity(devnetChainId)
/** More logs in one response are an error. */
const logsMax = 10_000
const heightMax = 2n ** 63n - 1n

/** All methods by name. */
export function createMethods(node: DevnetNode): ReadonlyMap<string, Method> {
  return new Map<string, Method>([...chainMethods(node), ...transactionMethods(node), ...stateMethods(node)])
}

function chainMethods(node: DevnetNode): [string, Method][] {
  const block = async (at: unknown, full: unknown) => {
    if (full !== false) throw invalidCall() // a node has this form too; the service reads transactions from the HTTP API
    const found = await node.blockAt(parseHeight(at, await node.heads()))
    return found === null ? null : toBlockObject(found)
  }
  return [
    ['web3_clientVersion', { parameters: 0, run: async () => 'TRON/v4.8.2/Linux/Java1.8' }],
    ['eth_chainId', { parameters: 0, run: async () => chainId }],
    ['eth_getBlockByNumber', { parameters: 2, run: ([at, full]) => block(at, full) }],
  ]
}

function transactionMethods(node: DevnetNode): [string, Method][] {
  const byHash = async (hash: unknown) => {
    const found = await node.findTransaction(parseHash(hash))
    if (found === null) return null
    if (found.kind === 'unmined') return toTransactionObject(found.tron, null)
    return toTransactionObject(found.transaction.tron, found.block)
  }
  const receipt = async (hash: unknown) => {
    const found = await node.findTransaction(parseHash(hash))
    return found?.kind === 'mined' ? toReceiptObject(found.transaction, found.block) : null
  }
  return [
    ['eth_getTransactionByHash', { parameters: 1, run: ([hash]) => byHash(hash) }],
    ['eth_getTransactionReceipt', { parameters: 1, run: ([hash]) => receipt(hash) }],
    ['eth_getLogs', { parameters: 1, run: ([filter]) => getLogs(node, filter) }],
  ]
}

/** All logs of one block: the service asks for nothing else. */
async function getLogs(node: DevnetNode, filter: unknown): Promise<unknown> {
  const { blockHash, ...others } = readObject(filter)
  if (blockHash === undefined || Object.keys(others).length > 0) {
    throw invalid('the local chain has logs by blockHash alone, without a filter')
  }
  const block = await node.blockByHash(parseHash(blockHash))
  if (block === null) throw invalid('invalid blockHash')
  const logs = block.transactions.flatMap((transaction) => toLogObjects(transaction, block))
  if (logs.length > logsMax) throw new RpcError(-32005, `query returned more than ${logsMax} results`)
  return logs
}

/**
 * The methods that read state. A full node's state is its newest block plus all unmined transactions, which is anvil's
 * `pending`: a balance can include transactions that are in no block yet (PROTOCOL.md, Balances).
 */
function stateMethods(node: DevnetNode): [string, Method][] {
  const balance = async (address: unknown, tag: unknown) => {
    requireLatest(tag)
    return quantity(await node.balance(parseStateAddress(address)))
  }
  return [
    ['eth_getBalance', { parameters: 2, run: ([address, tag]) => balance(address, tag) }],
    ['eth_call', { parameters: 2, run: ([call, tag]) => ethCall(node, call, tag) }],
  ]
}

async function ethCall({ evm }: DevnetNode, given: unknown, tag: unknown): Promise<unknown> {
  const { from, to, data, input } = readObject(given)
  const code = strip0x(readText(input ?? data ?? '0x'))
  if (!/^([0-9a-f]{2})*$/i.test(code)) throw invalid('invalid input value')
  const target = `0x${parseStateAddress(to)}`
  const sender = from === undefined ? {} : { from: `0x${parseStateAddress(from)}` }
  requireLatest(tag)
  if ((await evm.call<string>('eth_getCode', target, 'pending')) === '0x') {
    throw new RpcError(-32600, 'Smart contract is not exist.')
  }
  try {
    return await evm.call('eth_call', { to: target, data: `0x${code}`, ...sender }, 'pending')
  } catch (error) {
    throw error instanceof EvmError ? tronError(error) : error
  }
}

/** A revert as a Tron error: the message ends with the reason if there is one, and `data` is the returned bytes. */
function tronError({ message, data }: EvmError): RpcError {
  if (!message.startsWith('execution reverted')) return new RpcError(-32000, message, data ?? '{}')
  const reason = /^execution reverted: (.*)$/s.exec(message)?.[1]
  return new RpcError(-32000, `REVERT opcode executed${reason === undefined ? '' : `: ${reason}`}`, data ?? '{}')
}

function readObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidCall()
  return value as Record<string, unknown> // an object, by the check above
}

function readText(value: unknown): string {
  if (typeof value !== 'string') throw invalidCall()
  return value
}

/** 20 bytes, or 21 bytes that start with 41, as 40 hex digits; `0x` is optional. */
function parseStateAddress(value: unknown): string {
  const digits = strip0x(readText(value)).toLowerCase()
  if (!/^[0-9a-f]*$/.test(digits)) {
    throw invalid('exception decoding Hex string: invalid characters encountered in Hex string')
  }
  if (digits.length === 40) return digits
  if (digits.length === 42 && digits.startsWith('41')) return digits.slice(2)
  throw invalid('invalid address hash value')
}

/** Refuses any state but `latest` (PROTOCOL.md, Block tags). */
function requireLatest(value: unknown): void {
  const tag = readText(value).toLowerCase()
  if (tag === 'latest') return
  if (['earliest', 'pending', 'finalized', 'safe'].includes(tag)) {
    throw invalid('TAG [earliest | pending | finalized | safe] not supported')
  }
  if (/^(0x[0-9a-f]+|\d+)$/.test(tag)) throw invalid('QUANTITY not supported, just support TAG as latest')
  throw invalid('invalid block number')
}

/** A tag, `0x` hex, or decimal digits without `0x`. */
function parseHeight(value: unknown, heads: Heads): number {
  const given = readText(value).toLowerCase()
  if (given === 'latest') return heads.latest
  if (given === 'finalized') return heads.finalized
  if (given === 'earliest') return 0
  if (given === 'pending' || given === 'safe') throw invalid(`TAG ${given} not supported`)
  if (!/^(0x[0-9a-f]+|\d+)$/.test(given) || BigInt(given) > heightMax) throw invalid('invalid block number')
  return Number(BigInt(given))
}

/** A block or transaction hash as 64 hex digits; `0x` is optional. */
function parseHash(value: unknown): string {
  const digits = strip0x(readText(value)).toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(digits)) throw invalid('invalid hash value')
  return digits
}
