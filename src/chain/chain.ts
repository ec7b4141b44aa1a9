import type { Result } from '../common/result.ts'
import type { Address } from './address.ts'
import type { Asset } from './asset.ts'
import type { Block, BlockHeight, BlockRef, Header, Receipt, Transaction, TransactionRef, Txid } from './block.ts'
import type { ChainFailure } from './failure.ts'

/** The result of one read of the chain. A failure never means "no deposits". */
export type ChainResult<T> = Promise<Result<T, ChainFailure>>

/** Where a transaction is. */
export type TransactionLocation =
  | { readonly kind: 'unknown' }
  /** Received by nodes, in no block yet. */
  | { readonly kind: 'unmined' }
  | { readonly kind: 'mined'; readonly block: BlockRef; readonly transaction: Transaction }

/** Blocks after the finalized head, from one node: for information, never to credit. */
export interface UnconfirmedBlocks {
  readonly latest: BlockHeight
  readonly blocks: readonly Block[]
}

/** The `raw_data` bytes of a transaction. Their SHA-256 is the requested txid: the client has checked it. */
export type TransactionBytes = Uint8Array

/**
 * The chain as `TRON_QUORUM` nodes agree on it, for one invocation. Time and requests are limited when it is created, and
 * every method can fail with `out-of-budget`.
 */
export interface Chain {
  /**
   * The newest block that is final for `quorum` nodes with the same hash. It can be lower than an earlier result, so the
   * caller keeps the highest one.
   */
  finalizedHead(): ChainResult<Header>
  /**
   * Blocks `from`..`to`, both included, in order, at most `readBlocksMax`; each one's parent is the one before. Every block
   * is final for `quorum` nodes, with the same hash, transfers and logs of accepted tokens. The logs of a block are null
   * where they cannot be read with certainty. `no-answer` where `to` is above the finalized head of these nodes.
   */
  finalizedBlocks(from: BlockHeight, to: BlockHeight): ChainResult<readonly Block[]>
  /** Blocks after `after`, from one node, up to the first gap; at most two rotations of block producers. */
  unconfirmedBlocks(after: BlockHeight): ChainResult<UnconfirmedBlocks>
  /**
   * The receipts of mined transactions, at most `receiptsMax`. `quorum` nodes agree on block, status and logs of each. The
   * result has every requested txid. `no-answer` where a receipt is null.
   */
  receipts(transactions: readonly TransactionRef[]): ChainResult<ReadonlyMap<Txid, Receipt>>
  /** The bytes of a transaction, from the HTTP API of any node. Null where no node has an HTTP API. */
  transactionBytes(txid: Txid): ChainResult<TransactionBytes | null>
  /**
   * The bytes of the transactions in a block, from the HTTP API of any node. Each one's key is the SHA-256 of its bytes; a
   * node can leave some out. Null where no node has an HTTP API.
   */
  bytesInBlock(height: BlockHeight): ChainResult<ReadonlyMap<Txid, TransactionBytes> | null>
  /** Where a transaction is. `unknown` requires a reply from at least `quorum` nodes and no failed node. */
  locateTransaction(txid: Txid): ChainResult<TransactionLocation>
  /** The newest balances by one node, in the order requested, in chain units. One HTTP request for `balancesMax` addresses. */
  balances(addresses: readonly Address[], asset: Asset): ChainResult<readonly bigint[]>
  /** The index of the first of at most `balancesMax` addresses that holds an asset by any of `quorum` nodes, or null. */
  holder(addresses: readonly Address[], asset: Asset): ChainResult<number | null>
  /**
   * The index of the first of these addresses that was ever activated, by the HTTP API of any node, or null. One HTTP request
   * for each. Null too where no node has an HTTP API.
   */
  activated(addresses: readonly Address[]): ChainResult<number | null>
  /** `decimals()` of a token contract. `quorum` nodes agree on it. */
  decimals(contract: Address): ChainResult<number>
  /** HTTP requests to nodes that this invocation has left. */
  requestsLeft(): number
}
