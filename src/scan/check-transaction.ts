import type { AddressBook } from '../addresses/address-book.ts'
import { type Block, blockSeconds, type Txid } from '../chain/block.ts'
import type { TransactionLocation } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Deposit, PendingReason } from '../deposits/deposit.ts'
import { explainOutcome, explainPending, explainTransaction } from '../deposits/explain.ts'
import { decideCandidates, toPending } from '../deposits/gather-evidence.ts'
import type { Uid } from '../ledger/entry.ts'
import type { LedgerReader } from '../ledger/ledger-store.ts'
import { secondsToFinal } from './plan.ts'
import { findOwnedTransfers, type ScanParts } from './scan.ts'

/** What asking about one transaction needs. */
export interface CheckTransactionParts extends ScanParts {
  readonly reader: LedgerReader
  readonly addresses: AddressBook
}

/** The caller's credited deposits of one transaction, and whether they were there before this call. */
export interface TransactionReport {
  readonly credited: readonly Deposit[]
  readonly already: boolean
}

/** A final block's transaction: the block with nothing else left in it. */
type Lone = { readonly block: Block; readonly mined: Extract<TransactionLocation, { kind: 'mined' }> }

/**
 * Answers for one transaction, whatever the scan has or has not reached: credits the caller's final deposits in it,
 * or says in one sentence why there is nothing to credit. Needs no lease and does not move the scan's position, so
 * neither a backlog nor a start height that was set too late can keep it from answering.
 */
export async function checkTransaction(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const known = await reportKnown(parts, uid, txid)
  if (known !== null) return known
  const found = await findFinal(parts, txid)
  if (!found.ok) return found
  const { block } = found.value
  const { candidates: claims } = await findOwnedTransfers(parts, [block])
  const own = claims.filter((claim) => claim.uid === uid)
  const { verdicts, stopped } = await decideCandidates(parts, own)
  const deposits = verdicts.flatMap((verdict) => (verdict.kind === 'deposit' ? [verdict.deposit] : []))
  const pending = verdicts.flatMap((verdict) => (verdict.kind === 'pending' ? [verdict.pending] : []))
  // Once a part of the transaction is stored, nobody looks for the rest of it again: it must wait where it is found.
  if (deposits.length + pending.length > 0) {
    pending.push(...own.slice(verdicts.length).map((claim) => toPending(claim, 'queued')))
  }
  const now = parts.clock.now()
  if (pending.length > 0) await parts.writer.keepPending(pending, now)
  if (deposits.length > 0) await parts.writer.credit(deposits, now)
  if (deposits.length > 0) {
    const report = await reportKnown(parts, uid, txid)
    if (report !== null) return report.ok ? ok({ ...report.value, already: false }) : report
  }
  if (stopped !== null) return err(toQueryFailure(stopped))
  const [first] = pending
  if (first !== undefined) return err(undecided(first.reason))
  return err(await explainWorthless(parts, uid, found.value))
}

/** What the ledger says already, or null where the nodes must be asked. */
async function reportKnown(
  parts: CheckTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure> | null> {
  const [deposits, pending] = await Promise.all([parts.reader.depositsOf(uid, txid), parts.reader.pendingOf(uid, txid)])
  const credited = deposits.filter((deposit) => deposit.outcome === 'credited')
  if (pending.length > 0 && credited.length === 0) return null
  if (credited.length > 0) return ok({ credited, already: true })
  const [first] = deposits
  if (first === undefined) return null
  const why = explainOutcome(first, parts.currencies)
  return first.outcome === 'too-large' ? err({ kind: 'undecided', why }) : err({ kind: 'worthless', why })
}

/** The transaction in its block, once that block is final and agreed. */
async function findFinal({ chain }: CheckTransactionParts, txid: Txid): Promise<Result<Lone, QueryFailure>> {
  const located = await chain.locateTransaction(txid)
  if (!located.ok) return err(toQueryFailure(located.error))
  if (located.value.kind === 'unknown') return err({ kind: 'not-found', what: 'transaction' })
  const head = await chain.finalizedHead()
  if (!head.ok) return err(toQueryFailure(head.error))
  const finalized = head.value.height
  if (located.value.kind === 'unmined') {
    return err({ kind: 'not-final', seconds: roundSeconds })
  }
  const mined = located.value
  const { height, hash } = mined.block
  if (height > finalized) return err({ kind: 'not-final', seconds: secondsToFinal(height, finalized, height) })
  const read = await chain.finalizedBlocks(height, height)
  if (!read.ok) return err(toQueryFailure(read.error))
  const [block] = read.value
  const transactions = block?.transactions.filter((one) => one.txid === txid) ?? []
  if (block === undefined || block.hash !== hash || transactions.length === 0) return err(undecided('disagreement'))
  const logs = block.logs.filter((log) => log.txid === txid)
  return ok({ mined, block: { ...block, transactions, logs } })
}

/** From being known to being final in a normal rotation: one block to get into, 19 to build on it. */
const roundSeconds = 20 * blockSeconds

async function explainWorthless(parts: CheckTransactionParts, uid: Uid, { block }: Lone): Promise<QueryFailure> {
  const [transaction] = block.transactions
  if (transaction === undefined) return undecided('disagreement')
  const receipts = await parts.chain.receipts([{ txid: transaction.txid, block }])
  if (!receipts.ok) return toQueryFailure(receipts.error)
  const receipt = receipts.value.get(transaction.txid)
  if (receipt === undefined) return undecided('disagreement')
  // The bytes only sharpen the sentence: without them the answer is still true, so their absence is no failure.
  const rawData = await parts.chain.transactionBytes(transaction.txid)
  const own = new Set((await parts.addresses.all(uid)).map((issued) => issued.address))
  const why = explainTransaction({
    transaction,
    receipt,
    rawData: rawData.ok ? rawData.value : null,
    currencies: parts.currencies,
    own,
  })
  return { kind: 'worthless', why }
}

function undecided(reason: PendingReason): QueryFailure {
  return { kind: 'undecided', why: explainPending(reason) }
}

function toQueryFailure(failure: ChainFailure): QueryFailure {
  switch (failure.kind) {
    case 'disagreement':
    case 'forked':
      return undecided('disagreement')
    case 'no-answer':
    case 'out-of-budget':
      return { kind: 'chain-unavailable' }
  }
}
