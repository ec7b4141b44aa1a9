import type { BlockHash, BlockHeight, BlockRef, Txid } from '../chain/block.ts'
import {
  type BlockReading,
  type Chain,
  type ChainTransfer,
  type ReceiptReading,
  readBlocksMax,
  receiptsMax,
} from '../chain/chain.ts'
import type { RescanId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { JudgeRules } from '../deposits/transfer.ts'
import { storeTransfers } from '../deposits/transfers.ts'
import { noteFound, type Rescan, selectDueRescan, storeRescanStep } from './rescans.ts'
import { readOwners, type ScanContext } from './rules.ts'
import { judgeBlocks, judgeTransfers } from './scan.ts'

const retryMsMin = 60_000
const retryMsMax = 86_400_000
/** Tries, a quarter of an hour, after which the rest of a gap does not wait for the blocks of its first reply any more. */
const splitAttempts = 4

/** Why a block of a gap cannot be read. `stopped`: there is no time or allowance for it now. */
interface Unread {
  readonly height: BlockHeight
  readonly why: string | 'stopped'
  /** The only transactions of the block that are not read; null where more of it is not. */
  readonly txids: readonly Txid[] | null
}

/**
 * Reads the blocks that are due again: gaps, and what an operator asked for. What can be read is stored and credited, and the
 * rest is tried ever more rarely, to once a day.
 */
export async function readAgain(
  context: ScanContext,
  chain: Chain,
  { rules, correctedBy }: { readonly rules: JudgeRules; readonly correctedBy: number },
  until: UnixMs,
): Promise<void> {
  while (context.clock.now() < until) {
    const due = await selectDueRescan(context.db, context.clock.now())
    if (due === null || !(await readDue(context, chain, rules, due, correctedBy))) return
  }
}

/** False where there is no time or allowance for more, or where a correction came in between. */
async function readDue(
  context: ScanContext,
  chain: Chain,
  rules: JudgeRules,
  due: Rescan,
  correctedBy: number,
): Promise<boolean> {
  const { db, clock } = context
  const { id, kind, next, attempts } = due
  const last = Math.min(next + readBlocksMax - 1, due.to) as BlockHeight // safe: one of the two
  const read = await chain.finalBlocks(next, last)
  if (!read.ok && (read.error.kind === 'limited' || read.error.kind === 'out-of-time')) return false
  const blocks = read.ok ? read.value : []
  const found = judgeBlocks(blocks, await readOwners(db, blocks), rules)
  await noteFound(context, correctedBy, found.decided)
  const unread: Unread[] = []
  for (const block of blocks) {
    const one = await readWhole(context, chain, rules, block, correctedBy, kind === 'request' ? id : 0)
    if (one !== null) unread.push(one)
    if (one?.why === 'stopped') break
  }
  const step = stepOf(due, blocks, unread)
  const at = clock.now()
  const isRetry = step.next === next && unread[0]?.why !== 'stopped'
  const reached = unread.find(({ height }) => height === step.next)?.why ?? 'stopped'
  const why = read.ok ? (reached === 'stopped' ? 'it is not read yet' : reached) : 'no quorum of nodes gives the block'
  const stored = await storeRescanStep(db, {
    ...{ id, correctedBy, from: next, decided: found.decided, sent: found.sent, at, ...step },
    attempts: step.next !== next ? 0 : isRetry ? attempts + 1 : attempts,
    nextTry: isRetry ? ((at + Math.min(retryMsMin * 2 ** attempts, retryMsMax)) as UnixMs) : at, // safe: now or later
    why: kind === 'request' || (read.ok && unread.length === 0) ? null : why,
    gapsWhy: kind === 'request' ? null : (unread[0]?.why ?? null),
    unread: unread.flatMap(({ height, txids }) => (txids === null ? [] : [{ height, txids }])),
  })
  return stored === 'stored' && !unread.some((one) => one.why === 'stopped')
}

/** Reads what a block has. Null where all of it was read. */
async function readWhole(
  context: ScanContext,
  chain: Chain,
  rules: JudgeRules,
  block: BlockReading,
  correctedBy: number,
  request: RescanId | 0,
): Promise<Unread | null> {
  const height = block.kind === 'read' ? block.header.height : block.height
  if (block.kind === 'not-agreed') return { height, txids: null, why: 'the nodes do not agree on the block' }
  if (block.callsToRead === null) return null
  const receipts = await readCalls(context, chain, rules, block.header, block.callsToRead, { correctedBy, request })
  if (receipts === 'stopped') return { height, txids: null, why: receipts }
  if (receipts === 'failed') return { height, txids: null, why: 'no quorum of nodes gives the receipts of the block' }
  const [first] = receipts
  if (first === undefined) return null
  const others = receipts.length - 1
  const why = `transaction ${first}${others > 0 ? ` and ${others} others` : ''} cannot be read`
  return { height, txids: receipts, why }
}

/**
 * How far the rescan goes. Blocks of a requested range that cannot be read become gaps. So do the first ones of a gap, where a
 * later one of it can be read, or after some tries, where there are more than fit into one reply: it waits for none of them.
 */
function stepOf(
  { kind, next, to, attempts }: Rescan,
  blocks: readonly BlockReading[],
  unread: readonly Unread[],
): { readonly next: BlockHeight; readonly gaps: readonly BlockHeight[] } {
  const after = (next + blocks.length) as BlockHeight // safe: at most one above the last block
  if (kind === 'request') {
    const stop = unread.find(({ why }) => why === 'stopped')?.height ?? after
    return { next: stop, gaps: unread.flatMap(({ height }) => (height < stop ? height : [])) }
  }
  const [first] = unread
  if (first === undefined) return { next: after, gaps: [] }
  if (first.height > next) return { next: first.height, gaps: [] }
  // One that there is no time for now waits for no unreadable one before it, and is no reason to try it ever more rarely.
  const heights = unread.flatMap(({ height, why }) => (why === 'stopped' ? [] : height))
  const readable = heights.findIndex((height, i) => height !== next + i)
  const run = readable === -1 ? heights.length : readable
  const canSplit = run < blocks.length || (next + run <= to && attempts >= splitAttempts)
  if (!canSplit) return { next, gaps: [] }
  return { next: (next + run) as BlockHeight, gaps: heights.slice(0, run) } // safe: one of the blocks
}

const memoryKey = 'receipts'
/** Blocks of which it is remembered how far their receipts were read. Those of a forgotten one are read from the first on. */
const rememberedMax = 20

/** How far the receipts of a block were read. */
interface Progress {
  readonly done: number
  readonly unreadable: readonly Txid[]
  /** The newest correction then: a later one has removed what was not credited, so all of them are read again. */
  readonly correctedBy: number
  /** The newest operator's request that they were read after, or 0: a newer one has all of them read again. */
  readonly request: RescanId | 0
}

/**
 * Reads the receipts of the calls of a block, a batch at a time, and credits what is in them. How far it is outlives this
 * instance. Once all were tried, only those that could not be read are tried again. Returns those. `stopped`: there is no time or
 * allowance for more now.
 */
async function readCalls(
  { db, host, clock }: ScanContext,
  chain: Chain,
  rules: JudgeRules,
  block: BlockRef,
  calls: readonly Txid[],
  { correctedBy, request }: Pick<Progress, 'correctedBy' | 'request'>,
): Promise<readonly Txid[] | 'stopped' | 'failed'> {
  const all = (await host.load<Record<BlockHash, Progress>>(memoryKey)) ?? {}
  const known = all[block.hash]
  const isCurrent = known?.correctedBy === correctedBy && known.request >= request
  const before = isCurrent ? known : { done: 0, unreadable: [], correctedBy, request }
  const isFirstPass = before.done < calls.length
  const queue = isFirstPass ? calls.slice(before.done) : before.unreadable
  const unreadable = isFirstPass ? [...before.unreadable] : []
  const save = (done: number) => {
    const others = Object.entries(all).filter(([hash]) => hash !== block.hash)
    const kept = others.slice(-(rememberedMax - 1))
    host.save(memoryKey, { ...Object.fromEntries(kept), [block.hash]: { ...before, done, unreadable } })
  }
  if (!isCurrent) save(0) // before the first reply can fail: what is left to others is read again, too
  for (let i = 0; i < queue.length; i += receiptsMax) {
    const batch = queue.slice(i, i + receiptsMax)
    const read = await readBatch(chain, block, batch)
    if (read === 'failed' && !isFirstPass) return before.unreadable
    if (read === 'failed' || read === 'stopped') return read
    const decided = judgeTransfers(read.transfers, block, await readOwners(db, [read]), rules)
    await noteFound({ host }, correctedBy, decided)
    if ((await storeTransfers(db, decided, clock.now(), correctedBy)) !== 'stored') return 'stopped'
    unreadable.push(...read.unreadable)
    if (isFirstPass) save(before.done + i + batch.length)
  }
  if (!isFirstPass) save(before.done)
  return unreadable
}

/** Where a batch cannot be read, each receipt is read alone: one of them can be the reason. */
async function readBatch(
  chain: Chain,
  block: BlockRef,
  txids: readonly Txid[],
): Promise<ReceiptReading | 'stopped' | 'failed'> {
  const read = await chain.receiptTransfers(block, txids)
  if (read.ok) return read.value
  const { kind } = read.error
  if (kind === 'limited' || kind === 'out-of-time') return 'stopped'
  if (txids.length === 1) return kind === 'disagreement' ? { transfers: [], unreadable: txids } : 'failed'
  const transfers: ChainTransfer[] = []
  const unreadable: Txid[] = []
  let failed = 0
  for (const txid of txids) {
    const one = await readBatch(chain, block, [txid])
    if (one === 'stopped') return one
    if (one === 'failed') failed += 1
    transfers.push(...(one === 'failed' ? [] : one.transfers))
    unreadable.push(...(one === 'failed' ? [txid] : one.unreadable))
  }
  return failed === txids.length ? 'failed' : { transfers, unreadable }
}
