import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { type InternalSpec, type LogSpec, type TransactionSpec, transferLog } from '../support/transaction-spec.ts'

/**
 * A transaction to mine, with its bytes. If another block contains it as well, the same bytes give
 * it the same txid.
 */
export interface Mined {
  readonly spec: TransactionSpec
  readonly rawData: Uint8Array
}

/** A mined transaction: its bytes, and what it did. */
export interface Transaction {
  readonly txid: Txid
  readonly rawData: Uint8Array
  readonly failed: boolean
  readonly logs: readonly LogSpec[]
  readonly internals: readonly (InternalSpec & { readonly from: Address })[]
}

/** A block. The time is in seconds since 1970. */
export interface Block {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly seconds: number
  readonly transactions: readonly Transaction[]
}

/** A chain as a node shows it. */
export interface ChainView {
  tip(): Block
  at(height: number): Block | undefined
  byHash(hash: string): Block | undefined
  /** The block that contains the transaction; undefined if none does. */
  blockOf(txid: string): Block | undefined
}

/** A chain whose blocks have the times of the run. */
export interface Chain extends ChainView {
  /** The height of the first block after block 0. */
  readonly firstHeight: number
  /** Appends a block; `seconds` is its time since 1970. */
  mine(transactions: readonly Mined[], seconds: number): Block
  /**
   * Another chain with the same blocks up to and including `height`; blocks added to it have other
   * hashes.
   */
  fork(height: number): Chain
}

/** The chain id of mainnet. */
export const chainId = '0x2b6653dc'
const genesis: Block = {
  height: 0,
  hash: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
  parentHash: '0'.repeat(64),
  seconds: 1_529_891_469,
  transactions: [],
}
const firstHeight = 70_000_000

/**
 * A chain with mainnet's block 0 and the blocks that are added, from height 70,000,000 on. `salt`
 * makes the hashes of a fork differ.
 */
export function createChain(salt = '', blocks: Block[] = []): Chain {
  const byHash = new Map<string, Block>()
  const byTxid = new Map<string, Block>()
  const index = (block: Block) => {
    byHash.set(block.hash, block)
    for (const { txid } of block.transactions) byTxid.set(txid, block)
  }
  for (const block of [genesis, ...blocks]) index(block)
  return {
    firstHeight,
    tip: () => blocks.at(-1) ?? genesis,
    at: (height) => (height === 0 ? genesis : blocks[height - firstHeight]),
    byHash: (hash) => byHash.get(hash),
    blockOf: (txid) => byTxid.get(txid),
    mine(mined, seconds) {
      const height = firstHeight + blocks.length
      const parentHash = blocks.at(-1)?.hash ?? hashOf(height - 1, digest('before the first block'))
      const transactions = mined.map(toTransaction)
      const txids = transactions.map(({ txid, failed }) => `${txid} ${failed}`)
      const hash = hashOf(height, digest([salt, parentHash, seconds, ...txids].join()))
      const block = { height, hash, parentHash, seconds, transactions }
      blocks.push(block)
      index(block)
      return block
    },
    fork: (height) => createChain(`${salt}'`, blocks.slice(0, height - firstHeight + 1)),
  }
}

const digest = (text: string) => bytesToHex(sha256(utf8ToBytes(text)))
/** A block hash starts with its height (PROTOCOL.md, Blocks). */
const hashOf = (height: number, rest: string) => height.toString(16).padStart(16, '0') + rest.slice(16)

/**
 * The transaction with what it does. A failed one can have logs (PROTOCOL.md, Failed transactions
 * with logs).
 */
export function toTransaction({ spec, rawData }: Mined): Transaction {
  const txid = bytesToHex(sha256(rawData)) as Txid // safe: 64 hex digits
  const failed = 'failed' in spec && spec.failed === true
  const keeps = spec.kind === 'token' && (!failed || spec.keepsLogs === true)
  const own = spec.kind === 'call' || spec.kind === 'signed' ? (spec.logs ?? []) : []
  const logs = keeps ? [transferLog(spec.contract, spec.from, spec.to, spec.amount)] : own
  const internals = spec.kind === 'call' ? (spec.internals ?? []).map((one) => ({ from: spec.contract, ...one })) : []
  return { txid, rawData, failed, logs, internals }
}

/**
 * A chain whose blocks are changed by `alter` and keep their hashes. `findInvented` finds the block
 * of a transaction that only changed blocks have.
 */
export function alterChain(
  chain: ChainView,
  alter: (block: Block) => Block,
  findInvented: (txid: string) => Block | undefined,
): ChainView {
  const altered = (block: Block | undefined) => (block === undefined || block.height === 0 ? block : alter(block))
  return {
    tip: chain.tip,
    at: (height) => altered(chain.at(height)),
    byHash: (hash) => altered(chain.byHash(hash)),
    blockOf: (txid) => altered(chain.blockOf(txid)) ?? findInvented(txid),
  }
}
