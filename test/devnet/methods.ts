import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { quantity, strip0x } from '../support/hex.ts'
import { devnetChainId } from './anvil.ts'
import type { BlockWithReceipts } from './blocks.ts'
import { energyPrice, toBlockObject, toLogObjects, toReceiptObject, toTransactionObject } from './eth-to-tron.ts'
import { matches, parseLogFilter, requireFewLogs } from './log-filter.ts'
import type { DevnetNode } from './node.ts'
import {
  invalid,
  type Method,
  parseHashParameter,
  parseHeight,
  parseIndex,
  RpcError,
  requireBoolean,
  requireText,
} from './parameters.ts'
import { stateMethods } from './state-methods.ts'

const chainId = quantity(devnetChainId)

/** Methods that java-tron declares and every node refuses. */
const refusedMethods = [
  'eth_sendRawTransaction',
  'eth_sendTransaction',
  'eth_sign',
  'eth_signTransaction',
  'eth_getTransactionCount',
  'parity_nextNonce',
  'eth_submitWork',
  'eth_submitHashrate',
  'eth_getCompilers',
  'eth_compileSolidity',
  'eth_compileLLL',
  'eth_compileSerpent',
]
/** Methods that only this server lacks. A filter is in the memory of one node, so the service must not use filters. */
const omittedMethods = [
  'eth_newFilter',
  'eth_newBlockFilter',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_uninstallFilter',
  'buildTransaction',
]

/** All methods by name. */
export function createMethods(node: DevnetNode): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    ...nodeMethods(node),
    ...blockMethods(node),
    ...transactionMethods(node),
    ...stateMethods(node),
    ['eth_getLogs', { parameters: 1, run: ([filter]) => getLogs(node, filter) }],
    ...[...refusedMethods, ...omittedMethods].map((name): [string, Method] => [name, unavailable(name)]),
  ])
}

/** The error for a method that is not in the list. */
export function methodNotFound(): RpcError {
  return new RpcError(-32601, 'method not found', null)
}

function nodeMethods({ heads, blockAt }: DevnetNode): [string, Method][] {
  const constant = (value: unknown): Method => ({ parameters: 0, run: async () => value })
  const syncing = async () => {
    const head = quantity((await heads()).latest)
    return { startingBlock: '0x0', currentBlock: head, highestBlock: head }
  }
  const work = async () => {
    const head = await blockAt((await heads()).latest)
    return [head === null ? null : `0x${head.hash}`, null, null]
  }
  return [
    ['web3_clientVersion', constant('TRON/v4.8.2/Linux/Java1.8')],
    ['web3_sha3', { parameters: 1, run: async ([data]) => keccak(requireText(data)) }],
    ['net_version', constant(chainId)], // hex, unlike Ethereum's
    ['net_listening', constant(true)],
    ['net_peerCount', constant('0x1')],
    ['eth_chainId', constant(chainId)],
    ['eth_protocolVersion', constant('0x20')],
    ['eth_blockNumber', { parameters: 0, run: async () => quantity((await heads()).latest) }],
    ['eth_gasPrice', constant(energyPrice)],
    ['eth_accounts', constant([])],
    ['eth_hashrate', constant('0x0')],
    ['eth_mining', constant(false)],
    ['eth_getUncleByBlockHashAndIndex', { parameters: 2, run: async () => null }],
    ['eth_getUncleByBlockNumberAndIndex', { parameters: 2, run: async () => null }],
    ['eth_getUncleCountByBlockHash', { parameters: 1, run: async () => '0x0' }],
    ['eth_getUncleCountByBlockNumber', { parameters: 1, run: async () => '0x0' }],
    ['eth_syncing', { parameters: 0, run: syncing }], // an object whenever the node has a peer
    ['eth_getWork', { parameters: 0, run: work }],
  ]
}

function blockMethods(node: DevnetNode): [string, Method][] {
  const atHeight = async (given: unknown) => node.blockAt(parseHeight(given, await node.heads()))
  const byHash = async (given: unknown) => node.blockByHash(parseHashParameter(given))
  const toObject = async (load: () => Promise<BlockWithReceipts | null>, full: unknown) => {
    const isFull = requireBoolean(full)
    const block = await load()
    return block === null ? null : toBlockObject(block, isFull)
  }
  const count = (block: BlockWithReceipts | null) => (block === null ? null : quantity(block.transactions.length))
  const receipts = async (given: unknown) => {
    const block = await (/^(0x)?[0-9a-f]{64}$/i.test(requireText(given)) ? byHash(given) : atHeight(given))
    if (block === null || block.height === 0) return null
    return block.transactions.map((transaction) => toReceiptObject(transaction, block))
  }
  return [
    ['eth_getBlockByNumber', { parameters: 2, run: ([at, full]) => toObject(() => atHeight(at), full) }],
    ['eth_getBlockByHash', { parameters: 2, run: ([hash, full]) => toObject(() => byHash(hash), full) }],
    ['eth_getBlockTransactionCountByNumber', { parameters: 1, run: async ([at]) => count(await atHeight(at)) }],
    ['eth_getBlockTransactionCountByHash', { parameters: 1, run: async ([hash]) => count(await byHash(hash)) }],
    ['eth_getBlockReceipts', { parameters: 1, run: ([block]) => receipts(block) }],
    [
      'eth_getTransactionByBlockNumberAndIndex',
      { parameters: 2, run: async ([at, index]) => transactionIn(await atHeight(at), parseIndex(index)) },
    ],
    [
      'eth_getTransactionByBlockHashAndIndex',
      { parameters: 2, run: async ([hash, index]) => transactionIn(await byHash(hash), parseIndex(index)) },
    ],
  ]
}

function transactionIn(block: BlockWithReceipts | null, index: number): unknown {
  const transaction = block?.transactions[index]
  return block && transaction ? toTransactionObject(transaction.tron, block, transaction) : null
}

function transactionMethods(node: DevnetNode): [string, Method][] {
  const byHash = async (hash: unknown) => {
    const found = await node.findTransaction(parseHashParameter(hash))
    if (found === null) return null
    if (found.kind === 'unmined') return toTransactionObject(found.tron, null, null)
    return toTransactionObject(found.transaction.tron, found.block, found.transaction)
  }
  const receipt = async (hash: unknown) => {
    const found = await node.findTransaction(parseHashParameter(hash))
    return found?.kind === 'mined' ? toReceiptObject(found.transaction, found.block) : null
  }
  return [
    ['eth_getTransactionByHash', { parameters: 1, run: ([hash]) => byHash(hash) }],
    ['eth_getTransactionReceipt', { parameters: 1, run: ([hash]) => receipt(hash) }],
  ]
}

async function getLogs(node: DevnetNode, given: unknown): Promise<unknown> {
  const filter = parseLogFilter(given, await node.heads())
  const { blocks } = filter
  if (blocks.kind === 'above-head') return []
  const logs: unknown[] = []
  const collect = (block: BlockWithReceipts) => {
    for (const transaction of block.transactions) {
      logs.push(...toLogObjects(transaction, block).filter((log) => matches(filter, log)))
    }
    requireFewLogs(logs.length)
  }
  if (blocks.kind === 'block') {
    const block = await node.blockByHash(blocks.hash)
    if (block === null) throw invalid('invalid blockHash')
    collect(block)
    return logs
  }
  const range = { fromBlock: quantity(blocks.from), toBlock: quantity(blocks.to) }
  const evmLogs = await node.evm.call<{ blockNumber: string }[]>('eth_getLogs', range)
  for (const height of new Set(evmLogs.map((log) => Number(log.blockNumber)))) {
    const block = await node.blockAt(height)
    if (block !== null) collect(block)
  }
  return logs
}

function unavailable(name: string): Method {
  const error = new RpcError(-32601, `the method ${name} does not exist/is not available`)
  return { parameters: -1, run: () => Promise.reject(error) }
}

function keccak(data: string): string {
  const digits = strip0x(data)
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw invalid('invalid input value')
  return `0x${bytesToHex(keccak_256(hexToBytes(digits)))}`
}
