import type { Address } from '../addresses/address.ts'
import type { AddressBook } from '../addresses/address-book.ts'
import { type Block, blockSeconds, type Txid } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import { alarmUnreadable, type DecisionStores, decideCandidates, storeDecisions } from '../deposits/credit-deposits.ts'
import type { Deposit, Pending, PendingReason } from '../deposits/deposit.ts'
import type { DepositStore } from '../deposits/deposit-store.ts'
import { findOwnedTransfers } from '../deposits/detect-transfers.ts'
import { explainOutcome, explainPending, explainTransaction } from '../deposits/explain.ts'
import type { EvidenceSources } from '../deposits/gather-evidence.ts'
import type { PendingDeposits } from '../deposits/pending-deposits.ts'
import { toPending } from '../deposits/verify-deposit.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'
import { secondsToFinal } from './plan.ts'
import { retryOwnPending } from './retry-pending.ts'
import type { ScanStore } from './scan-store.ts'

/** What a question about one transaction needs. */
export interface CheckTransactionParts extends EvidenceSources, DecisionStores {
  readonly chain: Pick<
    Chain,
    'locateTransaction' | 'finalizedHead' | 'finalizedBlocks' | 'receipts' | 'transactionBytes' | 'decimals'
  >
  readonly deposits: Pick<DepositStore, 'of' | 'credit'>
  readonly pending: Pick<PendingDeposits, 'of' | 'keep' | 'remove' | 'takeDue' | 'putBack'>
  readonly addresses: Pick<AddressBook, 'all' | 'match'>
  readonly scanStore: Pick<ScanStore, 'state'>
  readonly currencies: Currencies
  readonly operators: ReadonlySet<Address>
}

/** The caller's credited deposits of one transaction, and whether they were credited before this call. */
export interface TransactionReport {
  readonly credited: readonly Deposit[]
  readonly already: boolean
}

/**
 * Answers for one transaction, whatever the position of the scan is: credits the caller's final deposits in it, or says
 * in one sentence why there is nothing to credit. Needs no lease and does not move the position, so that neither a
 * backlog nor a start height that was set too late prevents an answer. The caller's other pending deposits are tried
 * afterwards, with what requests are left.
 */
export async function checkTransaction(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const report = await answerFor(parts, uid, txid)
  await retryOwnPending(parts, uid)
  return report
}

async function answerFor(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const known = await readKnown(parts, uid, txid)
  if (known !== null) return known
  if ((await parts.scanStore.state())?.halted) return err(haltedFailure)
  const found = await findFinal(parts, txid)
  if (!found.ok) return found
  const block = found.value
  const { candidates, early } = await findOwnedTransfers(parts, [block])
  const own = candidates.filter((owned) => owned.uid === uid)
  const { undecided, stopped, ...decisions } = await decideCandidates(parts, own)
  const isPartlyStored = decisions.deposits.length + decisions.pending.length > 0
  // Once a part of the transaction is stored, the rest of it is not looked for again: it is stored as pending.
  const queued = isPartlyStored ? undecided.map((owned) => toPending(owned, 'queued')) : []
  const pending = [...decisions.pending, ...queued]
  const proven = { deposits: decisions.deposits, pending, refused: [] }
  const newlyUnreadable = await findNewlyUnreadable(parts, pending)
  if ((await storeDecisions(parts, proven, parts.clock.now())) === 'halted') return err(haltedFailure)
  alarmUnreadable(parts, newlyUnreadable)
  if (decisions.deposits.length > 0) {
    const report = await readKnown(parts, uid, txid)
    if (report !== null) return report.ok ? ok({ ...report.value, already: false }) : report
  }
  if (stopped !== null) return err(toQueryFailure(stopped))
  const [first] = pending
  if (first?.reason === 'retired') return err({ kind: 'worthless', why: explainPending(first.reason) })
  if (first !== undefined) return err(undecidedFor(first.reason))
  const paidBefore = early.find((owned) => owned.uid === uid)
  if (paidBefore === undefined) return err(await explainWorthless(parts, uid, block))
  const { position, currency } = paidBefore.candidate
  parts.logger.alarm('paid-before-issue', { txid, position, cuy: currency.cuy, uid })
  return err({ kind: 'undecided', why: paidBeforeIssue })
}

const paidBeforeIssue = 'it was final before this address was issued to you, so it is not credited; ask the operator'
async function findNewlyUnreadable(parts: CheckTransactionParts, pending: readonly Pending[]) {
  const [first] = pending.filter(({ reason }) => reason === 'bytes-unreadable') // TRX: at most one in a transaction
  if (first === undefined) return []
  const before = await parts.pending.of(first.uid, first.txid)
  return before.some(({ reason }) => reason === first.reason) ? [] : [first]
}

/** What is stored about the transaction, or null where the nodes must be queried. */
async function readKnown(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure> | null> {
  const [deposits, pending] = await Promise.all([parts.deposits.of(uid, txid), parts.pending.of(uid, txid)])
  const credited = deposits.filter(({ outcome }) => outcome === 'credited')
  if (credited.length > 0) return ok({ credited, already: true })
  const [first] = deposits
  if (pending.length > 0 || first === undefined) return null
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
