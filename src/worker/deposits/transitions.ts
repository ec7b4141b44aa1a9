import type { BlockHeight } from '../chain/block.ts'
import { amountMax, noAmount } from '../common/amount.ts'
import type { TransferId, Uid } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import type { DecisionKind, TransferState } from '../d1/tables.ts'
import type { JudgedTransfer, TransferFacts } from './transfer.ts'

// The state machine of a stored transfer. `npm run db:generate` writes `transferSteps` into the
// trigger `transfer_takes_its_steps`, which refuses every other step; migrations/steps.ts has what
// each condition is in SQL.

/** What must have happened for a transfer to change its state. */
export type StepCondition =
  /**
   * A block with the transfer was read, at a quorum of nodes if the block is final, else at one
   * node.
   */
  | 'read'
  /** The scan has read every block up to the transfer's height, and none contains the transfer. */
  | 'passed'
  /** An operator asked for the transfer's block to be read again, and it was read. */
  | 'asked-again'
  /** A person or a backend has decided to credit a transfer that was refused in its review. */
  | 'decided'
  /** An operator has lowered a wrong finalized height below the transfer's block. */
  | 'corrected'
  /**
   * A block was read again that contains a credited transfer which is sought (`isSought`), with all
   * that is credited, in another block than before.
   */
  | 'found-again'

/**
 * The allowed changes of state: for each, `transferSteps[from][to]` has conditions, of which one
 * must hold. Any other change is refused.
 */
export const transferSteps: Readonly<
  Record<TransferState, Partial<Readonly<Record<TransferState, readonly StepCondition[]>>>>
> = {
  seen: {
    seen: ['read'],
    dropped: ['passed'],
    held: ['read'],
    refused: ['read'],
    credited: ['read'],
    moved: ['read'],
  },
  dropped: { seen: ['read'], held: ['read'], refused: ['read'], credited: ['read'], moved: ['read'] },
  held: { seen: ['corrected'], held: ['read'], refused: ['read'], credited: ['read'], moved: ['read'] },
  refused: {
    seen: ['corrected'],
    held: ['asked-again', 'decided'],
    refused: ['asked-again'],
    credited: ['asked-again', 'decided'],
    moved: ['asked-again'],
  },
  // A credit is never taken back; only its block can change. A movement between the service's own
  // addresses never becomes a deposit.
  credited: { credited: ['found-again'] },
  moved: {},
}

/** The stored row of a judged transfer, in any state. */
export interface KnownTransfer extends TransferFacts {
  readonly id: TransferId
  /**
   * Grows by 1 with each change of the row. If it has grown between the reading for a decision and
   * its storing, the decision is made again.
   */
  readonly version: number
  readonly state: TransferState
  readonly uid: Uid | null
  readonly reason: HeldReason | RefusedReason | null
  readonly review: 'open' | DecisionKind | null
  /**
   * Whether the transfer is credited and must be found in the chain again: an operator has lowered
   * the finalized height below its block, or has asked for its block to be read again.
   */
  readonly isSought: boolean
  /**
   * Whether an operator has asked for the transfer's block to be read again, and that reading has
   * not finished.
   */
  readonly isAskedAgain: boolean
}

/**
 * The stored row that a change replaces, with the version that was read. `isSame`: the chain still
 * shows the same facts, so only the verdict is written.
 */
export interface KnownVersion extends Pick<KnownTransfer, 'id' | 'version'> {
  readonly isSame: boolean
}

/** A new row of a transfer, or what a stored row becomes. */
export interface TransferChange extends TransferFacts {
  /** Null if the row is new. */
  readonly known: KnownVersion | null
  readonly state: TransferState
  readonly uid: Uid | null
  readonly reason: HeldReason | RefusedReason | null
  readonly review: 'open' | DecisionKind | null
  /** Ledger units; 0 unless the state is `credited`. */
  readonly amount: bigint
  /**
   * For a seen transfer, `seconds` is the estimated time until its block is final, and `node` the
   * number of the node that showed it. Otherwise null.
   */
  readonly seconds: number | null
  readonly node: number | null
}

/** The stored data that `decideTransfers` needs for a list of judged transfers. */
export interface TransferStore {
  /** The height of the newest block that the scan has stored; null before the scan has started. */
  readonly position: number | null
  /** The rows of the judged transfers that are stored already, by `transferKey`. */
  readonly known: ReadonlyMap<string, KnownTransfer>
  /** Balances in ledger units, by `walletKey`. A wallet without an entry is absent. */
  readonly balances: ReadonlyMap<string, bigint>
}

/** Identifies a transfer in maps: positions are unique within a transaction. */
export const transferKey = ({ txid, position }: Pick<TransferFacts, 'txid' | 'position'>) => `${txid}:${position}`
/** Identifies a wallet in maps: a user has at most one wallet in each currency. */
export const walletKey = (uid: number | null, cuy: number) => `${uid} ${cuy}`

/** What to store for a list of judged transfers. */
export interface TransferDecisions {
  /** Changes of stored rows, in the order of the list. */
  readonly changed: readonly TransferChange[]
  /** New rows, in the order of the list. They are stored after the changes. */
  readonly fresh: readonly TransferChange[]
  /**
   * Credited transfers that were sought, and that the chain shows as they are credited, perhaps in
   * another block.
   */
  readonly found: readonly FoundTransfer[]
  /**
   * Credited transfers, and movements between the service's own addresses, that the chain shows
   * otherwise. Rows and entries stay: an operator decides.
   */
  readonly contradicted: readonly Contradiction[]
}

/**
 * A credited transfer that was found again, with the version that was read and the block in which
 * it is now.
 */
export interface FoundTransfer extends Pick<KnownTransfer, 'id' | 'version'> {
  readonly height: BlockHeight
  readonly isMoved: boolean
}

/** A credited transfer or a movement, and what final blocks show in its place. */
export interface Contradiction {
  readonly stored: KnownTransfer
  readonly shown: TransferFacts
}

/**
 * Decides what to store for judged transfers. If the list has a transfer twice, because a node
 * showed it in two blocks, the last one counts. A stored row changes only as `transferSteps`
 * allows. If a wallet has no room for a credit, the transfer is held.
 */
export function decideTransfers(judged: readonly JudgedTransfer[], store: TransferStore): TransferDecisions {
  const once = [...new Map(judged.map((transfer) => [transferKey(transfer), transfer])).values()]
  const balances = new Map(store.balances)
  const steps = once.flatMap((transfer) => {
    const known = store.known.get(transferKey(transfer)) ?? null
    const next = nextOf(transfer, known, store.position)
    return next === null ? [] : [next]
  })
  const [changed, fresh] = [steps.filter(({ known }) => known !== null), steps.filter(({ known }) => known === null)]
  return {
    ...compareCredited(once, store),
    // Changes are stored first, then new rows. Their credits must fill the wallets in `balances` in
    // the same order.
    changed: changed.map((step) => holdUnlessFits(step, balances)).filter((step) => !isAsKnown(step, store)),
    fresh: fresh.map((step) => holdUnlessFits(step, balances)),
  }
}

/**
 * Compares judged transfers of final blocks with the credited rows of the same keys, in every fact:
 * currency, amount, sender, recipient and block. A sought transfer may be in another block than the
 * one in which it was credited; any other difference contradicts the credit. A movement is compared
 * too, but for its block: what is shown in its place may be a deposit of a user.
 */
function compareCredited(
  judged: readonly JudgedTransfer[],
  { known }: TransferStore,
): Pick<TransferDecisions, 'found' | 'contradicted'> {
  const found: FoundTransfer[] = []
  const contradicted: Contradiction[] = []
  for (const shown of judged) {
    const stored = known.get(transferKey(shown))
    if (stored === undefined || shown.state === 'seen') continue
    if (stored.state === 'moved' && !isSameMoney(shown, stored)) contradicted.push({ stored, shown })
    if (stored.state !== 'credited') continue
    const { height } = shown.block
    const isMoved = height !== stored.block.height
    if (!isSameMoney(shown, stored) || (isMoved && !stored.isSought)) contradicted.push({ stored, shown })
    else if (stored.isSought) found.push({ id: stored.id, version: stored.version, height, isMoved })
  }
  return { found, contradicted }
}

/** What one transfer becomes if its wallet has room; null if its row must not change. */
function nextOf(judged: JudgedTransfer, known: KnownTransfer | null, position: number | null): TransferChange | null {
  // The scan has decided every transfer at or below its position. A node that shows such a transfer
  // as not final is behind.
  if (judged.state === 'seen' && (position === null || judged.block.height <= position)) return null
  const proposed = proposedBy(known === null ? judged : asDecided(judged, known))
  if (known === null) return { ...proposed, known: null, review: proposed.reason === 'review' ? 'open' : null }
  const next = {
    ...underReview(proposed, known),
    known: { id: known.id, version: known.version, isSame: isSameTransfer(proposed, known) },
  }
  const condition: StepCondition = known.state === 'refused' && known.isAskedAgain ? 'asked-again' : 'read'
  return transferSteps[known.state][next.state]?.includes(condition) === true ? next : null
}

/**
 * Undoes the refusal of a transfer that a person or a backend has decided to credit: a minimum that
 * was raised since does not undo the decision. If the chain shows another amount than the stored
 * one, the refusal stays.
 */
function asDecided(judged: JudgedTransfer, known: KnownTransfer): JudgedTransfer {
  const isDecided = known.review === 'credit' && known.state !== 'refused'
  if (!isDecided || judged.state !== 'refused' || !isSameMoney(judged, known)) return judged
  const { reason: _, ...credited } = judged
  return judged.amount > noAmount ? { ...credited, state: 'credited' } : judged
}

/**
 * Returns what a transfer becomes by a decision. The transfer is held for review, or was refused in
 * its review. `verdict`, from `judgeReviewed`, says what can be credited now. If the wallet has no
 * room for the credit, the transfer is held; otherwise the credit is added to `balances`.
 */
export function decideReview(
  deposit: Pick<KnownTransfer, 'id' | 'version' | 'uid'> & TransferFacts,
  decision: DecisionKind,
  verdict: ReviewVerdict,
  balances: Map<string, bigint>,
): TransferChange {
  const { id, version, uid, txid, position, block, cuy, native, from, to, raw } = deposit
  const row = { ...{ txid, position, block, cuy, native, from, to, raw, uid }, seconds: null, node: null }
  const change = { ...row, known: { id, version, isSame: true }, review: decision }
  if (decision === 'refuse') return { ...change, state: 'refused', reason: 'review', amount: noAmount }
  if (verdict.state === 'held') return { ...change, state: 'held', reason: verdict.reason, amount: noAmount }
  return holdUnlessFits({ ...change, state: 'credited', reason: null, amount: verdict.amount }, balances)
}

/**
 * What a transfer that was decided to be credited is worth now, or why nothing of it can be
 * credited now.
 */
export type ReviewVerdict =
  | { readonly state: 'credited'; readonly amount: bigint }
  | { readonly state: 'held'; readonly reason: HeldReason }

/**
 * Turns a judged transfer into a row, without regard to its review. For a transfer held for review,
 * `amount` is what a decision would credit.
 */
function proposedBy(judged: JudgedTransfer): Omit<TransferChange, 'known' | 'review'> {
  const { txid, position, block, cuy, native, from, to, raw, state } = judged
  return {
    ...{ txid, position, block, cuy, native, from, to, raw, state },
    ...(judged.madeAt === undefined ? {} : { madeAt: judged.madeAt }),
    uid: judged.state === 'moved' ? null : judged.uid,
    reason: judged.state === 'held' || judged.state === 'refused' ? judged.reason : null,
    amount: 'amount' in judged ? judged.amount : noAmount,
    seconds: judged.state === 'seen' ? judged.seconds : null,
    node: judged.state === 'seen' ? judged.node : null,
  }
}

/**
 * Lets the review of a transfer outweigh a new judgement: an undecided transfer stays held for
 * review, and a decision stays. Only two states outweigh the review: `seen` (an operator has
 * lowered the finalized height) and `moved` (the sender is an operator's wallet by now).
 */
function underReview(
  proposed: Omit<TransferChange, 'known' | 'review'>,
  { review }: Pick<KnownTransfer, 'review'>,
): Omit<TransferChange, 'known'> {
  const isAsReviewed = review !== null && proposed.state !== 'seen' && proposed.state !== 'moved'
  if (!isAsReviewed) return { ...proposed, review: review ?? (proposed.reason === 'review' ? 'open' : null) }
  if (review === 'open') return { ...proposed, review, state: 'held', reason: 'review' }
  if (review === 'refuse') return { ...proposed, review, state: 'refused', reason: 'review' }
  return proposed.reason === 'review'
    ? { ...proposed, review, state: 'credited', reason: null }
    : { ...proposed, review }
}

/**
 * Turns a credit for which the wallet has no room into `held`, and adds any other credit to
 * `balances`.
 */
function holdUnlessFits(step: TransferChange, balances: Map<string, bigint>): TransferChange {
  if (step.state !== 'credited') return { ...step, amount: noAmount }
  const wallet = walletKey(step.uid, step.cuy)
  const after = (balances.get(wallet) ?? 0n) + step.amount
  if (after > amountMax) return { ...step, state: 'held', reason: 'wallet-full', amount: noAmount }
  balances.set(wallet, after)
  return step
}

/**
 * Whether the stored row already has this state, reason and facts, so that nothing need be written.
 */
function isAsKnown(step: TransferChange, { known }: TransferStore): boolean {
  const row = known.get(transferKey(step))
  if (row === undefined || row.state !== step.state || row.reason !== step.reason) return false
  return isSameTransfer(step, row)
}

/**
 * Whether the chain shows a transfer as it is stored: with the same height, currency, amount,
 * sender, recipient and user.
 */
function isSameTransfer(shown: TransferFacts & Pick<TransferChange, 'uid'>, stored: KnownTransfer): boolean {
  return shown.block.height === stored.block.height && shown.uid === stored.uid && isSameMoney(shown, stored)
}

/**
 * Whether the chain shows a transfer of the same currency and amount, from the same sender to the
 * same recipient.
 */
function isSameMoney(shown: TransferFacts, stored: KnownTransfer): boolean {
  const isSameAmount = shown.cuy === stored.cuy && shown.raw === stored.raw && shown.native === stored.native
  return isSameAmount && shown.from === stored.from && shown.to === stored.to
}
