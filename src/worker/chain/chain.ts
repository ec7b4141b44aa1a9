import type { Uid } from '../common/ids.ts'
import type { QueryFailure, Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Address } from './address.ts'
import type { Asset, BlockHeight, BlockRef, Header, Log, Position, Txid } from './block.ts'
import type { NodeReport } from './node-report.ts'

/** Blocks of one read: `getblockbylimitnext` gives at most 100 (PROTOCOL.md, HTTP API). */
export const readBlocksMax = 100
/** Receipts of one call: one batch. */
export const receiptsMax = 18
/** Addresses of one balance query. This is BIP-44's gap limit, and the most addresses that one caller has without a deposit. */
export const balancesMax = 20

/** Why the chain could not be read. None of these means "no deposits". */
export type ChainFailure =
  /** Too few usable nodes replied. `why` names nodes by number and is for the log and alarms only. */
  | { readonly kind: 'no-answer'; readonly why: string }
  /** The nodes' replies about `about` differ. An alarm has both replies. */
  | { readonly kind: 'disagreement'; readonly about: string }
  /** A finalized block does not follow the one before it. An operator has to decide. */
  | { readonly kind: 'forked'; readonly at: BlockHeight }
  /** An allowance has no room: of the nodes, of all callers together, or of this caller. Room again in about `seconds`. */
  | { readonly kind: 'limited'; readonly whose: 'nodes' | 'callers' | 'caller'; readonly seconds: number }
  /** The time of this piece of work is used up. The next one continues. `why`, where nodes are the reason: as above. */
  | { readonly kind: 'out-of-time'; readonly why?: string }

/** The result of one read of the chain. A failure never means "no deposits". */
export type ChainResult<T> = Promise<Result<T, ChainFailure>>

/** The newest final block, and which nodes are behind. */
export interface AgreedHead {
  readonly header: Header
  /**
   * Nodes, in words, that were asked and whose finalized head is more than a minute of blocks below the newest one, or old, with its
   * height; null where they gave none.
   */
  readonly behind: readonly { readonly node: string; readonly height: BlockHeight | null }[]
}

/** Money that a transaction moved: proven where it comes from final blocks, since `quorum` nodes agree on it. */
export interface ChainTransfer {
  readonly txid: Txid
  readonly position: Position
  readonly asset: Asset
  readonly from: Address
  readonly to: Address
  /** Chain units, positive. */
  readonly amount: bigint
}

/** What the issuer of a token has done, by a log of its contract; agreed as transfers are. */
export interface IssuerAct {
  readonly txid: Txid
  /** The place of the transaction in its block, and of the log in the transaction: the order of acts. */
  readonly index: number
  readonly position: number
  readonly contract: Address
  readonly kind: 'frozen' | 'released' | 'destroyed' | 'paused' | 'unpaused' | 'fee-set' | 'deprecated'
  /** Whose tokens are frozen, released or destroyed; the successor of a deprecated token. Null otherwise. */
  readonly address: Address | null
  /** Chain units: what was destroyed, or the highest fee of a transfer. Null otherwise. */
  readonly amount: bigint | null
  /** The fee of a transfer in hundredths of a percent. Null otherwise. */
  readonly basisPoints: bigint | null
}

/** A transaction, and the address that sent it: it costs a fee in TRX, whatever it does. */
export interface SentTransaction {
  readonly txid: Txid
  readonly owner: Address
  readonly succeeded: boolean
}

/** TRX that contracts sent in a transaction, or that too few nodes show any internal transactions of it: they need not keep them. */
export type InternalReading =
  | { readonly kind: 'shown'; readonly transfers: readonly ChainTransfer[] }
  | { readonly kind: 'not-shown' }

/**
 * A block that was read, with all transfers of TRX and of tokens that count, in its order, whomever they concern; of a transaction of the payout
 * address those of any token.
 */
export interface ReadBlock {
  readonly kind: 'read'
  readonly header: Header
  readonly transfers: readonly ChainTransfer[]
  /** What issuers of accepted tokens did in it. Like token transfers, they are missing where `callsToRead` is not null. */
  readonly acts: readonly IssuerAct[]
  /** All of its transactions that have a sender. */
  readonly sent: readonly SentTransaction[]
  /**
   * Null where all logs were read. Otherwise the block has more logs than a reply holds, its token transfers are missing, and
   * these are its successful contract calls, whose receipts have them.
   */
  readonly callsToRead: readonly Txid[] | null
}

/** A block of the range, or a height whose block the nodes do not agree on. */
export type BlockReading = ReadBlock | { readonly kind: 'not-agreed'; readonly height: BlockHeight }

/** All token transfers of some transactions, what issuers did in them, and those that no node gave a readable receipt of. */
export interface ReceiptReading {
  readonly transfers: readonly ChainTransfer[]
  readonly acts: readonly IssuerAct[]
  readonly unreadable: readonly Txid[]
}

/**
 * Blocks after a known one, from one node: information for callers, never money. None of them is from the future, nor more blocks
 * above the final head than there were slots. Everything else in them can be invented.
 */
export interface Tail {
  /** The number of the node. */
  readonly node: number
  /** The newest block of the node. */
  readonly latest: BlockHeight
  /** Whether the first block is the child of the known one. False: the known one has left the chain, and `blocks` is empty. */
  readonly follows: boolean
  readonly blocks: readonly ReadBlock[]
}

/** Where a transaction is. */
export type TransactionLocation =
  | { readonly kind: 'unknown' }
  /** Received by nodes, in no block yet. */
  | { readonly kind: 'unmined' }
  | { readonly kind: 'mined'; readonly height: BlockHeight }

/** One final transaction, with what explains why it is worth nothing to a caller. `quorum` nodes agree on all of it. */
export interface TransactionReading {
  readonly header: Header
  readonly succeeded: boolean
  /** Whether it ran code of a contract, which can have sent TRX. */
  readonly isCall: boolean
  /** Number of the contract type in the chain's protocol, from the transaction's bytes. */
  readonly contractType: number
  /** Who sent it; null for types without an owner. */
  readonly owner: Address | null
  /** Whom it names as its target: a recipient, a receiver or a contract; null where the type has none. */
  readonly target: Address | null
  /** All transfers in it that could be read. */
  readonly transfers: readonly ChainTransfer[]
  /** All of its logs. Empty where it failed. */
  readonly logs: readonly Log[]
  /** False if this service cannot read its bytes or its receipt: `transfers` can lack some then. */
  readonly isWhole: boolean
}

/**
 * The chain as `TRON_QUORUM` nodes agree on it, for one piece of work. Its time is limited when it is opened, and its requests
 * by the allowances of the nodes. Every method can fail with `out-of-time` and `limited`.
 */
export interface Chain {
  /**
   * The newest block that is final for `quorum` nodes with the same hash. It can be lower than an earlier one, so the caller keeps
   * the highest. A head ahead of the clock, or with more blocks above `stored` than slots of `blockSeconds` between the time of
   * `stored` and the clock, is that node's failure.
   */
  finalizedHead(stored: { readonly height: BlockHeight; readonly time: number } | null): ChainResult<AgreedHead>
  /**
   * Final blocks from `from` on, in order and without a hole, at least one and at most up to `to`: as many as fit into one reply. Each one
   * that is read has the block before it as its parent. `quorum` nodes have the same transfers in it.
   */
  finalBlocks(from: BlockHeight, to: BlockHeight): ChainResult<readonly BlockReading[]>
  /** Token transfers of at most `receiptsMax` successful calls of a final block, read from their receipts by `quorum` nodes. */
  receiptTransfers(block: BlockRef, txids: readonly Txid[]): ChainResult<ReceiptReading>
  /** Blocks after `known`, oldest first, from one node. `head` is the finalized head: they must be plausible above it. */
  tail(known: BlockRef, head: Header): ChainResult<Tail>
  /** Where a transaction is. `unknown` requires a reply from at least `quorum` nodes and no failed node. */
  locate(txid: Txid): ChainResult<TransactionLocation>
  /** A transaction of the final block at `height`, read in the same way as `finalBlocks`. Null if the block does not have it. */
  finalTransaction(txid: Txid, height: BlockHeight): ChainResult<TransactionReading | null>
  /**
   * TRX that contracts sent in a successful transaction of the final block at `height`, with the position of each. `quorum` nodes
   * show the same internal transactions.
   */
  internalTransfers(txid: Txid, height: BlockHeight): ChainResult<InternalReading>
  /** The newest balances by one node, in the order requested, in chain units. One HTTP request for `balancesMax` addresses. */
  balances(addresses: readonly Address[], asset: Asset): ChainResult<readonly bigint[]>
  /**
   * The newest balances of one address, in the order of the assets, in chain units: of those that nodes show, the `quorum`-th smallest.
   * One request to each of twice the quorum less one nodes.
   */
  holdings(address: Address, assets: readonly Asset[]): ChainResult<readonly bigint[]>
  /** The index of the first of at most `balancesMax` addresses that holds an asset by any of `quorum` nodes, or null. */
  holder(addresses: readonly Address[], asset: Asset): ChainResult<number | null>
  /** Whether the account of this address exists, by the HTTP API of any of `quorum` nodes. */
  activated(address: Address): ChainResult<boolean>
  /**
   * Sends a signed transaction, hex digits, to one node: at first (`turn` 0) to the one that is well and quickest, then to another one each
   * turn, and to the next one if that does not answer. Returns what the node says, for the operator: it proves nothing.
   */
  broadcast(transaction: string, turn: number): ChainResult<SendingReply>
  /**
   * So many transfers that a node has shown above the final blocks are not in them. After more than a fork of the newest blocks can
   * have in an hour, all others are used before it for a while, and an alarm names it.
   */
  noteFalse(node: number, transfers: number): void
  /** `decimals()` of a token contract. `quorum` nodes agree on it. */
  decimals(contract: Address): ChainResult<number>
}

/** What a node says about a transaction that was sent to it. */
export interface SendingReply {
  /** Its number, and what people call it. */
  readonly node: number
  readonly name: string
  /** The node's word, such as `SUCCESS` or `SIGERROR`. */
  readonly code: string
}

/**
 * Who pays for requests out of the nodes' allowances. `tick` comes first, the `sending` of payouts and a caller have shares of what ticks
 * leave, and `leftover` takes what nobody needs.
 */
export type Payer =
  | { readonly kind: 'tick' }
  | { readonly kind: 'sending' }
  | { readonly kind: 'leftover' }
  | { readonly kind: 'caller'; readonly uid: number }

/** Why a scan that answered a call is not caught up. */
export type ScanProblem = 'no-answer' | 'disagreement' | 'forked' | 'limited' | 'out-of-time' | 'still-running'

/** How the scan ended that answers a call. */
export interface ScanAnswer {
  readonly problem: ScanProblem | null
  /** When the call began, by the clock that credits are stored with. */
  readonly since: UnixMs
}

/** The caller's deposits of a transaction are credited. */
export interface CreditAnswer {
  /** Whether the question has credited them, or something before it. */
  readonly when: 'credited' | 'already'
  /** Why the caller's other transfers in it are not credited: one sentence for each. */
  readonly uncredited: readonly string[]
  /** Whether it cannot be read now what contracts have sent in it: the caller can ask again. */
  readonly isUnread: boolean
}

/** What the owner of a transaction would be answered about it. */
export interface TransactionFinding {
  /** The user whom it concerns, or null. */
  readonly uid: Uid | null
  /** `creditable`: it is final and would be credited by the question of its owner. */
  readonly answer: 'credited' | 'creditable' | QueryFailure
  /** Why other transfers in it to this user are not credited, if some are. */
  readonly uncredited: readonly string[]
  /** Whether it cannot be read now what contracts have sent in it. */
  readonly isUnread: boolean
}

/** What the Worker asks of the scanner, the only place that talks to nodes. Each call is charged to its caller by its requests. */
export interface ScannerCalls {
  /** Makes sure that the next tick is due: the cron calls it. */
  wake(): Promise<void>
  /**
   * Makes sure that an address may be issued: the scan has started, and the key was never used by another database.
   * `firstIndex` is that of the Worker: during a deployment it can be older than the scanner, and is refused then.
   */
  prepareIssue(uid: Uid, firstIndex: number | null): Promise<Result<null, QueryFailure>>
  /** The newest balances of a caller's addresses in one asset, in the order given, in chain units, by one node. */
  balances(uid: Uid, addresses: readonly Address[], asset: Asset): Promise<Result<readonly bigint[], QueryFailure>>
  /** Returns when a scan that began at or after the call, or that ended less than a block time before it, has ended. */
  scanNow(uid: Uid): Promise<Result<ScanAnswer, QueryFailure>>
  /**
   * Credits the caller's transfers in one transaction, which is read from the nodes where it is not decided yet, or says why
   * there is nothing to credit.
   */
  checkTransaction(uid: Uid, txid: Txid): Promise<Result<CreditAnswer, QueryFailure>>
  /** Sends what was handed in for payouts and is due. Returns when it was sent. */
  sendPayouts(): Promise<void>
  /** Notes the newest event of the database: a copy from before it is noticed then. */
  noteWrite(): Promise<void>
  /** Whether payouts are stopped because the database is an older copy, or may be one. */
  isRestored(): Promise<boolean>
  /** What the owner of a transaction would be answered. Nothing is credited, and its requests are those of one more caller. */
  lookUpTransaction(txid: Txid): Promise<Result<TransactionFinding, QueryFailure>>
  /** The nodes in their order, as this object has found them. None of them is asked. */
  nodes(): Promise<readonly NodeReport[]>
}
