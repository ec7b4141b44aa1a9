import { amountMax, noAmount } from '../common/amount.ts'
import type { TransferId, Uid } from '../common/ids.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import type { DecisionKind, TransferState } from '../d1/tables.ts'
import type { JudgedTransfer, TransferFacts } from './transfer.ts'

// The state machine of a stored transfer. The database enforces the same table (`transfer_takes_its_steps` in migrations/0001_invariants.sql); a test tries
// every pair of states against both.

/** The condition under which a transfer changes its state. */
export type StepCondition =
  /** A block with the transfer was read: by a quorum of nodes if it is final, else by one node. */
  | 'read'
  /** The scan has read every block up to its height, and none contains it. */
  | 'passed'
  /** An operator asked for its block to be read again. */
  | 'asked-again'
  /** A person credits a transfer that a person had refused. */
  | 'decided'
  /** A correction has lowered the finalized height below its block. */
  | 'corrected'

/** The allowed transitions, from state to state, each with its conditions: one of them must hold. A transition that is absent is refused. */
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
  // A credit is never taken back, and a movement between the service's own addresses never becomes a deposit.
  credited: {},
  moved: {},
}

/** A stored transfer in any state, as a decision needs it. */
export interface KnownTransfer extends TransferFacts {
  readonly id: TransferId
  /** Grows by 1 with each change of the row. A decision that rests on an older version is made again. */
  readonly version: number
  readonly state: TransferState
  readonly uid: Uid | null
  readonly reason: HeldReason | RefusedReason | null
  readonly review: 'open' | DecisionKind | null
  /** Credited above a corrected height, and not found again yet. */
  readonly isSought: boolean
  /** Whether an unfinished rescan that an operator asked for covers its block. */
  readonly isAskedAgain: boolean
}

/** The version on which a decision rests. `isSame`: the chain shows the same transfer as before, so only the verdict changes. */
export interface KnownVersion extends Pick<KnownTransfer, 'id' | 'version'> {
  readonly isSame: boolean
}

/** A new row, or the next version of a stored one. */
export interface TransferChange extends TransferFacts {
  /** Null for a new row. */
  readonly known: KnownVersion | null
  readonly state: TransferState
  readonly uid: Uid | null
  readonly reason: HeldReason | RefusedReason | null
  readonly review: 'open' | DecisionKind | null
  /** Ledger units; 0 unless it is credited. */
  readonly amount: bigint
  /** For a seen transfer: the estimated seconds until it is final, and the node that has shown it. */
  readonly seconds: number | null
  readonly node: number | null
}

/** The stored state with which judged transfers are compared. */
export interface TransferStore {
  /** The newest block that the scan has stored, or null before it has started. */
  readonly position: number | null
  /** Those of the judged transfers that are stored already, by `transferKey`. */
  readonly known: ReadonlyMap<string, KnownTransfer>
  /** Balances in ledger units, by `walletKey`. A wallet without an entry is absent. */
  readonly balances: ReadonlyMap<string, bigint>
}

/** The identity of a transfer as text. */
export const transferKey = ({ txid, position }: Pick<TransferFacts, 'txid' | 'position'>) => `${txid}:${position}`
/** The identity of a wallet as text. */
export const walletKey = (uid: number | null, cuy: number) => `${uid} ${cuy}`

/** The writes that follow from a list of judged transfers. */
export interface TransferDecisions {
  /** Changes of stored rows, in the order of the list. */
  readonly changed: readonly TransferChange[]
  /** New rows, in the order of the list. They are stored after the changes. */
  readonly fresh: readonly TransferChange[]
  /** Stored transfers that a correction had put in doubt and that are found again. */
  readonly found: readonly TransferId[]
}

/**
 * Decides what to store for judged transfers. A transfer that is in the list twice, because a node showed it in two blocks, is judged by its last place. A
 * stored state changes only as `transferSteps` allows. A credit that does not fit into its wallet is held.
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
    // They are stored in this order, so each credit counts towards the balance that the next ones see.
    changed: changed.map((step) => holdUnlessFits(step, balances)).filter((step) => !isAsKnown(step, store)),
    fresh: fresh.map((step) => holdUnlessFits(step, balances)),
    found,
  }
}

/** The change of one transfer, assuming that its wallet has room. Null if nothing changes. */
function nextOf(judged: JudgedTransfer, known: KnownTransfer | null, position: number | null): TransferChange | null {
  // The scan has decided everything at or below its position, so a sighting there comes from a node that is behind.
  if (judged.state === 'seen' && (position === null || judged.block.height <= position)) return null
  // A person decided to credit it. The judge may still hold it, but no longer refuse it.
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
 * The change that follows from a person's decision about a transfer that is held for review, or that a person refused before. `verdict` is the amount to
 * credit, or why nothing can be credited now. A credit that does not fit into its wallet is held.
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

/** The verdict about a transfer that a person has decided to credit. */
export type ReviewVerdict =
  | { readonly state: 'credited'; readonly amount: bigint }
  | { readonly state: 'held'; readonly reason: HeldReason }

/** The judged transfer as a row. A transfer that is to be reviewed keeps the amount that it would credit. */
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

/**
 * Applies a person's decision to a transfer that was held for review, whatever the new judgement says. Only a sender that has become an operator wallet
 * overrides it: then the transfer is `moved`.
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

/** Holds a credit for which the wallet has no room; returns any other change unchanged. Adds credits to `balances`. */
function holdUnlessFits(step: TransferChange, balances: Map<string, bigint>): TransferChange {
  if (step.state !== 'credited') return { ...step, amount: noAmount }
  const wallet = walletKey(step.uid, step.cuy)
  const after = (balances.get(wallet) ?? 0n) + step.amount
  if (after > amountMax) return { ...step, state: 'held', reason: 'wallet-full', amount: noAmount }
  balances.set(wallet, after)
  return step
}

/** Whether the stored row already has this state, reason and facts. */
function isAsKnown(step: TransferChange, { known }: TransferStore): boolean {
  const row = known.get(transferKey(step))
  if (row === undefined || row.state !== step.state || row.reason !== step.reason) return false
  return isSameTransfer(step, row)
}

/** Whether the chain shows a transfer as it is stored: same height, currency, amount, sender and recipient. */
function isSameTransfer(shown: TransferFacts & Pick<TransferChange, 'uid'>, stored: KnownTransfer): boolean {
  const isSameMoney = shown.cuy === stored.cuy && shown.raw === stored.raw && shown.native === stored.native
  const areSameParties = shown.uid === stored.uid && shown.from === stored.from && shown.to === stored.to
  return shown.block.height === stored.block.height && isSameMoney && areSameParties
}
