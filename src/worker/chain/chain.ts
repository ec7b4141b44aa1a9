import type { Uid } from '../common/ids.ts'
import type { QueryFailure, Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Address } from './address.ts'
import type { Asset, BlockHeight, BlockRef, Header, Log, Position, Txid } from './block.ts'
import type { NodeStatus } from './node-status.ts'

/** Most blocks of one read: `getblockbylimitnext` gives at most 100 (PROTOCOL.md, HTTP API). */
export const readBlocksMax = 100
/**
 * Most transactions of one call of `receiptTransfers`: their receipts fit into one JSON-RPC batch.
 */
export const receiptsMax = 18
/**
 * Most addresses of one call of `balances`: as many as BIP-44's gap limit, so one request shows
 * whether an extended public key was used.
 */
export const balancesMax = 20

/** Why the chain could not be read. None of these means "no deposits". */
export type ChainFailure =
  /**
   * Too few usable nodes replied. `why` names nodes by number and is for the log and alarms only.
   */
  | { readonly kind: 'no-answer'; readonly why: string }
  /** Nodes gave different replies about what `about` names. An alarm has these replies. */
  | { readonly kind: 'disagreement'; readonly about: string }
  /** A finalized block does not follow the one before it. An operator must decide. */
  | { readonly kind: 'forked'; readonly at: BlockHeight }
  /**
   * An allowance of requests to nodes is used up: that of the nodes, of all users, or of this user.
   * Requests are possible again in about `seconds`.
   */
  | { readonly kind: 'limited'; readonly whose: 'nodes' | 'callers' | 'caller'; readonly seconds: number }
  /**
   * The deadline of this `Chain` has passed; the next tick or call continues. `why` names the nodes
   * that were too slow, by number, for the log only.
   */
  | { readonly kind: 'out-of-time'; readonly why?: string }

export type ChainResult<T> = Promise<Result<T, ChainFailure>>

/** The newest block on whose finality `quorum` nodes agree, and which nodes are behind. */
export interface AgreedHead {
  readonly header: Header
  /**
   * The nodes that were asked and are behind, named by `nodeName`: their finalized head is old, or
   * more than a minute of blocks below the newest one. `height` is the height of that head; null if
   * the node showed none.
   */
  readonly behind: readonly { readonly node: string; readonly height: BlockHeight | null }[]
}

/**
 * Money that a transaction moved. If its block is final, `quorum` nodes agree on it; if its block
 * is part of a `Tail`, a single node claims it.
 */
export interface ChainTransfer {
  readonly txid: Txid
  readonly position: Position
  readonly asset: Asset
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly amount: bigint
}

/**
 * An act of a token's issuer, such as freezing an address, shown by a log of the token's contract.
 * `quorum` nodes agree on it, as on transfers.
 */
export interface IssuerAct {
  readonly txid: Txid
  /**
   * The index of the transaction in its block. Acts of one block are in the order of `index`, then
   * of `position`, the index of the log in the transaction.
   */
  readonly index: number
  readonly position: number
  readonly contract: Address
  readonly kind: 'frozen' | 'released' | 'destroyed' | 'paused' | 'unpaused' | 'fee-set' | 'deprecated'
  /**
   * The address whose tokens are frozen, released or destroyed, or the successor of a deprecated
   * token. Null for other acts.
   */
  readonly address: Address | null
  /**
   * In chain units: the destroyed amount, or the highest fee of a transfer. Null for other acts.
   */
  readonly amount: bigint | null
  /** The fee of a transfer in hundredths of a percent. Null for other acts. */
  readonly basisPoints: bigint | null
}

/**
 * A transaction and its sender (`owner`), who may pay a fee in TRX for it, even if it fails or
 * moves no money.
 */
export interface SentTransaction {
  readonly txid: Txid
  readonly owner: Address
  readonly succeeded: boolean
  /** The chain's word for how it ended, such as `SUCCESS` or `OUT_OF_ENERGY`. */
  readonly result: string
}

/** What a transaction has cost its sender. */
export interface TransactionCost {
  /** All sun that it burnt. */
  readonly burnt: number
  /** All energy that it used, staked or bought. */
  readonly energy: number
}

/**
 * The TRX that contracts sent in a transaction; or `not-shown` if too few nodes show its internal
 * transactions, which nodes need not keep.
 */
export type InternalReading =
  | { readonly kind: 'shown'; readonly transfers: readonly ChainTransfer[] }
  | { readonly kind: 'not-shown' }

/**
 * A block that was read, with all its transfers of TRX and of configured tokens, in order, between
 * any addresses. It also has the transfers of other tokens if they are in a transaction of a payout
 * address.
 */
export interface ReadBlock {
  readonly kind: 'read'
  readonly header: Header
  readonly transfers: readonly ChainTransfer[]
  /**
   * Acts of issuers of configured tokens. Like token transfers, they are missing if `callsToRead`
   * is not null.
   */
  readonly acts: readonly IssuerAct[]
  /**
   * The transactions in the block, each with its sender. A transaction whose contract names no
   * sender is left out.
   */
  readonly sent: readonly SentTransaction[]
  /**
   * Null if all logs were read. A list means that the block has more logs than a reply holds, so
   * `transfers` lacks its token transfers. The listed successful contract calls have them in their
   * receipts: see `receiptTransfers`. Those that look like a token transfer come first.
   */
  readonly callsToRead: readonly Txid[] | null
}

/** A block that was read, or a height whose block the nodes do not agree on. */
export type BlockReading = ReadBlock | { readonly kind: 'not-agreed'; readonly height: BlockHeight }

/**
 * What the receipts of some transactions show. `count`: of how many of them, from the first one on,
 * the receipts were read. `unreadable`: the transactions of which no node gave a readable receipt.
 */
export interface ReceiptReading {
  readonly count: number
  readonly transfers: readonly ChainTransfer[]
  readonly acts: readonly IssuerAct[]
  readonly unreadable: readonly Txid[]
}

/**
 * The blocks after a known block that are not final, as one node shows them. They only tell users
 * what is coming; nothing is credited by them. It is checked that no block is in the future, and
 * that the final head is old enough for so many blocks after it. The node may have invented
 * everything else.
 */
export interface Tail {
  /** The number of the node that gave the blocks. */
  readonly node: number
  /** The height of the node's newest block. */
  readonly latest: BlockHeight
  /**
   * Whether the node's chain continues the known block. If not, the known block has left the chain,
   * and `blocks` is empty.
   */
  readonly follows: boolean
  readonly blocks: readonly ReadBlock[]
}

/** Where a transaction is, as far as nodes know. */
export type TransactionLocation =
  | { readonly kind: 'unknown' }
  /** Nodes have received the transaction, but no block contains it yet. */
  | { readonly kind: 'unmined' }
  | { readonly kind: 'mined'; readonly height: BlockHeight }

/**
 * One final transaction, with everything that explains why it credits nothing to a user. `quorum`
 * nodes agree on all of it.
 */
export interface TransactionReading {
  readonly header: Header
  readonly succeeded: boolean
  /**
   * Whether the transaction ran a contract's code. If that code sent TRX, `internalTransfers` reads
   * it.
   */
  readonly isCall: boolean
  /** Number of the contract type (PROTOCOL.md, Contract types), from the transaction's bytes. */
  readonly contractType: number
  /** The sender; null for contract types without one. */
  readonly owner: Address | null
  /**
   * The recipient, the receiver of a resource, or the called contract; null for contract types that
   * name none.
   */
  readonly target: Address | null
  /** All transfers in the transaction that could be parsed. */
  readonly transfers: readonly ChainTransfer[]
  /** All logs of the transaction; empty if it failed. */
  readonly logs: readonly Log[]
  /**
   * False if this service cannot parse the transaction's bytes or receipt: then `transfers` may be
   * incomplete.
   */
  readonly isWhole: boolean
}

/**
 * The chain as `TRON_QUORUM` nodes agree on it, opened for one tick or one call, with a deadline
 * and a `RequestQuota`. Every method fails with `out-of-time` once the deadline has passed, and
 * with `limited` once the quota is used up.
 */
export interface Chain {
  /**
   * Finds the newest block that `quorum` nodes show as final with one hash. It may be lower than an
   * earlier result, so the caller keeps the highest. A node whose head is in the future, or higher
   * than `stored` by more blocks than fit into the time since then (one in `blockSeconds`), counts
   * as failed.
   */
  finalizedHead(stored: { readonly height: BlockHeight; readonly time: number } | null): ChainResult<AgreedHead>
  /**
   * Reads final blocks from `from` on, in order and without a gap: at least one, at most up to
   * `to`, and as many as fit into one reply. It is checked that each read block is the child of the
   * one before, and that `quorum` nodes show the same transfers in it.
   */
  finalBlocks(from: BlockHeight, to: BlockHeight): ChainResult<readonly BlockReading[]>
  /**
   * Reads the token transfers of at most `receiptsMax` successful calls in a final block from their
   * receipts, as `quorum` nodes show them: at least of the first call, and of as many as the nodes
   * give in time.
   */
  receiptTransfers(block: BlockRef, txids: readonly Txid[]): ChainResult<ReceiptReading>
  /**
   * Reads the blocks after `known`, oldest first, from one node. `head` is the finalized head: see
   * `Tail` for what is checked.
   */
  tail(known: BlockRef, head: Header): ChainResult<Tail>
  /**
   * Finds the block of a transaction. It is `unknown` only if every node has replied that it does
   * not know it.
   */
  locate(txid: Txid): ChainResult<TransactionLocation>
  /**
   * Reads a transaction of the final block at `height`, in the same way as `finalBlocks`. Null if
   * the block does not contain it.
   */
  finalTransaction(txid: Txid, height: BlockHeight): ChainResult<TransactionReading | null>
  /**
   * Reads the TRX that contracts sent in a successful transaction of the final block at `height`,
   * as `quorum` nodes show its internal transactions.
   */
  internalTransfers(txid: Txid, height: BlockHeight): ChainResult<InternalReading>
  /**
   * Reads what a transaction of the final block at `height` has cost, as `quorum` nodes show it.
   * Nodes need not keep that, as internal transactions.
   */
  cost(txid: Txid, height: BlockHeight): ChainResult<TransactionCost>
  /**
   * Reads the newest balances of at most `balancesMax` addresses from one node, in the given order,
   * in chain units, by one HTTP request.
   */
  balances(addresses: readonly Address[], asset: Asset): ChainResult<readonly bigint[]>
  /**
   * Reads the newest balances of one address, in the order of the assets, in chain units. It asks 2
   * × `quorum` − 1 nodes, one request each, and takes the `quorum`-th smallest balance of each
   * asset, so that fewer lying nodes than `quorum` can make it neither too small nor too large.
   */
  holdings(address: Address, assets: readonly Asset[]): ChainResult<readonly bigint[]>
  /**
   * Reads the energy that an address can use now from stakes, its own or delegated: the most that
   * any of `quorum` nodes shows.
   */
  energy(address: Address): ChainResult<number>
  /**
   * Returns the index of the first of at most `balancesMax` addresses of which any of `quorum`
   * nodes shows a balance above 0; null if there is none.
   */
  holder(addresses: readonly Address[], asset: Asset): ChainResult<number | null>
  /**
   * Whether any of `quorum` nodes shows an account at this address. An account stays when it is
   * emptied, so this tells that an address was used.
   */
  activated(address: Address): ChainResult<boolean>
  /**
   * Broadcasts a signed transaction (hex digits) through one node: that which has answered this
   * transaction least often and longest ago, healthy nodes before those that are behind or failing.
   * `before` says which nodes have answered it. Transactions that no node has answered are spread
   * over the healthy nodes. If a node does not answer, the next one is tried. The answer is for
   * operators; it proves nothing.
   */
  broadcast(transaction: string, before: readonly NodeSendings[]): ChainResult<SendingReply>
  /**
   * Called when `transfers` transfers that this node showed in a `Tail` have turned out to be in no
   * final block. If there are more in an hour than a fork can explain, all other nodes are used
   * before this node for some hours, and an alarm names this node.
   */
  noteFalse(node: number, transfers: number): void
  /**
   * Asks nodes that have given no block for a minute what a scan needs of them, so that their state
   * is known. `stored` as for `finalizedHead`.
   */
  checkNodes(stored: { readonly height: BlockHeight; readonly time: number }): Promise<void>
  /** Reads `decimals()` of a token contract, as `quorum` nodes agree on it. */
  decimals(contract: Address): ChainResult<number>
}

/** How often a node has answered the broadcasts of a transaction, and when it did last. */
export interface NodeSendings {
  /** The number of the node. */
  readonly node: number
  readonly times: number
  readonly at: UnixMs
}

export interface SendingReply {
  /** The number of the node, and its name for people. */
  readonly node: number
  readonly name: string
  /** The node's code for the result, such as `SUCCESS` or `SIGERROR`. */
  readonly code: string
}

/**
 * Whose share of the nodes' allowances pays for requests. Ticks (`tick`) come first. The broadcasts
 * of payouts (`sending`) and users (`caller`) have shares of what ticks do not need. Looks at the
 * tail while somebody waits for a payment (`look`) leave both room; `node` is the number of the
 * node that is asked first. Work that can wait, such as comparing balances, uses only requests that
 * nobody else needs (`leftover`).
 */
export type RequestQuota =
  | { readonly kind: 'tick' }
  | { readonly kind: 'sending' }
  | { readonly kind: 'look'; readonly node: number }
  | { readonly kind: 'leftover' }
  | { readonly kind: 'caller'; readonly uid: number }

/**
 * Why the scan for which a call waited has not reached the newest final block. `still-running`: the
 * call stopped waiting. Others: see `ChainFailure`.
 */
export type ScanProblem = 'no-answer' | 'disagreement' | 'forked' | 'limited' | 'out-of-time' | 'still-running'

/**
 * The outcome of the scan for which a call waited. `problem` is null if the scan ended well, or has
 * never started.
 */
export interface ScanAnswer {
  readonly problem: ScanProblem | null
  /** When the call began, by the clock that also dates credits. */
  readonly since: UnixMs
}

export interface CreditAnswer {
  /**
   * `credited`: this call has credited the user's deposits in the transaction. `already`: they were
   * credited before.
   */
  readonly when: 'credited' | 'already'
  /** Why the user's other transfers in the transaction are not credited: one sentence for each. */
  readonly uncredited: readonly string[]
  /**
   * True if the TRX that contracts sent in the transaction could not be read now, so that a deposit
   * may be missing. The user may ask again.
   */
  readonly isUnread: boolean
}

/**
 * Whether transfers of a user may have changed. What is read now is at least as new as `mark`,
 * which the next call names.
 */
export interface DepositsChange {
  readonly isChanged: boolean
  readonly mark: string
}

/** What `checkTransaction` would tell the user whom a transaction concerns, for support. */
export interface TransactionFinding {
  /** The user whom the transaction concerns; null if it concerns none. */
  readonly uid: Uid | null
  /** `creditable`: the transaction is final, and would be credited if its owner asked. */
  readonly answer: 'credited' | 'creditable' | QueryFailure
  /**
   * Why other transfers to this user in the transaction are not credited: one sentence for each.
   */
  readonly uncredited: readonly string[]
  /**
   * True if the TRX that contracts sent in the transaction could not be read now, so that a
   * transfer may be missing in the answer.
   */
  readonly isUnread: boolean
}

/**
 * The calls from the Worker to the scanner's Durable Object, the only part that talks to nodes. A
 * call's requests to nodes count against its user's share.
 */
export interface ScannerCalls {
  /**
   * Sets the object's alarm for a tick unless it is set already. The cron trigger calls this every
   * minute.
   */
  wake(): Promise<void>
  /**
   * Says that somebody waits for a payment: for `expectedMs` from now the tail is read with each
   * block (`scan/looks.ts`).
   */
  expectPayment(): Promise<void>
  /**
   * Waits, for a page that shows an address, until a transfer of the user may have changed since
   * `mark`, at most `ms` milliseconds. Says at once that it may have, if it cannot say that it has
   * not. Somebody who calls this waits for a payment.
   */
  waitForDeposit(uid: Uid, mark: string | null, ms: number): Promise<DepositsChange>
  /**
   * Makes sure that an address may be issued: the scan has started, and no other database has used
   * `TRON_XPUB`. `firstIndex` is the `TRON_FIRST_INDEX` of the calling Worker. While a deployment
   * replaces the old code, the scanner may still have another value. If so, the call is refused.
   */
  prepareIssue(uid: Uid, firstIndex: number | null): Promise<Result<null, QueryFailure>>
  /**
   * Reads the newest balances of a user's addresses in one asset from one node, in the given order,
   * in chain units.
   */
  balances(uid: Uid, addresses: readonly Address[], asset: Asset): Promise<Result<readonly bigint[], QueryFailure>>
  /**
   * Waits for a scan that is fresh enough: it began at or after the call, or ended less than a
   * block time before it.
   */
  scanNow(uid: Uid): Promise<Result<ScanAnswer, QueryFailure>>
  /**
   * Credits the user's transfers in one transaction, or says why there is nothing to credit. It
   * asks nodes only if the database does not have the answer.
   */
  checkTransaction(uid: Uid, txid: Txid): Promise<Result<CreditAnswer, QueryFailure>>
  /** Broadcasts the transactions of payouts that are due, and returns once nodes have them. */
  sendPayouts(): Promise<void>
  /**
   * Stores the number of the database's newest event in the object. Called after a write, so that a
   * database restored from an older copy is noticed.
   */
  noteWrite(): Promise<void>
  /**
   * Whether payouts are stopped because the database was, or may have been, restored from an older
   * copy.
   */
  isRestored(): Promise<boolean>
  /**
   * For support: finds what the owner of a transaction would be told, and credits nothing. All such
   * calls together have the share of one user.
   */
  lookUpTransaction(txid: Txid): Promise<Result<TransactionFinding, QueryFailure>>
  /** The status of the nodes in the order of `TRON_NODES`, from memory: no node is asked. */
  nodes(): Promise<readonly NodeStatus[]>
}

/**
 * The memory in which the cells of a deployment (a database and a scanner each) share the blocks
 * that their scanners have read.
 */
export interface SharedBlocks {
  /**
   * Returns the value under this key if it is at most `keptMs` old. Null tells the caller to read
   * it from nodes and to call `give`, also after a failure; other callers with this key wait for
   * that.
   */
  take(key: string, keptMs: number): Promise<{ readonly value: unknown } | null>
  /**
   * Gives the value of a key to the callers that wait for it and to later ones. Null says that the
   * value could not be read; callers that wait get null.
   */
  give(key: string, value: unknown): Promise<void>
}
