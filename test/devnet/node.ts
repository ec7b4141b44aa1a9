import type { Evm } from './anvil.ts'
import { finalizedBelow, type LoadedBlock, loadBlock, type PhantomCall, type Placed } from './eth-to-tron.ts'
import { quantity } from './hex.ts'
import type { Tips } from './rules.ts'
import { type EvmTransaction, type TronTransaction, toTron } from './transaction.ts'

/** The chain as a Tron node holds it: blocks by height and hash, transactions by txid. */
export interface TronNode {
  readonly evm: Evm
  tips(): Promise<Tips>
  /** Null above the head. */
  blockAt(height: number): Promise<LoadedBlock | null>
  /** `hash` is 64 hex digits; null where this chain has no such block. */
  blockBy(hash: string): Promise<LoadedBlock | null>
  /** `txid` is 64 hex digits; `block` null as long as it is in none; null where nobody sent it. */
  find(txid: string): Promise<Found | null>
  /** Remembers a transaction that is in no block yet, and answers its txid. */
  announce(evmHash: string): Promise<string>
}

/** A transaction that the node knows. */
export type Found =
  | { readonly kind: 'mined'; readonly block: LoadedBlock; readonly placed: Placed }
  | { readonly kind: 'unmined'; readonly tron: TronTransaction }

const indexStep = 500

/** The node over anvil's chain. Its index of txids is built by walking the blocks, so it needs no store of its own. */
export function createNode(evm: Evm, phantom: PhantomCall): TronNode {
  const heightOf = new Map<string, number>()
  const announced = new Map<string, string>()
  let indexed = 0
  let walk = Promise.resolve()

  const tips = async () => {
    const latest = Number(await evm.call<string>('eth_blockNumber'))
    return { latest, finalized: finalizedBelow(latest) }
  }
  const blockAt = (height: number) => loadBlock(evm, height, phantom)
  const walkTo = async (latest: number) => {
    while (indexed < latest) {
      const heights = Array.from({ length: Math.min(indexStep, latest - indexed) }, (_, i) => indexed + 1 + i)
      const blocks = await evm.batch<{ transactions: EvmTransaction[] }>(
        heights.map((height) => ['eth_getBlockByNumber', [quantity(height), true]]),
      )
      for (const [i, { transactions }] of blocks.entries()) {
        for (const transaction of transactions) heightOf.set(toTron(transaction).txid, indexed + 1 + i)
      }
      indexed += heights.length
    }
  }

  return {
    evm,
    tips,
    blockAt,
    async blockBy(hash) {
      const height = Number.parseInt(hash.slice(0, 16), 16)
      const block = Number.isSafeInteger(height) ? await blockAt(height) : null
      return block?.hash === hash ? block : null
    },
    async find(txid) {
      const { latest } = await tips()
      walk = walk.catch(() => {}).then(() => walkTo(latest)) // one walk at a time: two would count a block twice
      await walk
      const height = heightOf.get(txid)
      if (height !== undefined) {
        const block = await blockAt(height)
        const placed = block?.placed.find(({ tron }) => tron.txid === txid)
        if (block && placed) return { kind: 'mined', block, placed }
      }
      const evmHash = announced.get(txid)
      if (evmHash === undefined) return null
      const transaction = await evm.call<EvmTransaction | null>('eth_getTransactionByHash', evmHash)
      return transaction === null ? null : { kind: 'unmined', tron: toTron(transaction) }
    },
    async announce(evmHash) {
      const transaction = await evm.call<EvmTransaction | null>('eth_getTransactionByHash', evmHash)
      if (transaction === null) throw new Error(`anvil does not know ${evmHash}, which it has just taken`)
      const { txid } = toTron(transaction)
      announced.set(txid, evmHash)
      return txid
    },
  }
}
