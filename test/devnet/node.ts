import { quantity } from '../support/hex.ts'
import { Accounts } from './accounts.ts'
import { type BlockWithReceipts, type EvmBlock, loadBlocks, type MinedTransaction } from './blocks.ts'
import type { Evm } from './evm.ts'
import type { Keeping } from './keep.ts'
import { oneByOne } from './one-by-one.ts'
import {
  type EmbeddedTransaction,
  type EvmTransaction,
  encodeEmbedded,
  outOfEnergyCall,
  parseRaw,
  type TronTransaction,
  toTron,
} from './transaction.ts'

/** The newest height, and the newest final height. */
export interface Heads {
  readonly latest: number
  readonly finalized: number
}

/** The chain in the form of a Tron node: blocks by height and hash, transactions by txid. */
export interface DevnetNode {
  readonly evm: Evm
  heads(): Promise<Heads>
  /** The block at this height; null above the newest block. */
  blockAt(height: number): Promise<BlockWithReceipts | null>
  /**
   * The blocks from one height to another, both included. Heights above the newest block are left
   * out.
   */
  blocksAt(from: number, to: number): Promise<readonly BlockWithReceipts[]>
  /** `hash` is 64 hex digits; null if the chain has no such block. */
  blockByHash(hash: string): Promise<BlockWithReceipts | null>
  /** `txid` is 64 hex digits; null if there is no such transaction. */
  findTransaction(txid: string): Promise<FoundTransaction | null>
  /**
   * Gives a Tron transaction to the EVM chain, after the transactions that were submitted earlier.
   * It is in no block yet.
   */
  submit(transaction: EmbeddedTransaction, fails?: 'OUT_OF_ENERGY'): Promise<SentTransaction>
  /**
   * The accounts after all transactions, unmined ones included, and the time of the newest block
   * (`now`).
   */
  accounts(): Promise<{ readonly accounts: Accounts; readonly now: number }>
  /**
   * The sun of an address (40 hex digits) after all transactions, unmined ones included: its
   * balance in the EVM minus its fees on Tron.
   */
  balance(address: string): Promise<bigint>
}

/** A sent transaction, which is in no block yet. `txid` is 64 hex digits. */
export interface SentTransaction {
  readonly txid: string
}

export type FoundTransaction =
  | { readonly kind: 'mined'; readonly block: BlockWithReceipts; readonly transaction: MinedTransaction }
  | { readonly kind: 'unmined'; readonly tron: TronTransaction }

const indexStep = 500

/**
 * The node over anvil's chain. It reads all blocks once to index them, so it needs no store of its
 * own. A block counts as final only when `keeping` has stored it, so that no block which the
 * service has scanned is lost when this process ends.
 */
export function createDevnetNode(evm: Evm, finalityLag: number, keeping: Pick<Keeping, 'storedTo'>): DevnetNode {
  const currentIndex = createIndex(evm)
  const unmined = new Map<string, string>()
  const sentAs = (evmHash: string) => evm.call<EvmTransaction | null>('eth_getTransactionByHash', evmHash)
  const heads = async () => {
    const latest = Number(await evm.call<string>('eth_blockNumber'))
    return { latest, finalized: Math.max(0, Math.min(latest - finalityLag, keeping.storedTo())) }
  }
  const blocksAt = (from: number, to: number) => loadBlocks(evm, from, to)
  const blockAt = async (height: number) => (await blocksAt(height, height))[0] ?? null
  let pending: { readonly basedOn: string; readonly accounts: Accounts; readonly now: number } | null = null
  const accounts = async () => {
    const index = await currentIndex()
    if (pending?.basedOn === index.newestHash) return pending
    const state = new Accounts(index.accounts)
    for (const [txid, evmHash] of unmined) {
      const sent = await sentAs(evmHash)
      if (sent === null || index.heights.has(txid)) unmined.delete(txid)
      else state.apply(toTron(sent), index.newestTime)
    }
    pending = { basedOn: index.newestHash, accounts: state, now: index.newestTime }
    return pending
  }
  const submit = async (transaction: EmbeddedTransaction, fails?: 'OUT_OF_ENERGY') => {
    const evmHash = await evm.call<string>('eth_sendTransaction', toEvm(transaction, fails))
    const tron = { ...parseRaw(transaction.rawHex), ...transaction }
    unmined.set(tron.txid, evmHash)
    pending?.accounts.apply(tron, pending.now)
    return { txid: tron.txid }
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
      const sent = evmHash === undefined ? null : await sentAs(evmHash)
      return sent === null ? null : { kind: 'unmined', tron: toTron(sent) }
    },
    submit: oneByOne(submit), // anvil gives the same nonce to two simultaneous transactions of one account
    accounts,
    async balance(address) {
      const { accounts: state } = await accounts()
      return BigInt(await evm.call<string>('eth_getBalance', `0x${address}`, 'pending')) - state.of(address).burnt
    },
  }
}

/**
 * The recipient of the EVM transaction that carries a Tron transaction which neither moves TRX nor
 * runs a contract. The address has no key.
 */
const carrier = '0x0000000000000000000000000062726f61646373'
/**
 * The gas limit of every transaction. Gas is free here; without a limit, anvil's estimate would
 * refuse a transaction that must fail.
 */
const gas = quantity(10_000_000)

/** The EVM transaction that does what the Tron transaction does, and carries its bytes. */
function toEvm(transaction: EmbeddedTransaction, fails?: 'OUT_OF_ENERGY'): Record<string, string> {
  const { type, owner, target, amount, code } = parseRaw(transaction.rawHex)
  const embedded = encodeEmbedded(transaction)
  const common = { from: `0x${owner}`, value: quantity(amount), gas, gasPrice: '0x0' }
  if (type === 'TransferContract') return { ...common, to: `0x${target}`, data: `0x${embedded}` }
  if (type === 'CreateSmartContract') return { ...common, data: `0x${code}${embedded}` }
  if (type !== 'TriggerSmartContract') return { ...common, to: carrier, value: '0x0', data: `0x${embedded}` }
  const called = fails === 'OUT_OF_ENERGY' ? outOfEnergyCall : `0x${code}`
  return { ...common, to: `0x${target}`, data: `${called}${embedded}` }
}

/** What the blocks up to one height contain. */
interface ChainIndex {
  readonly heights: Map<string, number>
  readonly accounts: Accounts
  indexedTo: number
  newestHash: string
  /** The time of the newest block, in milliseconds since 1970. */
  newestTime: number
}

const emptyIndex = (): ChainIndex => ({
  heights: new Map(),
  accounts: new Accounts(),
  indexedTo: -1,
  newestHash: '',
  newestTime: 0,
})

/**
 * Makes a function that returns the index of all blocks. After a fork the function indexes all
 * blocks anew.
 */
function createIndex(evm: Evm): () => Promise<ChainIndex> {
  let index = emptyIndex()
  let indexing = Promise.resolve()
  const update = async () => {
    const newest = await evm.call<EvmBlock>('eth_getBlockByNumber', 'latest', false)
    if (newest.hash === index.newestHash) return
    const latest = Number(newest.number)
    const known = await evm.call<EvmBlock | null>('eth_getBlockByNumber', quantity(Math.max(0, index.indexedTo)), false)
    if (known?.hash !== index.newestHash) index = emptyIndex()
    while (index.indexedTo < latest) {
      const from = index.indexedTo + 1
      const step = Array.from({ length: Math.min(indexStep, latest - index.indexedTo) }, (_, i) => from + i)
      const blocks = await evm.batch<EvmBlock>(step.map((height) => ['eth_getBlockByNumber', [quantity(height), true]]))
      for (const block of blocks) add(index, block)
    }
  }
  return async () => {
    indexing = indexing.catch(() => {}).then(update) // one update at a time: two at once would count a block twice
    await indexing
    return index
  }
}

function add(index: ChainIndex, { hash, timestamp, transactions }: EvmBlock): void {
  index.indexedTo += 1
  index.newestHash = hash
  index.newestTime = Number(timestamp) * 1_000
  for (const transaction of transactions) {
    const tron = toTron(transaction)
    index.heights.set(tron.txid, index.indexedTo)
    index.accounts.apply(tron, index.newestTime)
  }
}
