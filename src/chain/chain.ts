import type { Address } from '../addresses/address.ts'
import type { Result } from '../common/result.ts'
import type { Asset } from '../ledger/asset.ts'
import type { Block, BlockHeight, BlockRef, Header, Receipt, Transaction, Txid } from './block.ts'
import type { ChainFailure } from './failure.ts'

/** How one question to the chain came out. A failure is never "no deposits". */
export type ChainResult<T> = Promise<Result<T, ChainFailure>>

/** A transaction that the nodes know. */
export type TransactionLocation =
  | { readonly kind: 'unknown' }
  /** Known, in no block yet. */
  | { readonly kind: 'unmined' }
  | { readonly kind: 'mined'; readonly block: BlockRef; readonly transaction: Transaction }

/** The blocks after the finalized head as one node sees them now: news, never money. */
export interface UnconfirmedBlocks {
  readonly latest: BlockHeight
  readonly blocks: readonly Block[]
}

/** A transaction's own bytes. SHA-256 of them is the txid that was asked for: checked before they get here. */
export type TransactionBytes = Uint8Array

/**
 * The chain as `TRON_QUORUM` nodes agree on it. Made for one invocation: its deadline and its number of requests
 * are fixed at creation, and every call may answer `out-of-budget`.
 */
export interface Chain {
  /**
   * The newest block that is final for `quorum` nodes, which agree on its hash. It can be lower than an earlier
   * answer (another node, another time): the caller never lets its own knowledge go backwards.
   */
  finalizedHead(): ChainResult<Header>
  /**
   * Blocks `from`..`to` (both included, at most `readBlocksMax`), in order, each one's parent being the one before.
   * Every one is final for `quorum` nodes and has the same hash there, and as many logs of accepted tokens.
   * `to` past their finalized head is `no-answer`.
   */
  finalizedBlocks(from: BlockHeight, to: BlockHeight): ChainResult<readonly Block[]>
  /** Blocks after `after`, at most `readBlocksMax` of them. One node's word. */
  unconfirmedBlocks(after: BlockHeight): ChainResult<UnconfirmedBlocks>
  /**
   * The receipts of mined transactions, `quorum` nodes agreeing on each one's block, status and logs. An answer
   * holds every txid asked for (at most `receiptsMax`). A null receipt is `no-answer`.
   */
  receipts(asked: readonly { readonly txid: Txid; readonly block: BlockRef }[]): ChainResult<ReadonlyMap<Txid, Receipt>>
  /** The bytes of a transaction, from any node's HTTP API. `null` where no node has an API configured. */
  transactionBytes(txid: Txid): ChainResult<TransactionBytes | null>
  /** Where a transaction is. `unknown` only where every node that could be asked answered, and none knows it. */
  locateTransaction(txid: Txid): ChainResult<TransactionLocation>
  /**
   * What addresses hold now by one node's newest view, in the order asked, in chain units. One HTTP request for
   * up to `balancesMax` addresses.
   */
  balances(addresses: readonly Address[], asset: Asset): ChainResult<readonly bigint[]>
  /** `decimals()` of a token contract, `quorum` nodes agreeing. */
  decimals(contract: Address): ChainResult<number>
  /** HTTP requests to nodes that this invocation may still make. */
  requestsLeft(): number
}

/** Whether at least one node has an HTTP API is configuration; `hasApi` spares a call. */
export interface ChainFacts {
  readonly hasApi: boolean
  /** Nodes that must agree. 1 means internal consistency only, and /health says so. */
  readonly quorum: number
}
