import { quantity } from '../support/hex.ts'
import {
  type BlockWithReceipts,
  finalizedHeight,
  loadBlock,
  type MinedTransaction,
  type PhantomCall,
} from './blocks.ts'
import type { Evm } from './evm.ts'
import type { Heads } from './parameters.ts'
import { type EvmTransaction, type TronTransaction, toTron } from './transaction.ts'

/** The chain in the form of a Tron node: blocks by height and hash, transactions by txid. */
export interface DevnetNode {
  readonly evm: Evm
  heads(): Promise<Heads>
  /** Null above the head. */
  blockAt(height: number): Promise<BlockWithReceipts | null>
  /** `hash` is 64 hex digits; null if the chain has no such block. */
  blockByHash(hash: string): Promise<BlockWithReceipts | null>
  /** `txid` is 64 hex digits; null if there is no such transaction. */
  findTransaction(txid: string): Promise<FoundTransaction | null>
  /** Makes a sent transaction findable while it is in no block, and returns its txid. */
  trackUnmined(evmHash: string): Promise<string>
}

/** A transaction that was found by its txid. */
export type FoundTransaction =
  | { readonly kind: 'mined'; readonly block: BlockWithReceipts; readonly transaction: MinedTransaction }
  | { readonly kind: 'unmined'; readonly tron: TronTransaction }

const indexStep = 500

/** The node over anvil's chain. It reads all blocks once to index the txids, so it needs no store of its own. */
export function createDevnetNode(evm: Evm, phantom: PhantomCall, finalityLag?: number): DevnetNode {
  const heightOf = createTxidIndex(evm)
  const unmined = new Map<string, string>()
  const heads = async () => {
    const latest = Number(await evm.call<string>('eth_blockNumber'))
    return { latest, finalized: finalizedHeight(latest, finalityLag) }
  }
  const blockAt = (height: number) => loadBlock(evm, height, phantom)
  return {
    evm,
    heads,
    blockAt,
    async blockByHash(hash) {
      const height = Number.parseInt(hash.slice(0, 16), 16)
      const block = Number.isSafeInteger(height) ? await blockAt(height) : null
      return block?.hash === hash ? block : null
    },
    async findTransaction(txid) {
      const { latest } = await heads()
      const height = await heightOf(txid, latest)
      const block = height === null ? null : await blockAt(height)
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
      const { txid } = toTron(sent)
      unmined.set(txid, evmHash)
      return txid
    },
  }
}

/** Returns the height of the block that contains a txid, or null if no block up to `latest` does. */
function createTxidIndex(evm: Evm): (txid: string, latest: number) => Promise<number | null> {
  const heights = new Map<string, number>()
  let indexedTo = 0
  let indexing = Promise.resolve()
  const indexTo = async (latest: number) => {
    while (indexedTo < latest) {
      const step = Array.from({ length: Math.min(indexStep, latest - indexedTo) }, (_, i) => indexedTo + 1 + i)
      const blocks = await evm.batch<{ transactions: EvmTransaction[] }>(
        step.map((height) => ['eth_getBlockByNumber', [quantity(height), true]]),
      )
      for (const [i, { transactions }] of blocks.entries()) {
        for (const transaction of transactions) heights.set(toTron(transaction).txid, indexedTo + 1 + i)
      }
      indexedTo += step.length
    }
  }
  return async (txid, latest) => {
    indexing = indexing.catch(() => {}).then(() => indexTo(latest)) // one at a time: two would count a block twice
    await indexing
    return heights.get(txid) ?? null
  }
}
