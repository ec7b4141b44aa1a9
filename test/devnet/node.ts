import { quantity } from '../support/hex.ts'
import { type BlockWithReceipts, loadBlocks, type MinedTransaction, type PhantomCall } from './blocks.ts'
import type { Evm } from './evm.ts'
import { Resources } from './resources.ts'
import { type EvmTransaction, type TronTransaction, toTron } from './transaction.ts'

/** The newest height, and the newest final height. */
export interface Heads {
  readonly latest: number
  readonly finalized: number
}

/** The chain in the form of a Tron node: blocks by height and hash, transactions by txid. */
export interface DevnetNode {
  readonly evm: Evm
  heads(): Promise<Heads>
  /** Null above the head. */
  blockAt(height: number): Promise<BlockWithReceipts | null>
  /** The blocks from one height to another, without those above the head. */
  blocksAt(from: number, to: number): Promise<readonly BlockWithReceipts[]>
  /** `hash` is 64 hex digits; null if the chain has no such block. */
  blockByHash(hash: string): Promise<BlockWithReceipts | null>
  /** `txid` is 64 hex digits; null if there is no such transaction. */
  findTransaction(txid: string): Promise<FoundTransaction | null>
  /** Makes a sent transaction findable while it is in no block, and returns its txid. */
  trackUnmined(evmHash: string): Promise<string>
  /** Accounts and resources with all transactions, the unmined ones too, and the newest block's time. */
  resources(): Promise<{ readonly resources: Resources; readonly now: number }>
  /** Sun of an address (40 hex digits) with all transactions, the unmined ones too: what the EVM has minus fees and stakes. */
  balance(address: string): Promise<bigint>
}

/** A transaction that was found by its txid. */
export type FoundTransaction =
  | { readonly kind: 'mined'; readonly block: BlockWithReceipts; readonly transaction: MinedTransaction }
  | { readonly kind: 'unmined'; readonly tron: TronTransaction }

const indexStep = 500

/** The node over anvil's chain. It reads all blocks once to index them, so it needs no store of its own. */
export function createDevnetNode(evm: Evm, phantom: PhantomCall, finalityLag: number): DevnetNode {
  const currentIndex = createIndex(evm)
  const unmined = new Map<string, string>()
  const heads = async () => {
    const latest = Number(await evm.call<string>('eth_blockNumber'))
    return { latest, finalized: Math.max(0, latest - finalityLag) }
  }
  const blocksAt = (from: number, to: number) => loadBlocks(evm, from, to, phantom)
  const blockAt = async (height: number) => (await blocksAt(height, height))[0] ?? null
  let pending: { readonly basedOn: string; readonly resources: Resources; readonly now: number } | null = null
  const resources = async () => {
    const index = await currentIndex()
    if (pending?.basedOn === index.newestHash) return pending
    const state = new Resources(index.resources)
    for (const [txid, evmHash] of unmined) {
      const sent = await evm.call<EvmTransaction | null>('eth_getTransactionByHash', evmHash)
      if (sent === null || index.heights.has(txid)) unmined.delete(txid)
      else state.apply(toTron(sent), index.newestTime)
    }
    pending = { basedOn: index.newestHash, resources: state, now: index.newestTime }
    return pending
  }
  return {
    evm,
    heads,
    blockAt,
    blocksAt,
    async blockByHash(hash) {
      const height = Number.parseInt(hash.slice(0, 16), 16)
      const block = Number.isSafeInteger(height) ? await blockAt(height) : null
      return block?.hash === hash ? block : null
    },
    async findTransaction(txid) {
      const height = (await currentIndex()).heights.get(txid)
      const block = height === undefined ? null : await blockAt(height)
      const transaction = block?.transactions.find(({ tron }) => tron.txid === txid)
      if (block && transaction) return { kind: 'mined', block, transaction }
      const evmHash = unmined.get(txid)
      if (evmHash === undefined) return null
      const sent = await evm.call<EvmTransaction | null>('eth_getTransactionByHash', evmHash)
      return sent === null ? null : { kind: 'unmined', tron: toTron(sent) }
    },
    async trackUnmined(evmHash) {
      const sent = await evm.call<EvmTransaction | null>('eth_getTransactionByHash', evmHash)
      if (sent === null) throw new Error(`anvil accepted ${evmHash} but does not return it`)
      const tron = toTron(sent)
      unmined.set(tron.txid, evmHash)
      pending?.resources.apply(tron, pending.now)
      return tron.txid
    },
    resources,
    async balance(address) {
      const { resources: state } = await resources()
      return BigInt(await evm.call<string>('eth_getBalance', `0x${address}`, 'pending')) - state.spent(address)
    },
  }
}

/** What the blocks up to one height contain. */
interface ChainIndex {
  readonly heights: Map<string, number>
  readonly resources: Resources
  indexedTo: number
  newestHash: string
  /** Milliseconds. */
  newestTime: number
}

interface IndexedBlock {
  readonly number: string
  readonly hash: string
  readonly timestamp: string
  readonly transactions: readonly EvmTransaction[]
}

const emptyIndex = (): ChainIndex => ({
  heights: new Map(),
  resources: new Resources(),
  indexedTo: -1,
  newestHash: '',
  newestTime: 0,
})

/** Returns the index of all blocks. After a fork it begins anew. */
function createIndex(evm: Evm): () => Promise<ChainIndex> {
  let index = emptyIndex()
  let indexing = Promise.resolve()
  const update = async () => {
    const newest = await evm.call<IndexedBlock>('eth_getBlockByNumber', 'latest', false)
    if (newest.hash === index.newestHash) return
    const latest = Number(newest.number)
    const known = await evm.call<IndexedBlock | null>(
      'eth_getBlockByNumber',
      quantity(Math.max(0, index.indexedTo)),
      false,
    )
    if (known?.hash !== index.newestHash) index = emptyIndex()
    while (index.indexedTo < latest) {
      const from = index.indexedTo + 1
      const step = Array.from({ length: Math.min(indexStep, latest - index.indexedTo) }, (_, i) => from + i)
      const blocks = await evm.batch<IndexedBlock>(
        step.map((height) => ['eth_getBlockByNumber', [quantity(height), true]]),
      )
      for (const block of blocks) add(index, block)
    }
  }
  return async () => {
    indexing = indexing.catch(() => {}).then(update) // one at a time: two would count a block twice
    await indexing
    return index
  }
}

function add(index: ChainIndex, { hash, timestamp, transactions }: IndexedBlock): void {
  index.indexedTo += 1
  index.newestHash = hash
  index.newestTime = Number(timestamp) * 1_000
  for (const transaction of transactions) {
    const tron = toTron(transaction)
    index.heights.set(tron.txid, index.indexedTo)
    index.resources.apply(tron, index.newestTime)
  }
}
