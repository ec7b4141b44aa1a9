import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { devnetChainId } from './anvil.ts'
import { energyPrice, type LoadedBlock, showBlock, showLogs, showReceipt, showTransaction } from './eth-to-tron.ts'
import { quantity, strip } from './hex.ts'
import { matches, parseLogFilter, requireFewLogs } from './logs.ts'
import type { TronNode } from './node.ts'
import { blockHeight, flag, hash32, invalid, type Method, position, RpcError, text } from './rules.ts'
import { stateMethods } from './state.ts'

const chainId = quantity(devnetChainId)

/** Declared by java-tron, and refused by every node. */
const refused = [
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
/** Real nodes have filters. This one has not: they live in one node's memory, and nothing here may lean on them. */
const leftOut = [
  'eth_newFilter',
  'eth_newBlockFilter',
  'eth_getFilterChanges',
  'eth_getFilterLogs',
  'eth_uninstallFilter',
  'buildTransaction',
]

/** Every method by its name. */
export function createMethods(node: TronNode): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    ...nodeMethods(node),
    ...blockMethods(node),
    ...transactionMethods(node),
    ...stateMethods(node),
    ['eth_getLogs', { parameters: 1, run: ([filter]) => getLogs(node, filter) }],
    ...[...refused, ...leftOut].map((name): [string, Method] => [name, unavailable(name)]),
  ])
}

/** The answer to a method that is none of these. */
export function methodNotFound(): RpcError {
  return new RpcError(-32601, 'method not found', null)
}

function nodeMethods({ tips, blockAt }: TronNode): [string, Method][] {
  const constant = (value: unknown): Method => ({ parameters: 0, run: async () => value })
  return [
    ['web3_clientVersion', constant('TRON/v4.8.2/Linux/Java1.8')],
    ['web3_sha3', { parameters: 1, run: async ([data]) => keccak(text(data)) }],
    ['net_version', constant(chainId)], // hex, unlike Ethereum's
    ['net_listening', constant(true)],
    ['net_peerCount', constant('0x1')],
    ['eth_chainId', constant(chainId)],
    ['eth_protocolVersion', constant('0x20')],
    ['eth_blockNumber', { parameters: 0, run: async () => quantity((await tips()).latest) }],
    ['eth_gasPrice', constant(energyPrice)],
    ['eth_accounts', constant([])],
    ['eth_hashrate', constant('0x0')],
    ['eth_mining', constant(false)],
    ['eth_getUncleByBlockHashAndIndex', { parameters: 2, run: async () => null }],
    ['eth_getUncleByBlockNumberAndIndex', { parameters: 2, run: async () => null }],
    ['eth_getUncleCountByBlockHash', { parameters: 1, run: async () => '0x0' }],
    ['eth_getUncleCountByBlockNumber', { parameters: 1, run: async () => '0x0' }],
    [
      'eth_syncing', // with a peer it is an object always, synced or not
      {
        parameters: 0,
        run: async () => {
          const head = quantity((await tips()).latest)
          return { startingBlock: '0x0', currentBlock: head, highestBlock: head }
        },
      },
    ],
    [
      'eth_getWork',
      {
        parameters: 0,
        run: async () => {
          const head = await blockAt((await tips()).latest)
          return [head === null ? null : `0x${head.hash}`, null, null]
        },
      },
    ],
  ]
}

function blockMethods(node: TronNode): [string, Method][] {
  const atHeight = async (given: unknown) => node.blockAt(blockHeight(given, await node.tips()))
  const byHash = async (given: unknown) => node.blockBy(hash32(given))
  const shown = async (found: Promise<LoadedBlock | null>, full: unknown) => {
    const whole = flag(full)
    const block = await found
    return block === null ? null : showBlock(block, whole)
  }
  const count = (block: LoadedBlock | null) => (block === null ? null : quantity(block.placed.length))
  return [
    ['eth_getBlockByNumber', { parameters: 2, run: ([at, full]) => shown(atHeight(at), full) }],
    ['eth_getBlockByHash', { parameters: 2, run: ([hash, full]) => shown(byHash(hash), full) }],
    ['eth_getBlockTransactionCountByNumber', { parameters: 1, run: async ([at]) => count(await atHeight(at)) }],
    ['eth_getBlockTransactionCountByHash', { parameters: 1, run: async ([hash]) => count(await byHash(hash)) }],
    [
      'eth_getBlockReceipts',
      {
        parameters: 1,
        run: async ([given]) => {
          const block = await (/^(0x)?[0-9a-f]{64}$/i.test(text(given)) ? byHash(given) : atHeight(given))
          if (block === null || block.height === 0) return null
          return block.placed.map((placed) => showReceipt(placed, block))
        },
      },
    ],
    [
      'eth_getTransactionByBlockNumberAndIndex',
      { parameters: 2, run: async ([at, index]) => nth(await atHeight(at), position(index)) },
    ],
    [
      'eth_getTransactionByBlockHashAndIndex',
      { parameters: 2, run: async ([hash, index]) => nth(await byHash(hash), position(index)) },
    ],
  ]
}

function nth(block: LoadedBlock | null, index: number): unknown {
  const placed = block?.placed[index]
  return block && placed ? showTransaction(placed.tron, block, placed) : null
}

function transactionMethods(node: TronNode): [string, Method][] {
  return [
    [
      'eth_getTransactionByHash',
      {
        parameters: 1,
        run: async ([hash]) => {
          const found = await node.find(hash32(hash))
          if (found === null) return null
          if (found.kind === 'unmined') return showTransaction(found.tron, null, null)
          return showTransaction(found.placed.tron, found.block, found.placed)
        },
      },
    ],
    [
      'eth_getTransactionReceipt',
      {
        parameters: 1,
        run: async ([hash]) => {
          const found = await node.find(hash32(hash))
          return found?.kind === 'mined' ? showReceipt(found.placed, found.block) : null
        },
      },
    ],
  ]
}

async function getLogs(node: TronNode, given: unknown): Promise<unknown> {
  const filter = parseLogFilter(given, await node.tips())
  const { place } = filter
  if (place.kind === 'above-head') return []
  const logs: unknown[] = []
  const collect = (block: LoadedBlock) => {
    for (const placed of block.placed) logs.push(...showLogs(placed, block).filter((log) => matches(filter, log)))
    requireFewLogs(logs.length)
  }
  if (place.kind === 'block') {
    const block = await node.blockBy(place.hash)
    if (block === null) throw invalid('invalid blockHash')
    collect(block)
    return logs
  }
  const range = { fromBlock: quantity(place.from), toBlock: quantity(place.to) }
  const found = await node.evm.call<{ blockNumber: string }[]>('eth_getLogs', range)
  for (const height of new Set(found.map((log) => Number(log.blockNumber)))) {
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
  const digits = strip(data)
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw invalid('invalid input value')
  return `0x${bytesToHex(keccak_256(hexToBytes(digits)))}`
}
