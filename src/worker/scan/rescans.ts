import type { BlockHeight, BlockRef, Txid } from '../chain/block.ts'
import {
  type BlockReading,
  type Chain,
  type ChainTransfer,
  type IssuerAct,
  type ReceiptReading,
  readBlocksMax,
  receiptsMax,
} from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { JudgeRules } from '../deposits/transfer.ts'
import { selectActs } from '../issuer/acts.ts'
import { findInReceipts } from '../payouts/outgoing.ts'
import { reportContradicted } from './contradicted.ts'
import {
  afterBlocks,
  afterReceipts,
  afterWholeBlock,
  type Rescan,
  receiptsToRead,
  triedLate,
  triedLater,
} from './rescan.ts'
import { type PayoutWatch, readOwners, type ScanContext } from './rules.ts'
import { findInBlocks, judgeTransfers } from './scan.ts'
import { selectDueRescan } from './store/rescans.ts'
import { type BlockFindings, type RescanStep, storeRescanStep } from './store/steps.ts'

export interface RescanRules {
  readonly rules: JudgeRules
  /**
   * The newest correction (an operator lowered a wrong finalized height) when reading began.
   * Findings are not stored if a newer one exists.
   */
  readonly correctedBy: number
  readonly watch: PayoutWatch
}

/**
 * Reads blocks again whose time has come: gaps, blocks that an operator asked for, and blocks that
 * a payout needs. Stores and credits what can be read. `rescan.ts` decides when the unread parts
 * are tried again. Begins no read after `until`.
 */
export async function readAgain(context: ScanContext, chain: Chain, rules: RescanRules, until: UnixMs): Promise<void> {
  while (context.clock.now() < until) {
    const due = await selectDueRescan(context.db, context.clock.now())
    if (due === null || !(await readDue(context, chain, rules, due))) return
  }
}

/**
 * Reads a part of one rescan. False if time or allowance is used up, if another read came first, or
 * if an operator lowered the finalized height.
 */
async function readDue(context: ScanContext, chain: Chain, by: RescanRules, due: Rescan): Promise<boolean> {
  const { db, clock } = context
  const last = Math.min(due.from + readBlocksMax - 1, due.to) as BlockHeight // safe: one of the two
  const read = await chain.finalBlocks(due.from, last)
  if (!read.ok && read.error.kind === 'limited') return false
  const blocks = read.ok ? read.value : []
  const { gaps: _, ...found } = findInBlocks(blocks, await readOwners(db, blocks), by.rules, by.watch)
  const [only] = blocks
  if (due.from === due.to && only?.kind === 'read' && only.callsToRead !== null) {
    return await readReceipts(context, chain, by, { due, block: only, calls: only.callsToRead, found })
  }
  const at = clock.now()
  const isLate = !read.ok && read.error.kind === 'out-of-time'
  const failed = isLate ? triedLate(due, at) : triedLater(due, 'no quorum of nodes gives the block', at)
  const left = read.ok ? afterBlocks(due, blocks, at) : [failed]
  const step = { ...found, rescan: due, correctedBy: by.correctedBy, left, isWholeBlock: false, at }
  return (await storeAndReport(context, step)) && !isLate
}

/**
 * Stores what was read, and reports the credited transfers that it contradicts. False if nothing
 * was stored.
 */
async function storeAndReport(context: ScanContext, step: RescanStep): Promise<boolean> {
  const result = await storeRescanStep(context.db, step)
  if (result === 'superseded') return false
  await reportContradicted(context, result.contradicted)
  return true
}

/** A block whose receipts are read in batches. */
interface SingleBlock {
  readonly due: Rescan
  readonly block: Extract<BlockReading, { readonly kind: 'read' }>
  /** The successful calls of the block, which may have logs. */
  readonly calls: readonly Txid[]
  /** The findings in the block before its receipts were read. */
  readonly found: BlockFindings
}

/**
 * The first batch is small: those calls look like token transfers, and are credited before many
 * receipts of a large block take long.
 */
const firstReceipts = 4
const noReceipts = 'no quorum of nodes gives the receipts of the block'

/**
 * Reads the receipts of the calls of a block, a batch at a time, and credits the transfers in the
 * receipts. Each batch is stored together with the progress. False if time or allowance is used up,
 * if another read came first, or if an operator lowered the finalized height.
 */
async function readReceipts(
  context: ScanContext,
  chain: Chain,
  { rules, correctedBy, watch }: RescanRules,
  { due, block: { header, sent }, calls, found }: SingleBlock,
): Promise<boolean> {
  const { db, clock } = context
  const queue = receiptsToRead(due, calls)
  let rescan = due
  let shown = found // what the block shows without its receipts is stored with the first batch
  for (let next = 0; next < queue.length; ) {
    const most = next === 0 ? firstReceipts : receiptsMax
    const read = await readBatch(chain, header, queue.slice(next, next + most))
    if (read === 'limited' || (read === 'late' && next > 0)) return false
    const at = clock.now()
    if (read === 'failed' || read === 'late') {
      const left = [read === 'late' ? triedLate(rescan, at) : triedLater(rescan, noReceipts, at)]
      const step = { ...shown, rescan, correctedBy, left, isWholeBlock: false, at }
      return (await storeAndReport(context, step)) && read !== 'late'
    }
    const batch = queue.slice(next, next + read.count)
    next += read.count
    const owners = await readOwners(db, [read])
    const own = sent.filter(({ txid }) => batch.includes(txid) && !read.unreadable.includes(txid))
    const outgoing = findInReceipts(own, read.transfers, header.height, watch.watched)
    const known = new Set(outgoing.found.map(({ txid }) => txid))
    // `outgoing` says more about the transactions whose receipts were read
    const first = shown.payouts.found.filter(({ txid }) => !known.has(txid))
    const findings: BlockFindings = {
      judged: [...shown.judged, ...judgeTransfers(read.transfers, header, owners, rules)],
      sent: shown.sent,
      // `shown` has no acts of issuers: the block was read without logs
      acts: selectActs(read.acts, header.height, owners, rules),
      payouts: { ...watch, ...outgoing, found: [...first, ...outgoing.found] },
    }
    const part = afterReceipts(rescan, calls.length, batch, read.unreadable)
    const isWholeBlock = next >= queue.length
    const left = isWholeBlock ? afterWholeBlock(part, at) : [{ ...part, nextTry: at }]
    const step = { ...findings, rescan, correctedBy, left, isWholeBlock, at }
    if (!(await storeAndReport(context, step))) return false
    rescan = part
    shown = { judged: [], sent: [], acts: [], payouts: { ...found.payouts, found: [] } }
  }
  return true
}

/**
 * Reads the receipts of these calls in one batch. If that fails, it reads each one alone, because
 * one bad receipt fails the batch. `limited`: the allowance is used up. `late`: the time is.
 * `failed`: no receipt could be read.
 */
async function readBatch(
  chain: Chain,
  block: BlockRef,
  txids: readonly Txid[],
): Promise<ReceiptReading | 'limited' | 'late' | 'failed'> {
  const read = await chain.receiptTransfers(block, txids)
  if (read.ok) return read.value
  if (read.error.kind === 'limited') return 'limited'
  if (read.error.kind === 'out-of-time') return 'late'
  if (txids.length === 1)
    return read.error.kind === 'disagreement' ? { count: 1, transfers: [], acts: [], unreadable: txids } : 'failed'
  const transfers: ChainTransfer[] = []
  const acts: IssuerAct[] = []
  const unreadable: Txid[] = []
  let [count, failed] = [0, 0]
  for (const txid of txids) {
    const single = await readBatch(chain, block, [txid])
    if (single === 'limited' || single === 'late') {
      if (failed === count) return single
      break // what was read so far is stored
    }
    count += 1
    if (single === 'failed') failed += 1
    transfers.push(...(single === 'failed' ? [] : single.transfers))
    acts.push(...(single === 'failed' ? [] : single.acts))
    unreadable.push(...(single === 'failed' ? [txid] : single.unreadable))
  }
  return failed === count ? 'failed' : { count, transfers, acts, unreadable }
}
