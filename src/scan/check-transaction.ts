import type { AddressBook } from '../addresses/address-book.ts'
import { type Block, blockSeconds, type Txid } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Deposit, PendingReason } from '../deposits/deposit.ts'
import type { DepositStore } from '../deposits/deposit-store.ts'
import { findOwnedTransfers, type OwnedCandidate } from '../deposits/detect-transfers.ts'
import { explainOutcome, explainPending, explainTransaction } from '../deposits/explain.ts'
import type { PendingDeposits } from '../deposits/pending-deposits.ts'
import { explainRefusal } from '../deposits/verify-deposit.ts'
import { secondsToFinal } from './plan.ts'
import { type ProveParts, proveOwn, proveTransaction, proveUnqueued } from './prove-queue.ts'
import type { ScanStore } from './scan-store.ts'

/** What a question about one transaction needs. */
export interface CheckTransactionParts extends ProveParts {
  readonly chain: Pick<
    Chain,
    'locateTransaction' | 'finalizedHead' | 'finalizedBlocks' | 'receipts' | 'transactionBytes'
  >
  readonly deposits: Pick<DepositStore, 'of' | 'credit'>
  readonly pending: ProveParts['pending'] & Pick<PendingDeposits, 'of' | 'refusals'>
  readonly addresses: Pick<AddressBook, 'all' | 'match'>
  readonly scanStore: Pick<ScanStore, 'state'>
}

/** The caller's credited deposits of one transaction, and whether they were credited before this call. */
export interface TransactionReport {
  readonly credited: readonly Deposit[]
  readonly already: boolean
}

/**
 * Answers for one transaction, whatever the position of the scan is: credits the caller's final deposits in it, or says
 * in one sentence why there is nothing to credit. Needs no lease and does not move the position, so that neither a backlog nor a
 * start height that was set too late prevents an answer. The caller's other candidates are tried afterwards, with what
 * requests are left.
 */
export async function checkTransaction(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const report = await answerFor(parts, uid, txid)
  await proveOwn(parts, uid)
  return report
}

async function answerFor(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const known = await readDecided(parts, uid, txid)
  if (known !== null) return known
  if ((await parts.scanStore.state())?.halted) return err(haltedFailure)
  if ((await parts.pending.of(uid, txid)).length > 0) return proveKnown(parts, uid, txid)
  const found = await findFinal(parts, txid)
  if (!found.ok) return found
  const block = found.value
  const { candidates, early } = await findOwnedTransfers(parts, [block])
  const own = candidates.filter((owned) => owned.uid === uid)
  if (own.length > 0) return proveNew(parts, uid, txid, own)
  const paidBefore = early.find((owned) => owned.uid === uid)
  if (paidBefore === undefined) return err(await explainWorthless(parts, uid, block))
  const { position, currency } = paidBefore.candidate
  await parts.alarms.raise('paid-before-issue', `${txid}:${position}`, { txid, position, cuy: currency.cuy, uid })
  return err({ kind: 'undecided', why: paidBeforeIssue })
}

const paidBeforeIssue = 'it was final before this address was issued to you, so it is not credited; ask the operator'

/** Proves what the queue has of the transaction. */
async function proveKnown(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const stopped = await proveTransaction(parts, uid, txid)
  const report = await readDecided(parts, uid, txid)
  if (report !== null) return report.ok ? ok({ ...report.value, already: false }) : report
  if (stopped !== null) return err(toQueryFailure(stopped))
  const [first] = await parts.pending.of(uid, txid)
  return err(first === undefined ? haltedFailure : explainHeld(first.reason))
}

/** Proves what the queue does not have: the scan has not read the block, or has missed it. */
async function proveNew(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
  own: readonly OwnedCandidate[],
): Promise<Result<TransactionReport, QueryFailure>> {
  const { outcome, deposits, pending, refused, stopped } = await proveUnqueued(parts, uid, txid, own)
  if (outcome === 'halted') return err(haltedFailure)
  const report = await readDecided(parts, uid, txid)
  if (report !== null) return report.ok ? ok({ ...report.value, already: false }) : report
  if (stopped !== null) return err(toQueryFailure(stopped))
  const [worthless] = deposits
  if (worthless !== undefined) return err({ kind: 'worthless', why: explainOutcome(worthless, parts.currencies) })
  const [refusal] = refused
  if (refusal !== undefined) return err({ kind: 'worthless', why: explainRefusal(refusal.reason) })
  return err(explainHeld(pending[0]?.reason ?? 'queued'))
}

/** What was decided about the transaction, or null where none of it is. */
async function readDecided(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure> | null> {
  const [deposits, pending, refusals] = await Promise.all([
    parts.deposits.of(uid, txid),
    parts.pending.of(uid, txid),
    parts.pending.refusals(uid, txid),
  ])
  const credited = deposits.filter(({ outcome }) => outcome === 'credited')
  if (credited.length > 0) return ok({ credited, already: true })
  if (pending.length > 0) return null
  const [first] = deposits
  const [refusal] = refusals
  if (first === undefined) {
    return refusal === undefined ? null : err({ kind: 'worthless', why: explainRefusal(refusal.reason) })
  }
  const why = explainOutcome(first, parts.currencies)
  return err({ kind: first.outcome === 'too-large' ? 'undecided' : 'worthless', why })
}

/** The block of the transaction with only this transaction in it, once that block is final and agreed. */
async function findFinal({ chain }: CheckTransactionParts, txid: Txid): Promise<Result<Block, QueryFailure>> {
  const location = await chain.locateTransaction(txid)
  if (!location.ok) return err(toQueryFailure(location.error))
  if (location.value.kind === 'unknown') return err({ kind: 'not-found', what: 'transaction' })
  const head = await chain.finalizedHead()
  if (!head.ok) return err(toQueryFailure(head.error))
  if (location.value.kind === 'unmined') return err({ kind: 'not-final', seconds: unminedSeconds })
  const { height, hash } = location.value.block
  const finalized = head.value.height
  if (height > finalized) return err({ kind: 'not-final', seconds: secondsToFinal(height, finalized, height) })
  const read = await chain.finalizedBlocks(height, height)
  if (!read.ok) return err(toQueryFailure(read.error))
  const [block] = read.value
  const transactions = block?.transactions.filter((one) => one.txid === txid) ?? []
  if (block === undefined || block.hash !== hash || transactions.length === 0) {
    return err(undecidedFor('disagreement'))
  }
  if (block.logs !== null) return ok({ ...block, transactions, logs: block.logs.filter((log) => log.txid === txid) })
  const receipts = await chain.receipts([{ txid, block }])
  return receipts.ok
    ? ok({ ...block, transactions, logs: receipts.value.get(txid)?.logs ?? [] })
    : err(toQueryFailure(receipts.error))
}

/** From broadcast to finality in a normal rotation: one block that includes it, 19 that are built on it. */
const unminedSeconds = 20 * blockSeconds

async function explainWorthless(parts: CheckTransactionParts, uid: Uid, block: Block): Promise<QueryFailure> {
  const [transaction] = block.transactions
  if (transaction === undefined) return undecidedFor('disagreement')
  const receipts = await parts.chain.receipts([{ txid: transaction.txid, block }])
  if (!receipts.ok) return toQueryFailure(receipts.error)
  const receipt = receipts.value.get(transaction.txid)
  if (receipt === undefined) return undecidedFor('disagreement')
  // The bytes only make the sentence more exact. Without them the answer is still true, so their absence is no failure.
  const bytes = await parts.chain.transactionBytes(transaction.txid)
  const own = new Set((await parts.addresses.all(uid)).map(({ address }) => address))
  const { currencies, operators } = parts
  const known = { transaction, receipt, bytes: bytes.ok ? bytes.value : null }
  const why = explainTransaction({ ...known, currencies, own, operators })
  return { kind: 'worthless', why }
}

const haltedFailure: QueryFailure = {
  kind: 'undecided',
  why: 'the nodes show another chain than before; nothing is credited until an operator has checked it',
}

function explainHeld(reason: PendingReason): QueryFailure {
  return reason === 'retired' ? { kind: 'worthless', why: explainPending(reason) } : undecidedFor(reason)
}

function undecidedFor(reason: PendingReason): QueryFailure {
  return { kind: 'undecided', why: explainPending(reason) }
}

function toQueryFailure(failure: ChainFailure): QueryFailure {
  switch (failure.kind) {
    case 'disagreement':
    case 'forked':
      return undecidedFor('disagreement')
    case 'no-answer':
    case 'out-of-budget':
      return { kind: 'chain-unavailable' }
  }
}
