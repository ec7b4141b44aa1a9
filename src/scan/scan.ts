import type { AddressBook } from '../addresses/address-book.ts'
import type { Block, BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Deposit, Pending } from '../deposits/deposit.ts'
import { assignOwners, detectTransfers, type OwnedTransfers } from '../deposits/detect-transfers.ts'
import { decideCandidates, type EvidenceSources, type KnownDecimals, toPending } from '../deposits/gather-evidence.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { LedgerWriter, ScanState } from '../ledger/ledger-store.ts'
import { catchUpStatementsMax, stepBlocksMax, stepEntriesMax, stepRequestsMax } from './limits.ts'
import { isChildOf, planScan } from './plan.ts'
import { retryPending } from './retry-pending.ts'

/** How long a scan's lease lasts: longer than any invocation scans, so that only a killed one is taken over. */
export const leaseMs = 40_000
/** Finality that stands still this long is an alarm, never a reason to accept less (R5). */
export const stallMs = 180_000

/** What a scan needs. One scan is one invocation: `chain` carries its deadline and number of requests. */
export interface ScanParts extends EvidenceSources {
  readonly chain: Chain
  readonly writer: LedgerWriter
  readonly addresses: Pick<AddressBook, 'match'>
  readonly currencies: Currencies
  /** This invocation's unique name. */
  readonly lease: string
  /** D1 statements of this invocation so far. */
  readonly statements: () => number
}

/** How a scan came out; `trouble` is why it isn't caught up. */
export type ScanReport =
  | { readonly kind: 'scanned'; readonly trouble: ChainFailure | null }
  | { readonly kind: 'held' }
  | { readonly kind: 'not-started' }

/** Where a scan stands: the newest stored block. */
type Position = ScanState['position']

/**
 * Finds final deposits and credits them: every finalized block after the stored position, in order, without a gap.
 * A step's blocks, deposits and position are stored together or not at all, so a scan that dies anywhere is simply
 * run again. At most one runs at a time, by a lease in the database; `held` says that another does.
 */
export async function scan(parts: ScanParts, { withTail }: { readonly withTail: boolean }): Promise<ScanReport> {
  const startedAt = parts.clock.now()
  const claim = await parts.writer.acquireLease(parts.lease, startedAt, (startedAt + leaseMs) as UnixMs)
  if (claim.kind !== 'claimed') return { kind: claim.kind }
  let trouble: ChainFailure | null = { kind: 'no-answer', why: 'the scan ended by a bug' }
  try {
    const end = await catchUp(parts, claim.state)
    trouble = end.ok ? null : end.error
    if (trouble?.kind !== 'out-of-budget') await retryPending(parts)
    if (withTail && end.ok) await readTail(parts, end.value, startedAt)
  } finally {
    await parts.writer.releaseLease(parts.lease, startedAt, trouble?.kind ?? null)
  }
  if (trouble !== null) parts.log.warn('scan-stopped', { ...trouble })
  return { kind: 'scanned', trouble }
}

/** Reads, judges and stores step by step up to the finalized head, which comes back once all of it is stored. */
async function catchUp(parts: ScanParts, state: ScanState): Promise<Result<BlockHeight, ChainFailure>> {
  const { chain, writer, clock, log } = parts
  const head = await chain.finalizedHead()
  if (!head.ok) return head
  await writer.recordFinalized(head.value.height, clock.now())
  const stalledMs = clock.now() - state.finalizedAt
  if (head.value.height <= state.finalized && stalledMs > stallMs) {
    log.alarm('finality-stalled', { finalized: state.finalized, seconds: Math.floor(stalledMs / 1000) })
  }
  let position = state.position
  let costs: Costs = { read: 0, proof: 0, statements: 0 }
  const decimals: KnownDecimals = new Map()
  while (position.height < head.value.height) {
    const statements = parts.statements()
    if (statements + costs.statements > catchUpStatementsMax) return err({ kind: 'out-of-budget' })
    const read = await readStep(parts, position, head.value.height, costs)
    const leftBefore = chain.requestsLeft()
    const stored = await storeStep(parts, position, read.blocks, decimals)
    costs = {
      read: read.cost,
      proof: leftBefore - chain.requestsLeft(),
      statements: parts.statements() - statements,
    }
    for (const [contract, value] of decimals) if (value === null) decimals.delete(contract) // unread: the next step asks
    const failure = stored.failure ?? read.failure
    // After the step: what stood before the break is stored, and a stored step would clear the halt.
    if (failure?.kind === 'forked') await writer.halt(parts.lease, `block ${failure.at} does not follow`)
    if (failure !== null) return err(failure)
    position = stored.position
  }
  return ok(head.value.height)
}

/** What the newest of each kind has cost; 0 where there was none yet. */
interface Costs {
  /** Requests of a read. */
  readonly read: number
  /** Requests of a step's proofs. */
  readonly proof: number
  /** D1 statements of a step. */
  readonly statements: number
}

/** What a step has read. */
interface ReadStep {
  readonly blocks: readonly Block[]
  /** Requests of its newest read. */
  readonly cost: number
  /** What stopped the reading early. */
  readonly failure: ChainFailure | null
}

/**
 * The next blocks after `position`, as many as one step holds. No read begins that there would be no requests left to
 * prove: its blocks would be read a second time by the next invocation.
 */
async function readStep(
  { chain, log }: ScanParts,
  position: Position,
  finalized: BlockHeight,
  costs: Costs,
): Promise<ReadStep> {
  const blocks: Block[] = []
  let last: Position = position
  let cost = costs.read
  let entries = 0
  const leftBefore = chain.requestsLeft()
  const ended = (failure: ChainFailure | null): ReadStep => ({ blocks, cost, failure })
  while (
    blocks.length < stepBlocksMax &&
    entries < stepEntriesMax &&
    leftBefore - chain.requestsLeft() < stepRequestsMax
  ) {
    const plan = planScan(last.height, finalized)
    if (plan.kind === 'caught-up') break
    const left = chain.requestsLeft()
    if (left < cost + costs.proof) return ended(blocks.length === 0 ? { kind: 'out-of-budget' } : null)
    const read = await chain.finalizedBlocks(plan.from, plan.to)
    if (!read.ok) return ended(read.error)
    cost = left - chain.requestsLeft()
    const [first] = read.value
    const newest = read.value.at(-1)
    if (first === undefined || newest === undefined) break
    if (!isChildOf(last.hash, first)) {
      log.alarm('chain-forked', { height: first.height, parent: first.parentHash, stored: last.hash })
      return ended({ kind: 'forked', at: first.height })
    }
    blocks.push(...read.value)
    for (const { transactions, logs } of read.value) entries += transactions.length + logs.length
    last = newest
  }
  return ended(null)
}

/**
 * Decides what the blocks hold and stores as many of them as are fully decided. A block in which something stayed
 * open is read again next time, except where one invocation can't ask about all of it: its rest is then queued as
 * pending, so that no block, however full, stops the scan for ever.
 */
async function storeStep(
  parts: ScanParts,
  position: Position,
  blocks: readonly Block[],
  decimals: KnownDecimals,
): Promise<{ readonly position: Position; readonly failure: ChainFailure | null }> {
  if (blocks.length === 0) return { position, failure: null }
  const { candidates: claims, movements } = await findOwnedTransfers(parts, blocks)
  const decided = await decideCandidates(parts, claims, decimals)
  const deposits: Deposit[] = []
  const pending: Pending[] = []
  const disputed: Pending[] = []
  for (const verdict of decided.verdicts) {
    if (verdict.kind === 'deposit') deposits.push(verdict.deposit)
    else if (verdict.kind === 'pending') {
      if (verdict.pending.reason === 'disagreement') disputed.push(verdict.pending)
      else pending.push(verdict.pending)
    }
  }
  const undecided = claims.slice(decided.verdicts.length)
  const open = [...disputed.map((one) => one.block.height), ...undecided.map((one) => one.candidate.block.height)]
  let below = Math.min(...open, Number.POSITIVE_INFINITY)
  const [first] = blocks
  const queued = decided.stopped?.kind === 'out-of-budget' && disputed.length === 0 && below === first?.height
  if (queued) {
    for (const one of undecided) {
      if (one.candidate.block.height === below) pending.push(toPending(one, 'queued'))
    }
    below += 1
  }
  if (disputed.length > 0) await parts.writer.keepPending(disputed, parts.clock.now())
  const failure: ChainFailure | null =
    disputed.length > 0 ? { kind: 'disagreement', about: `a receipt at ${below}` } : decided.stopped
  const to = blocks.findLast((block) => block.height < below)
  if (to === undefined) return { position, failure }
  const within = (entry: { readonly block: { readonly height: number } }) => entry.block.height <= to.height
  const appended = await parts.writer.append({
    after: position.height,
    to,
    finalized: to.height,
    deposits: deposits.filter(within),
    pending: pending.filter(within),
    movements: movements.filter(within),
    lease: parts.lease,
    at: parts.clock.now(),
  })
  // Somebody else moved the position, or the lease is lost: what is true now is read afresh by the next scan.
  if (appended === 'superseded') return { position, failure: { kind: 'no-answer', why: 'superseded' } }
  return { position: { height: to.height, hash: to.hash }, failure }
}

/** Candidates that pay a caller's address, and movements of our own money: one query for all of the blocks. */
export async function findOwnedTransfers(
  { addresses, currencies }: Pick<ScanParts, 'addresses' | 'currencies'>,
  blocks: readonly Block[],
): Promise<OwnedTransfers> {
  const found = detectTransfers(blocks, currencies)
  return assignOwners(found, await addresses.match([...found.addresses]))
}

/** Remembers what the blocks after the finalized head hold for callers: news for recharge's answer, never money. */
async function readTail(parts: ScanParts, after: BlockHeight, startedAt: UnixMs): Promise<void> {
  const tail = await parts.chain.unconfirmedBlocks(after)
  if (!tail.ok) {
    parts.log.info('tail-unread', { why: tail.error.kind })
    await parts.writer.replaceSightings(null, startedAt)
    return
  }
  const { candidates: claims } = await findOwnedTransfers(parts, tail.value.blocks)
  const sightings = claims.map(({ candidate: { txid, position, block, currency, to } }) => ({
    txid,
    position,
    block,
    cuy: currency.cuy,
    to,
  }))
  await parts.writer.replaceSightings(sightings, startedAt)
}
