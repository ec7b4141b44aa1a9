import type { BlockHeight, Header } from '../chain/block.ts'
import type { AgreedHead, BlockReading, Chain, ChainFailure, ChainTransfer } from '../chain/chain.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import {
  type JudgedBlock,
  type JudgedTransfer,
  type JudgeRules,
  judgeTransfer,
  type Owners,
  type SentFact,
} from '../deposits/transfer.ts'
import { type IssuerFact, selectActs } from '../issuer/acts.ts'
import { findOutgoing } from '../payouts/outgoing.ts'
import { loadPayers } from '../payouts/restore-detector.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { reportContradicted } from './contradicted.ts'
import type { Gap } from './rescan.ts'
import { loadRules, type PayoutWatch, readOwners, type ScanContext, selectOwned, watchedFor } from './rules.ts'
import { haltScan, type ScanState, selectScan, startScan, storeFinalized, storeScanEnd } from './store/position.ts'
import { appendStep, type BlockFindings } from './store/steps.ts'
import { type CaughtUp, noteFalseTails, readTail } from './tail.ts'
import type { TailMemory } from './tail-memory.ts'

export interface ScanEnd {
  /** Null if the scan could not be started. */
  readonly state: ScanState | null
  /** The finalized height that nodes agreed on, or null. */
  readonly head: BlockHeight | null
  /** The height of the newest block that a node has shown, or null. */
  readonly latest: BlockHeight | null
  /** What a look at the tail needs; null if the scan is not caught up. */
  readonly caughtUp: CaughtUp | null
  /** The users of whom this scan has read transfers. */
  readonly paid: ReadonlySet<Uid>
  /** Nodes whose finalized head is lower than that of another node. */
  readonly behind: AgreedHead['behind']
  /** Why the scan is not caught up, or null. */
  readonly failure: ChainFailure | null
  /** The rules by which transfers are judged; null if the nodes agreed on no head. */
  readonly rules: JudgeRules | null
}

/**
 * Reads every final block above the stored position, in order, and credits the deposits in it. Then
 * reads the blocks that are not final. A scan may be killed at any point: the next scan continues.
 * Concurrent scans store nothing twice.
 */
export async function scan(
  context: ScanContext,
  chain: Chain,
  host: Pick<ObjectHost, 'load'>,
  memory: TailMemory,
): Promise<ScanEnd> {
  const { db, clock, logger } = context
  const startedAt = clock.now()
  const started = await ensureStarted(context, chain)
  if (!started.ok) {
    const failure = toChainFailure(started.error)
    logger.info('scan-stopped', { ...failure })
    return { state: null, head: null, latest: null, behind: [], rules: null, failure, caughtUp: null, paid: new Set() }
  }
  const paid = new Set<Uid>()
  const end = await catchUp(context, chain, host, started.value, { startedAt, paid })
  const { state, head, behind, failure, rules } = end
  if (failure !== null) {
    logger.info('scan-stopped', { ...failure })
    await storeScanEnd(db, { startedAt, hasHead: head !== null, problem: failure.kind })
  } else if (state.caughtUpAt !== startedAt) {
    // there was no new block, so no batch of blocks has stored the end
    await storeScanEnd(db, { startedAt, hasHead: true, problem: null })
  }
  const caughtUp = failure === null && head !== null && rules !== null ? { state, head, rules } : null
  const tail = caughtUp === null ? null : await readTail(context, chain, caughtUp, memory)
  const latest = tail?.latest ?? null
  const all = new Set([...paid, ...(tail?.paid ?? [])])
  return { state, head: head?.height ?? null, latest, behind, failure, rules, caughtUp, paid: all }
}

/**
 * How far a scan has come. `state` equals the stored state, but lacks what `storeScanEnd` writes
 * when the scan ends.
 */
interface CatchUp {
  readonly state: ScanState
  readonly head: Header | null
  readonly behind: AgreedHead['behind']
  readonly failure: ChainFailure | null
  readonly rules: JudgeRules | null
}

async function catchUp(
  context: ScanContext,
  chain: Chain,
  host: Pick<ObjectHost, 'load'>,
  first: ScanState,
  { startedAt, paid }: Pick<ScanPlan, 'startedAt' | 'paid'>,
): Promise<CatchUp> {
  const { db, clock } = context
  const agreed = await chain.finalizedHead({ height: first.finalized, time: first.finalizedTime })
  if (!agreed.ok) return { state: first, head: null, behind: [], failure: agreed.error, rules: null }
  const { header: head, behind } = agreed.value
  let state = first
  if (head.height > first.finalized) {
    // Store the head before reading. An address that is issued from now on counts only above this
    // height, so this scan misses no deposit to it.
    const at = clock.now()
    await storeFinalized(db, first, head, at)
    state = { ...first, finalized: head.height, finalizedTime: head.timestamp, finalizedAt: at }
  }
  const rules = await loadRules(context, chain, state.height, await loadPayers(host))
  let unread = 0
  while (state.height < head.height) {
    const read = await readRange(context, chain, state, { head: head.height, rules, startedAt, paid })
    // a concurrent scan may have stored a halt
    if (!read.ok) return { state: (await selectScan(db)) ?? state, head, behind, rules, failure: read.error }
    if (read.value !== null) {
      state = read.value
      if (state.hash === null) unread += 1
      if (unread === unreadRangesMax) return { state, head, behind, rules, failure: { kind: 'out-of-time' } }
      continue
    }
    const { correctedBy, height, openPayers } = state
    state = (await selectScan(db)) ?? state
    const isWatchedNow = state.openPayers.every((address) => openPayers.includes(address))
    // An operator has lowered the finalized height, or an older copy of the database was restored.
    // The head may be too high, so the next scan asks for it.
    if (state.correctedBy !== correctedBy || (state.height <= height && isWatchedNow)) {
      return { state, head, behind, rules, failure: { kind: 'out-of-time' } }
    }
  }
  return { state, head, behind, rules, failure: null }
}

/**
 * Why the scan cannot start: the chain cannot be read, or `TRON_START_BLOCK` is above the agreed
 * finalized head.
 */
type StartFailure = ChainFailure | { readonly kind: 'start-above-head' }

/**
 * Returns the state of the scan. Starts a scan that was never started, and stores the agreed head.
 * No address is shown before ("watch before show").
 */
export async function ensureStarted(
  { db, clock, startBlock }: ScanContext,
  chain: Chain,
): Promise<Result<ScanState, StartFailure>> {
  const stored = await selectScan(db)
  if (stored !== null) return ok(stored)
  const head = await chain.finalizedHead(null)
  if (!head.ok) return head
  const { height, hash } = head.value.header
  if (startBlock !== null && startBlock > height) return err({ kind: 'start-above-head' })
  // Without `TRON_START_BLOCK` the finalized block counts as read: it was final before any address
  // was issued, so it has no deposit.
  const position = startBlock === null ? { height, hash } : { height: (startBlock - 1) as BlockHeight, hash: null }
  await startScan(db, position, head.value.header, clock.now())
  const state = await selectScan(db)
  if (state === null) throw new Error('the scan has not started')
  return ok(state)
}

function toChainFailure(failure: StartFailure): ChainFailure {
  if (failure.kind !== 'start-above-head') return failure
  return { kind: 'no-answer', why: 'TRON_START_BLOCK is above the final block that the nodes agree on' }
}

/**
 * Most ranges of one scan that end in a block that could not be read. Nodes that lack a long
 * history then cost each tick a bounded number of gaps.
 */
const unreadRangesMax = 50

interface ScanPlan {
  /** The height of the newest final block. */
  readonly head: BlockHeight
  readonly rules: JudgeRules
  readonly startedAt: UnixMs
  /** Gets the users of whom transfers were read. */
  readonly paid: Set<Uid>
}

/**
 * Reads the blocks above the position, as many as fit into one reply, and stores position,
 * transfers, credits and gaps in one batch. A block that cannot be read becomes a gap, and the
 * position passes it. Returns the new state; null if another scan has moved the position first, so
 * that nothing was stored.
 */
async function readRange(
  context: ScanContext,
  chain: Chain,
  state: ScanState,
  { head, rules, startedAt, paid }: ScanPlan,
): Promise<Result<ScanState | null, ChainFailure>> {
  const { db, clock } = context
  const from = (state.height + 1) as BlockHeight // safe: a height plus 1 is a height
  const read = await chain.finalBlocks(from, head)
  if (!read.ok) return read
  const [first] = read.value
  const last = read.value.at(-1)
  if (first === undefined || last === undefined) throw new Error('a range without a block')
  if (first.kind === 'read' && state.hash !== null && first.header.parentHash !== state.hash) {
    await haltScan(db, state, `block ${from} does not follow block ${state.height}, which is stored`)
    return err({ kind: 'forked', at: from })
  }
  const { height, hash } = last.kind === 'read' ? last.header : { height: last.height, hash: null }
  const found = findInBlocks(read.value, await readOwners(db, read.value), rules, watchedFor(state, rules))
  const caughtUpAt = height === head ? startedAt : null
  const at = clock.now()
  const result = await appendStep(db, { expected: state, to: { height, hash }, ...found, caughtUpAt, at })
  if (result.kind === 'superseded') return ok(null)
  for (const one of found.judged) if ('uid' in one) paid.add(one.uid)
  noteFalseTails(chain, result.dropped)
  await reportContradicted(context, result.contradicted)
  const isCaughtUp = caughtUpAt === null ? {} : { caughtUpAt: startedAt, triedAt: startedAt, problem: null }
  return ok({ ...state, height, hash, advancedAt: at, halted: null, ...isCaughtUp })
}

/**
 * Finds what is to be stored of final blocks: transfers to or from addresses of the service,
 * transactions that these addresses have sent, acts of token issuers, payouts, and blocks that
 * could not be read (gaps).
 */
export function findInBlocks(
  blocks: readonly BlockReading[],
  owners: Owners,
  rules: JudgeRules,
  watch: PayoutWatch,
): BlockFindings & { readonly gaps: readonly Gap[] } {
  const judged: JudgedTransfer[] = []
  const sent: SentFact[] = []
  const acts: IssuerFact[] = []
  const gaps: Gap[] = []
  const { native } = rules.currencies
  for (const block of blocks) {
    if (block.kind === 'not-agreed') {
      gaps.push({ height: block.height, kind: 'not-agreed' })
      continue
    }
    const { height } = block.header
    if (block.callsToRead !== null) gaps.push({ height, kind: 'receipts' })
    judged.push(...judgeTransfers(block.transfers, block.header, owners, rules))
    acts.push(...selectActs(block.acts, height, owners, rules))
    if (native === null) continue
    for (const { txid, owner } of block.sent) {
      if (owners.has(owner)) sent.push({ txid, address: owner, height, cuy: native.cuy })
    }
  }
  return { judged, sent, acts, gaps, payouts: { ...watch, ...findOutgoing(blocks, watch.watched) } }
}

/**
 * Judges the transfers of a final block. Leaves out transfers that are not stored, such as those of
 * strangers.
 */
export function judgeTransfers(
  transfers: readonly ChainTransfer[],
  block: JudgedBlock,
  owners: Owners,
  rules: JudgeRules,
): readonly JudgedTransfer[] {
  return selectOwned(transfers, owners).flatMap((transfer) => {
    const judged = judgeTransfer(transfer, block, owners, rules)
    return judged === null || judged === 'paid-before-issue' ? [] : [judged]
  })
}
