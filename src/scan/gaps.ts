import type { BlockHeight, BlockRef, Txid } from '../chain/block.ts'
import {
  type BlockReading,
  type Chain,
  type ChainFailure,
  type ChainTransfer,
  type IssuerAct,
  type ReceiptReading,
  readBlocksMax,
  receiptsMax,
  type SentTransaction,
} from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { JudgeRules } from '../deposits/transfer.ts'
import { type IssuerFact, selectActs } from '../issuer/acts.ts'
import type { ReadOfPayouts } from '../payouts/conclusions.ts'
import { findInReceipts, findOutgoing } from '../payouts/outgoing.ts'
import { type PayoutWatch, readOwners, type ScanContext } from './rules.ts'
import { judgeBlocks, judgeTransfers } from './scan.ts'
import {
  notAgreed,
  type Rescan,
  type RescanPart,
  receiptsMissing,
  selectDueRescan,
  splitAttempts,
} from './store/rescans.ts'
import { storeRescanStep } from './store/steps.ts'

const retryMsMin = 60_000
const retryMsMax = 86_400_000

/** What blocks that are read again are judged by. */
export interface RescanRules {
  readonly rules: JudgeRules
  /** The newest correction. What was read before another one is not stored. */
  readonly correctedBy: number
  readonly watch: PayoutWatch
}

/**
 * Reads the blocks that are due again: gaps, and what an operator asked for. What can be read is stored and credited, and the
 * rest is tried ever more rarely, to once a day.
 */
export async function readAgain(context: ScanContext, chain: Chain, rules: RescanRules, until: UnixMs): Promise<void> {
  while (context.clock.now() < until) {
    const due = await selectDueRescan(context.db, context.clock.now())
    if (due === null || !(await readDue(context, chain, rules, due))) return
  }
}

/** False if there is no time or allowance for more, or if another read or a correction came in between. */
async function readDue(context: ScanContext, chain: Chain, rules: RescanRules, due: Rescan): Promise<boolean> {
  const { db, clock } = context
  const last = Math.min(due.from + readBlocksMax - 1, due.to) as BlockHeight // safe: one of the two
  const read = await chain.finalBlocks(due.from, last)
  if (!read.ok && isOver(read.error)) return false
  const blocks = read.ok ? read.value : []
  const owners = await readOwners(db, blocks)
  const { judged, sent, acts } = judgeBlocks(blocks, owners, rules.rules)
  const payouts = { ...rules.watch, ...findOutgoing(blocks, rules.watch.watched) }
  const [only] = blocks
  if (due.from === due.to && only?.kind === 'read' && only.callsToRead !== null) {
    return await readReceipts(context, chain, rules, {
      due,
      block: only.header,
      calls: only.callsToRead,
      senders: only.sent,
      judged,
      sent,
      payouts,
      acts,
    })
  }
  const at = clock.now()
  const left = read.ok ? partsLeft(due, blocks, at) : [triedLater(due, 'no quorum of nodes gives the block', at)]
  const { correctedBy } = rules
  const step = { rescan: due, correctedBy, judged, sent, acts, payouts, left, isWholeBlock: false, at }
  return (await storeRescanStep(db, step)) === 'stored'
}

const isOver = ({ kind }: ChainFailure) => kind === 'limited' || kind === 'out-of-time'

/** A part that could not be read, and is tried ever more rarely. */
function triedLater(part: RescanPart, why: string, at: UnixMs): RescanPart {
  const waitMs = Math.min(retryMsMin * 2 ** part.attempts, retryMsMax)
  return { ...part, why, attempts: part.attempts + 1, nextTry: (at + waitMs) as UnixMs } // safe: a later time
}

/**
 * What is left of a rescan after a read of its first blocks: runs of blocks that nodes do not agree on, each block whose receipts are
 * to be read, and the rest, which was not asked for yet. If nothing that was read is agreed on, the rest waits with it for some
 * tries: nodes that differ for a while differ about many blocks.
 */
function partsLeft(due: RescanPart, blocks: readonly BlockReading[], at: UnixMs): readonly RescanPart[] {
  const next = (due.from + blocks.length) as BlockHeight // safe: at most one above the last block
  const isNothing = blocks.every(({ kind }) => kind === 'not-agreed')
  if (isNothing && next <= due.to && due.attempts < splitAttempts) return [triedLater(due, notAgreed, at)]
  const fresh = { attempts: 0, nextTry: at, why: null, receipts: 0, unread: [] }
  const parts: RescanPart[] = []
  for (const block of blocks) {
    if (block.kind === 'read') {
      const { height } = block.header
      if (block.callsToRead !== null) parts.push({ ...fresh, from: height, to: height, why: receiptsMissing })
      continue
    }
    const { height } = block
    const below = parts.at(-1)
    const goesOn = below !== undefined && below.attempts > 0 && below.to === height - 1
    if (goesOn) parts[parts.length - 1] = { ...below, to: height }
    else parts.push(triedLater({ ...fresh, from: height, to: height, attempts: due.attempts }, notAgreed, at))
  }
  return next > due.to ? parts : [...parts, { ...fresh, from: next, to: due.to }]
}

/** A block whose receipts are read one by one. */
interface SingleBlock {
  readonly due: Rescan
  readonly block: BlockRef
  /** Its successful calls. */
  readonly calls: readonly Txid[]
  /** Who has sent each transaction of the block. */
  readonly senders: readonly SentTransaction[]
  readonly judged: ReturnType<typeof judgeTransfers>
  readonly sent: ReturnType<typeof judgeBlocks>['sent']
  readonly payouts: ReadOfPayouts
  readonly acts: readonly IssuerFact[]
}

/**
 * Reads the receipts of the calls of a block, a batch at a time, and credits what is in them. How far it is, is stored with each
 * batch. Once all were tried, only those that could not be read are tried again. False as in `readDue`.
 */
async function readReceipts(
  { db, clock }: ScanContext,
  chain: Chain,
  { rules, correctedBy, watch }: RescanRules,
  { due, block, calls, senders, ...found }: SingleBlock,
): Promise<boolean> {
  const isFirstPass = due.receipts < calls.length
  const queue = isFirstPass ? calls.slice(due.receipts) : due.unread
  const unreadable = isFirstPass ? [...due.unread] : []
  let rescan = due
  for (let i = 0; i < queue.length; i += receiptsMax) {
    const batch = queue.slice(i, i + receiptsMax)
    const read = await readBatch(chain, block, batch)
    if (read === 'stopped') return false
    const at = clock.now()
    if (read === 'failed') {
      const left = [triedLater(rescan, 'no quorum of nodes gives the receipts of the block', at)]
      const step = { rescan, correctedBy, ...found, left, isWholeBlock: false, at }
      return (await storeRescanStep(db, step)) === 'stored'
    }
    const owners = await readOwners(db, [read])
    const judged = [...(i === 0 ? found.judged : []), ...judgeTransfers(read.transfers, block, owners, rules)]
    unreadable.push(...read.unreadable)
    const untried = queue.slice(i + batch.length)
    const receipts = isFirstPass ? due.receipts + i + batch.length : due.receipts
    const part = { ...rescan, receipts, unread: isFirstPass ? [...unreadable] : [...unreadable, ...untried] }
    const isWholeBlock = untried.length === 0
    const left = isWholeBlock ? whatCannotBeRead(part, at) : [{ ...part, nextTry: at }]
    const sent = i === 0 ? found.sent : []
    const acts = selectActs(read.acts, block.height, owners, rules) // the block itself has none
    const isReadable = (txid: Txid) => batch.includes(txid) && !read.unreadable.includes(txid)
    const own = senders.filter(({ txid }) => isReadable(txid))
    const calls = findInReceipts(own, read.transfers, block.height, watch.watched)
    const isStill = ({ txid }: { readonly txid: Txid }) => calls.found.every((one) => one.txid !== txid)
    const first = i === 0 ? found.payouts.found.filter(isStill) : [] // its receipt says more
    const payouts = { ...watch, ...calls, found: [...first, ...calls.found] }
    const step = { rescan, correctedBy, judged, sent, acts, payouts, left, isWholeBlock, at }
    const stored = await storeRescanStep(db, step)
    if (stored === 'superseded') return false
    rescan = { ...rescan, receipts, unread: part.unread }
  }
  return true
}

/** What is left of a block after all its receipts were tried. */
function whatCannotBeRead(part: RescanPart, at: UnixMs): readonly RescanPart[] {
  const [first] = part.unread
  if (first === undefined) return []
  const others = part.unread.length - 1
  return [triedLater(part, `transaction ${first}${others > 0 ? ` and ${others} others` : ''} cannot be read`, at)]
}

/** Each receipt is read alone if a batch cannot be read: one of them can be the reason. */
async function readBatch(
  chain: Chain,
  block: BlockRef,
  txids: readonly Txid[],
): Promise<ReceiptReading | 'stopped' | 'failed'> {
  const read = await chain.receiptTransfers(block, txids)
  if (read.ok) return read.value
  if (isOver(read.error)) return 'stopped'
  if (txids.length === 1)
    return read.error.kind === 'disagreement' ? { transfers: [], acts: [], unreadable: txids } : 'failed'
  const transfers: ChainTransfer[] = []
  const acts: IssuerAct[] = []
  const unreadable: Txid[] = []
  let failed = 0
  for (const txid of txids) {
    const one = await readBatch(chain, block, [txid])
    if (one === 'stopped') return one
    if (one === 'failed') failed += 1
    transfers.push(...(one === 'failed' ? [] : one.transfers))
    acts.push(...(one === 'failed' ? [] : one.acts))
    unreadable.push(...(one === 'failed' ? [txid] : one.unreadable))
  }
  return failed === txids.length ? 'failed' : { transfers, acts, unreadable }
}
