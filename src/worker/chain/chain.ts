import type { Uid } from '../common/ids.ts'
import type { QueryFailure, Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Address } from './address.ts'
import type { Asset, BlockHeight, BlockRef, Header, Log, Position, Txid } from './block.ts'
import type { NodeStatus } from './node-status.ts'

/** Most blocks of one read: `getblockbylimitnext` gives at most 100 (PROTOCOL.md, HTTP API). */
export const readBlocksMax = 100
/** Most receipts of one call, which is one batch. */
export const receiptsMax = 18
/** Most addresses of one balance query. This is BIP-44's gap limit, and the most addresses that a user has without a deposit. */
export const balancesMax = 20

/** Why the chain could not be read. None of these means "no deposits". */
export type ChainFailure =
  /** Too few usable nodes replied. `why` names nodes by number and is for the log and alarms only. */
  | { readonly kind: 'no-answer'; readonly why: string }
  /** The nodes' replies about `about` differ. An alarm has both replies. */
  | { readonly kind: 'disagreement'; readonly about: string }
  /** A finalized block does not follow the one before it. An operator must decide. */
  | { readonly kind: 'forked'; readonly at: BlockHeight }
  /** An allowance has no room: that of the nodes, of all users together, or of this user. There is room again in about `seconds`. */
  | { readonly kind: 'limited'; readonly whose: 'nodes' | 'callers' | 'caller'; readonly seconds: number }
  /** The time of this piece of work is used up; the next one continues. `why` names nodes, as above, if they are the cause. */
  | { readonly kind: 'out-of-time'; readonly why?: string }

/** The result of one read of the chain. A failure never means "no deposits". */
export type ChainResult<T> = Promise<Result<T, ChainFailure>>

/** The newest final block, and which nodes are behind. */
export interface AgreedHead {
  readonly header: Header
  /**
   * Labels of nodes that were asked and are behind: their finalized head is old, or more than a minute of blocks below the newest one. With the height of that
   * head; null if they showed none.
   */
  readonly behind: readonly { readonly node: string; readonly height: BlockHeight | null }[]
}

/** Money that a transaction moved. It is proven if it comes from final blocks, because `quorum` nodes agree on it. */
export interface ChainTransfer {
  readonly txid: Txid
  readonly position: Position
  readonly asset: Asset
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly amount: bigint
}

/** An act of a token's issuer, shown by a log of its contract. Nodes agree on it as on transfers. */
export interface IssuerAct {
  readonly txid: Txid
  /** The index of the transaction in its block, and of the log in the transaction. They give the order of acts. */
  readonly index: number
  readonly position: number
  readonly contract: Address
  readonly kind: 'frozen' | 'released' | 'destroyed' | 'paused' | 'unpaused' | 'fee-set' | 'deprecated'
  /** The address whose tokens are frozen, released or destroyed, or the successor of a deprecated token. Null for other acts. */
  readonly address: Address | null
  /** In chain units: the destroyed amount, or the highest fee of a transfer. Null for other acts. */
  readonly amount: bigint | null
  /** The fee of a transfer in hundredths of a percent. Null for other acts. */
  readonly basisPoints: bigint | null
}

/** A transaction and its sender, who may pay a fee in TRX for it, whatever it does. */
export interface SentTransaction {
  readonly txid: Txid
  readonly owner: Address
  readonly succeeded: boolean
}

/** The TRX that contracts sent in a transaction; or `not-shown` if too few nodes show its internal transactions, which nodes need not keep. */
export type InternalReading =
  | { readonly kind: 'shown'; readonly transfers: readonly ChainTransfer[] }
  | { readonly kind: 'not-shown' }

/**
 * A block that was read, with all transfers of TRX and of configured tokens, in order, whoever is concerned. In transactions of the payout address, the
 * transfers of any token are included.
 */
export interface ReadBlock {
  readonly kind: 'read'
  readonly header: Header
  readonly transfers: readonly ChainTransfer[]
  /** Acts of accepted tokens' issuers in the block. Like token transfers, they are missing if `callsToRead` is not null. */
  readonly acts: readonly IssuerAct[]
  /** All transactions in the block that have a sender. */
  readonly sent: readonly SentTransaction[]
  /**
   * Null if all logs were read. Otherwise the block has more logs than a reply holds, so its token transfers are missing. These are its successful contract
   * calls, whose receipts contain them.
   */
  readonly callsToRead: readonly Txid[] | null
}

/** A block of the range, or a height whose block the nodes do not agree on. */
export type BlockReading = ReadBlock | { readonly kind: 'not-agreed'; readonly height: BlockHeight }

/** All token transfers of some transactions, the acts of issuers in them, and the transactions of which no node gave a readable receipt. */
export interface ReceiptReading {
  readonly transfers: readonly ChainTransfer[]
  readonly acts: readonly IssuerAct[]
  readonly unreadable: readonly Txid[]
}

/**
 * Blocks after a known one, from one node: information for users, never money. None of them is in the future, and there are no more of them above the final
 * head than there were slots. Everything else in them may be invented.
 */
export interface Tail {
  /** The number of the node that gave the blocks. */
  readonly node: number
  /** The height of the node's newest block. */
  readonly latest: BlockHeight
  /** Whether the first block is a child of the known one. If not, the known one has left the chain, and `blocks` is empty. */
  readonly follows: boolean
  readonly blocks: readonly ReadBlock[]
}

/** The location of a transaction. */
export type TransactionLocation =
  | { readonly kind: 'unknown' }
  /** Nodes have received it, but no block contains it yet. */
  | { readonly kind: 'unmined' }
  | { readonly kind: 'mined'; readonly height: BlockHeight }

/** One final transaction, with everything that explains why it credits nothing to a user. `quorum` nodes agree on all of it. */
export interface TransactionReading {
  readonly header: Header
  readonly succeeded: boolean
  /** Whether it ran code of a contract, which may have sent TRX. */
  readonly isCall: boolean
  /** Number of the contract type in the chain's protocol, from the transaction's bytes. */
  readonly contractType: number
  /** The sender; null for types without an owner. */
  readonly owner: Address | null
  /** The target that it names: a recipient, a receiver or a contract; null if the type has none. */
  readonly target: Address | null
  /** All transfers in it that could be parsed. */
  readonly transfers: readonly ChainTransfer[]
  /** All of its logs; empty if it failed. */
  readonly logs: readonly Log[]
  /** False if this service cannot parse its bytes or its receipt: then `transfers` may be incomplete. */
  readonly isWhole: boolean
}

/**
 * The chain as `TRON_QUORUM` nodes agree on it, for one piece of work. Its time is limited when it is opened, its requests by the allowances of the nodes.
 * Every method may fail with `out-of-time` or `limited`.
 */
export interface Chain {
  /**
   * The newest block that is final for `quorum` nodes with the same hash. It may be lower than an earlier one, so the caller keeps the highest. A head in the
   * future, or with more blocks above `stored` than slots of `blockSeconds` since then, counts as a failure of its node.
   */
  finalizedHead(stored: { readonly height: BlockHeight; readonly time: number } | null): ChainResult<AgreedHead>
  /**
   * Final blocks from `from` on, in order and without a gap: at least one, up to `to`, and as many as fit into one reply. The parent of each block that is read
   * is the block before it. `quorum` nodes show the same transfers in it.
   */
  finalBlocks(from: BlockHeight, to: BlockHeight): ChainResult<readonly BlockReading[]>
  /** Token transfers of at most `receiptsMax` successful calls of a final block, read from their receipts by `quorum` nodes. */
  receiptTransfers(block: BlockRef, txids: readonly Txid[]): ChainResult<ReceiptReading>
  /** Blocks after `known`, oldest first, from one node. They must be plausible above `head`, the finalized head. */
  tail(known: BlockRef, head: Header): ChainResult<Tail>
  /** Finds a transaction. `unknown` requires replies from at least `quorum` nodes, and no failed node. */
  locate(txid: Txid): ChainResult<TransactionLocation>
  /** Reads a transaction of the final block at `height`, in the same way as `finalBlocks`. Null if the block does not contain it. */
  finalTransaction(txid: Txid, height: BlockHeight): ChainResult<TransactionReading | null>
  /**
   * TRX that contracts sent in a successful transaction of the final block at `height`, each with its position. `quorum` nodes show the same internal
   * transactions.
   */
  internalTransfers(txid: Txid, height: BlockHeight): ChainResult<InternalReading>
  /** The newest balances by one node, in the order requested, in chain units. One HTTP request for `balancesMax` addresses. */
  balances(addresses: readonly Address[], asset: Asset): ChainResult<readonly bigint[]>
  /**
   * The newest balances of one address, in the order of the assets, in chain units. Of the balances that nodes show, the `quorum`-th smallest counts. Asks
   * twice the quorum less one nodes, one request each.
   */
  holdings(address: Address, assets: readonly Asset[]): ChainResult<readonly bigint[]>
  /** The index of the first of at most `balancesMax` addresses that holds an asset according to any of `quorum` nodes, or null. */
  holder(addresses: readonly Address[], asset: Asset): ChainResult<number | null>
  /** Whether the account of this address exists, according to the HTTP API of any of `quorum` nodes. */
  activated(address: Address): ChainResult<boolean>
  /**
   * Broadcasts a signed transaction (hex digits) through one node. Turn 0 takes the healthy node with the quickest answers, each later turn another node; if a
   * node does not answer, the next one is tried. Returns the node's answer for the operator; it proves nothing.
   */
  broadcast(transaction: string, turn: number): ChainResult<SendingReply>
  /**
   * Reports that a node has shown `transfers` transfers that are in no final block. If there are more in an hour than a fork can explain, all other nodes are
   * used first for a while, and an alarm names the node.
   */
  noteFalse(node: number, transfers: number): void
  /** `decimals()` of a token contract. `quorum` nodes agree on it. */
  decimals(contract: Address): ChainResult<number>
}

/** A node's answer to a broadcast. */
export interface SendingReply {
  /** The number of the node, and its name for people. */
  readonly node: number
  readonly name: string
  /** The node's word, such as `SUCCESS` or `SIGERROR`. */
  readonly code: string
}

/**
 * Whose share of the nodes' allowances pays for requests. `tick` comes first. Users and the `sending` of payouts have shares of the rest. `leftover` takes
 * requests that nobody else needs.
 */
export type RequestQuota =
  | { readonly kind: 'tick' }
  | { readonly kind: 'sending' }
  | { readonly kind: 'leftover' }
  | { readonly kind: 'caller'; readonly uid: number }

/** Why the scan for which a call waited is not caught up. */
export type ScanProblem = 'no-answer' | 'disagreement' | 'forked' | 'limited' | 'out-of-time' | 'still-running'

/** The outcome of the scan for which a call waited. */
export interface ScanAnswer {
  readonly problem: ScanProblem | null
  /** When the call began, by the clock that also dates credits. */
  readonly since: UnixMs
}

/** The answer to a user whose deposits in a transaction are credited. */
export interface CreditAnswer {
  /** Whether this request credited them, or they were credited before. */
  readonly when: 'credited' | 'already'
  /** Why the user's other transfers in it are not credited: one sentence for each. */
  readonly uncredited: readonly string[]
  /** Whether the TRX that contracts sent in it cannot be read now. The user may ask again. */
  readonly isUnread: boolean
}

/** What the owner of a transaction would be told about it. */
export interface TransactionFinding {
  /** The user whom the transaction concerns, or null. */
  readonly uid: Uid | null
  /** `creditable`: it is final, and would be credited if its owner asked. */
  readonly answer: 'credited' | 'creditable' | QueryFailure
  /** Why other transfers in it to this user are not credited. */
  readonly uncredited: readonly string[]
  /** Whether the TRX that contracts sent in it cannot be read now. */
  readonly isUnread: boolean
}

/** The calls from the Worker to the scanner, which is the only part that talks to nodes. The requests of a call count against its user's share. */
export interface ScannerCalls {
  /** Makes sure that a next tick is set. The cron trigger calls it. */
  wake(): Promise<void>
  /**
   * Makes sure that an address may be issued: the scan has started, and no other database has used the key. `firstIndex` is that of the Worker. During a
   * deployment it may differ from the scanner's; then the call is refused.
   */
  prepareIssue(uid: Uid, firstIndex: number | null): Promise<Result<null, QueryFailure>>
  /** The newest balances of a user's addresses in one asset from one node, in the order given, in chain units. */
  balances(uid: Uid, addresses: readonly Address[], asset: Asset): Promise<Result<readonly bigint[], QueryFailure>>
  /** Waits for a scan that is fresh enough: it began at or after the call, or ended less than a block time before it. */
  scanNow(uid: Uid): Promise<Result<ScanAnswer, QueryFailure>>
  /** Credits the user's transfers in one transaction, or says why there is nothing to credit. Nodes are asked only about what is not decided. */
  checkTransaction(uid: Uid, txid: Txid): Promise<Result<CreditAnswer, QueryFailure>>
  /** Sends due transactions of payouts. Returns once they are sent. */
  sendPayouts(): Promise<void>
  /** Notes the newest event of the database, so that a restored older copy is noticed. */
  noteWrite(): Promise<void>
  /** Whether payouts are stopped because the database is an older copy, or may be one. */
  isRestored(): Promise<boolean>
  /** Finds what the owner of a transaction would be told, and credits nothing. All such calls together have the share of one user. */
  lookUpTransaction(txid: Txid): Promise<Result<TransactionFinding, QueryFailure>>
  /** The status of the nodes, in order, as this object knows it. No node is asked. */
  nodes(): Promise<readonly NodeStatus[]>
}

/** The calls from scanners to the memory that the cells of a deployment share. */
export interface SharedBlocks {
  /**
   * The value under this key, at most `keptMs` old. Null if there is none: then the caller must read it and `give` it. Others that ask meanwhile wait.
   */
  take(key: string, keptMs: number): Promise<{ readonly value: unknown } | null>
  /** Gives the value of a key to the callers that wait for it and to later ones; null if it could not be read. */
  give(key: string, value: unknown): Promise<void>
}
