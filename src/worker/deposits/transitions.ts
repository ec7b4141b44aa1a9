import { amountMax, noAmount } from '../common/amount.ts'
import type { TransferId, Uid } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import type { DecisionKind, TransferState } from '../d1/tables.ts'
import type { JudgedTransfer, TransferFacts } from './transfer.ts'

// What a stored transfer can become, and why. The database knows the same table (`transfer_takes_its_steps` in
// migrations/0001_invariants.sql); a test tries every pair of states against both.

/** On what condition a transfer comes from one state into another. */
export type StepCondition =
  /** A block that has the transfer was read: from a quorum if it is final, else from one node. */
  | 'read'
  /** Its height is passed: each block up to it was read, and none has it. */
  | 'passed'
  /** An operator has its block read again. */
  | 'asked-again'
  /** A person decides to credit what a person has refused. */
  | 'decided'
  /** A correction has lowered the finalized height below its block. */
  | 'corrected'

/** From each state the states that may follow, each with its conditions: one of them must hold. What is absent never happens. */
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
  // Money that is in the ledger stays there, and what moved is never a deposit.
  credited: {},
  moved: {},
}

/** A stored transfer in whatever state, as a decision needs it. */
export interface KnownTransfer extends TransferFacts {
  readonly id: TransferId
  /** Each change of the row adds 1. What was decided about another version is decided again. */
  readonly version: number
  readonly state: TransferState
  readonly uid: Uid | null
  readonly reason: HeldReason | RefusedReason | null
  readonly review: 'open' | DecisionKind | null
  /** Credited above a corrected height, and not found again yet. */
  readonly isSought: boolean
  /** Whether an unfinished requested rescan covers its block. */
  readonly isAskedAgain: boolean
}

/** Which version of a known row was decided about, and whether the chain shows the same transfer, so that only the verdict changes. */
export interface KnownVersion extends Pick<KnownTransfer, 'id' | 'version'> {
  readonly isSame: boolean
}

/** What a transfer becomes: a new row, or the next version of a known one. */
export interface TransferChange extends TransferFacts {
  /** Null: it is stored for the first time. */
  readonly known: KnownVersion | null
  readonly state: TransferState
  readonly uid: Uid | null
  readonly reason: HeldReason | RefusedReason | null
  readonly review: 'open' | DecisionKind | null
  /** Ledger units; 0 unless it is credited. */
  readonly amount: bigint
  /** About how many seconds until it is final, and the node that has shown it, where it is seen. */
  readonly seconds: number | null
  readonly node: number | null
}

/** What is stored that decides about a list of transfers. */
export interface TransferStore {
  /** The newest block that the scan has stored, or null before it has started. */
  readonly position: number | null
  /** The known ones of the list, by `transferKey`. */
  readonly known: ReadonlyMap<string, KnownTransfer>
  /** Balances in ledger units, by `walletKey`. A wallet without an entry is absent. */
  readonly balances: ReadonlyMap<string, bigint>
}

/** The identity of a transfer as text. */
export const transferKey = ({ txid, position }: Pick<TransferFacts, 'txid' | 'position'>) => `${txid}:${position}`
/** The identity of a wallet as text. */
export const walletKey = (uid: number | null, cuy: number) => `${uid} ${cuy}`

/** What becomes of a list of transfers. */
export interface TransferDecisions {
  /** Changes of known rows, in the order of the list. */
  readonly changed: readonly TransferChange[]
  /** New rows, in the order of the list. They come after the changes. */
  readonly fresh: readonly TransferChange[]
  /** Known ones that a correction had made doubtful, and that are found again. */
  readonly found: readonly TransferId[]
}

/**
 * Decides what becomes of judged transfers. Each is decided once, by its last place in the list: a node can show it in two blocks. What is
 * decided already stays, unless `transferSteps` lets it go on. A credit that does not fit into its wallet is held.
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
  const found = once.flatMap((transfer) => {
    const known = store.known.get(transferKey(transfer))
    return known?.isSought === true ? [known.id] : []
  })
  return {
    // In this order they are stored, and so each credit counts for the ones after it.
    changed: changed.map((step) => holdUnlessFits(step, balances)).filter((step) => !isAsKnown(step, store)),
    fresh: fresh.map((step) => holdUnlessFits(step, balances)),
    found,
  }
}

/** What one transfer becomes if its wallet has room, or null where it stays as it is. */
function nextOf(judged: JudgedTransfer, known: KnownTransfer | null, position: number | null): TransferChange | null {
  // What a node that is behind shows at or below the position was decided already.
  if (judged.state === 'seen' && (position === null || judged.block.height <= position)) return null
  // Once a person has decided to credit it, only what holds it can stand in the way.
  if (known?.review === 'credit' && judged.state === 'refused') return null
  const proposed = proposedBy(judged)
  if (known === null) return { ...proposed, known: null, review: proposed.reason === 'review' ? 'open' : null }
  const next = {
    ...underReview(proposed, known),
    known: { id: known.id, version: known.version, isSame: isSameTransfer(proposed, known) },
  }
  const condition: StepCondition = known.state === 'refused' && known.isAskedAgain ? 'asked-again' : 'read'
  return transferSteps[known.state][next.state]?.includes(condition) === true ? next : null
}

/**
 * What becomes of a transfer that is held for review, or that a decision has refused, once a person has decided. `verdict` is what is
 * credited, or why nothing can be credited now. It is held where its wallet has no room.
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

/** What a transfer is worth that a person has decided to credit. */
export type ReviewVerdict =
  | { readonly state: 'credited'; readonly amount: bigint }
  | { readonly state: 'held'; readonly reason: HeldReason }

/** A judgement as a row. `amount` is also that of a transfer to be reviewed. */
function proposedBy(judged: JudgedTransfer): Omit<TransferChange, 'known' | 'review'> {
  const { txid, position, block, cuy, native, from, to, raw, state } = judged
  return {
    ...{ txid, position, block, cuy, native, from, to, raw, state },
    uid: judged.state === 'moved' ? null : judged.uid,
    reason: judged.state === 'held' || judged.state === 'refused' ? judged.reason : null,
    amount: 'amount' in judged ? judged.amount : noAmount,
    seconds: judged.state === 'seen' ? judged.seconds : null,
    node: judged.state === 'seen' ? judged.node : null,
  }
}

/** What was held for review is what was decided about it, whatever is judged now. It moved if its sender is an operator's by now. */
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

/** A credit that its wallet has no room for is held; any other step is as it was. `balances` counts what is credited. */
function holdUnlessFits(step: TransferChange, balances: Map<string, bigint>): TransferChange {
  if (step.state !== 'credited') return { ...step, amount: noAmount }
  const wallet = walletKey(step.uid, step.cuy)
  const after = (balances.get(wallet) ?? 0n) + step.amount
  if (after > amountMax) return { ...step, state: 'held', reason: 'wallet-full', amount: noAmount }
  balances.set(wallet, after)
  return step
}

/** Whether the row says all of it already. */
function isAsKnown(step: TransferChange, { known }: TransferStore): boolean {
  const row = known.get(transferKey(step))
  if (row === undefined || row.state !== step.state || row.reason !== step.reason) return false
  return isSameTransfer(step, row)
}

/** Whether the chain shows a transfer as it is stored: in a block of the same height, with the same money, sender and receiver. */
function isSameTransfer(one: TransferFacts & Pick<TransferChange, 'uid'>, stored: KnownTransfer): boolean {
  const isSameMoney = one.cuy === stored.cuy && one.raw === stored.raw && one.native === stored.native
  const areSameParties = one.uid === stored.uid && one.from === stored.from && one.to === stored.to
  return one.block.height === stored.block.height && isSameMoney && areSameParties
}
