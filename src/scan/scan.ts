import { type BlockHeight, type BlockRef, blockSeconds, type Header } from '../chain/block.ts'
import { type BlockReading, type Chain, type ChainFailure, type ChainTransfer, readBlocksMax } from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import {
  type DecidedTransfer,
  type JudgeRules,
  judgeSeen,
  judgeTransfer,
  type Owners,
  type SentFact,
} from '../deposits/transfer.ts'
import { storeTransfers } from '../deposits/transfers.ts'
import { noteFound, openRecheck } from './rescans.ts'
import { createOwners, loadRules, type ScanContext } from './rules.ts'
import {
  appendStep,
  haltScan,
  type ScanState,
  secondsToFinal,
  selectScan,
  startScan,
  storeFinalized,
  storeScanEnd,
} from './scan-state.ts'

/** Replies that one scan reads of the tail, which usually fits into one. */
const tailReadsMax = 5
/** A block of this age is not the newest one of a node that is well. */
const newestMsMax = 2 * blockSeconds * 1000

/** When the newest scan began that has ended, as the object remembers it. */
const triedKey = 'tried'
/** What the object remembers of the database: it is forgotten where an older copy was restored. */
const memoryKeys = ['receipts', 'recheck', 'operators', 'compare']

/** What the scans of one instance remember: the newest block of the tail that was read. It can be lost at any time. */
export interface TailMemory {
  newest: BlockRef | null
}

/** How a scan ended. */
export interface ScanEnd {
  /** Null where the scan could not be started. */
  readonly state: ScanState | null
  /** The finalized height that nodes agreed on, or null. */
  readonly head: BlockHeight | null
  /** The newest block of a node, or null. */
  readonly latest: BlockHeight | null
  /** Why the scan is not caught up, or null. */
  readonly failure: ChainFailure | null
  /** What transfers are judged by; null where no head was agreed on. */
  readonly rules: JudgeRules | null
}

/**
 * Finds final deposits and credits them: reads every final block above the stored position, in order, and then the tail. It is
 * repeated where it ends anywhere. Two scans at a time store nothing twice.
 */
export async function scan(context: ScanContext, chain: Chain, tail: TailMemory): Promise<ScanEnd> {
  const { db, clock, logger, host } = context
  const startedAt = clock.now()
  const triedAt = (await host.load<UnixMs>(triedKey)) ?? 0
  const started = await ensureStarted(context, chain)
  const end = started.ok
    ? await catchUp(context, chain, started.value, triedAt, tail)
    : { ...notYet, state: null, failure: toChainFailure(started.error) }
  if (end.failure !== null) logger.info('scan-stopped', { ...end.failure })
  if (!started.ok) return end
  await storeScanEnd(db, { startedAt, triedBefore: started.value.triedAt, problem: end.failure?.kind ?? null })
  host.save(triedKey, startedAt)
  return end
}

const notYet = { head: null, latest: null, rules: null }

/** `triedAt`: when the newest scan began that has ended, as the object remembers it. */
async function catchUp(
  context: ScanContext,
  chain: Chain,
  first: ScanState,
  triedAt: number,
  tail: TailMemory,
): Promise<ScanEnd> {
  const { db, clock, host } = context
  let state = first
  if (state.triedAt < triedAt) for (const key of memoryKeys) host.save(key, null)
  const agreed = await chain.finalizedHead({ height: state.finalized, time: state.finalizedTime })
  if (!agreed.ok) return { ...notYet, state, failure: agreed.error }
  const head = agreed.value.header
  // First: an address that is issued from now on is not paid by any block that this scan reads.
  await storeFinalized(db, state, head, clock.now())
  const rules = await loadRules(context, chain, state.height)
  await openRecheck(context, state)
  let failure: ChainFailure | null = null
  while (state.height < head.height && failure === null) {
    const range = await readRange(context, chain, state, head.height, rules)
    if (!range.ok) failure = range.error
    const { correctedBy, height } = state
    state = (await selectScan(db)) ?? state
    // The head can be what was corrected, or above that of a restored older copy: the next scan asks again.
    if (state.correctedBy !== correctedBy || (range.ok && state.height <= height)) failure = { kind: 'out-of-time' }
  }
  const latest = failure === null ? await readTail(context, chain, { state, head, rules }, tail) : null
  if (state === first) state = (await selectScan(db)) ?? state // with the finalized head that is stored by now
  return { state, head: head.height, latest, failure, rules }
}

/** Why the scan cannot start: the chain cannot be read, or `TRON_START_BLOCK` is above the agreed finalized head. */
type StartFailure = ChainFailure | { readonly kind: 'start-above-head' }

/**
 * The state of the scan, which starts here where it never did: the condition for showing an address ("watch before show").
 * The agreed finalized head is stored with it.
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
  // By default the finalized block counts as scanned: it was final before any address was issued.
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
 * Reads the blocks above the position, as many as fit into one reply, and stores position, transfers, credits and gaps
 * together. A block that cannot be read does not stop the position: it becomes a gap. Nothing is stored where another instance
 * moved the position.
 */
async function readRange(
  context: ScanContext,
  chain: Chain,
  state: ScanState,
  head: BlockHeight,
  rules: JudgeRules,
): Promise<Result<null, ChainFailure>> {
  const { db, clock } = context
  const { height, hash } = state
  const from = (height + 1) as BlockHeight // safe: the next height
  const to = Math.min(height + readBlocksMax, head) as BlockHeight // safe: one of the two
  const { match, owners } = createOwners(db)
  const read = await chain.finalBlocks(from, to, match)
  if (!read.ok) return read
  const [first] = read.value
  const last = read.value.at(-1)
  if (first === undefined || last === undefined) throw new Error('a range without a block')
  if (first.kind === 'read' && hash !== null && first.header.parentHash !== hash) {
    await haltScan(db, state, `block ${from} does not follow block ${height}, which is stored`)
    return err({ kind: 'forked', at: from })
  }
  const end = last.kind === 'read' ? last.header : { height: last.height, hash: null }
  const found = judgeBlocks(read.value, owners, rules)
  await noteFound(context, state.correctedBy, found.decided)
  await appendStep(db, { expected: state, to: end, ...found, at: clock.now() })
  return ok(null)
}

/** What is to be stored of final blocks. `gaps`: those that could not be read, or of which the token transfers could not. */
export function judgeBlocks(blocks: readonly BlockReading[], owners: Owners, rules: JudgeRules) {
  const decided: DecidedTransfer[] = []
  const sent: SentFact[] = []
  const gaps: BlockHeight[] = []
  const { native } = rules.currencies
  for (const block of blocks) {
    if (block.kind === 'not-agreed') {
      gaps.push(block.height)
      continue
    }
    const { height } = block.header
    if (block.callsToRead !== null) gaps.push(height)
    decided.push(...judgeTransfers(block.transfers, block.header, owners, rules))
    if (native === null) continue
    for (const { txid, owner } of block.sent) sent.push({ txid, address: owner, height, cuy: native.cuy })
  }
  return { decided, sent, gaps }
}

/** The transfers of a final block that are stored. */
export function judgeTransfers(
  transfers: readonly ChainTransfer[],
  block: BlockRef,
  owners: Owners,
  rules: JudgeRules,
): readonly DecidedTransfer[] {
  return transfers.flatMap((transfer) => {
    const judged = judgeTransfer(transfer, block, owners, rules)
    return judged === null || judged === 'early' ? [] : [judged]
  })
}

/** What a scan that is caught up knows. */
interface CaughtUp {
  readonly state: ScanState
  readonly head: Header
  readonly rules: JudgeRules
}

/**
 * Stores the transfers to callers in the blocks that are not final: information, never money, and no reason for a scan to
 * fail. Blocks that were read before are not read again, unless they have left the chain.
 * @returns the newest block of the node, or null where there was no reply
 */
async function readTail(
  { db, clock, logger }: ScanContext,
  chain: Chain,
  { state, head, rules }: CaughtUp,
  memory: TailMemory,
): Promise<BlockHeight | null> {
  const { height, hash } = state
  const base = hash !== null && height > head.height ? { height, hash } : head
  if (memory.newest === null || memory.newest.height <= base.height) memory.newest = base
  const finalized = Math.max(height, head.height) as BlockHeight // safe: one of the two
  let latest: BlockHeight | null = null
  for (let reads = 0; reads < tailReadsMax; reads += 1) {
    const { match, owners } = createOwners(db)
    const tail = await chain.tail(memory.newest, match)
    if (!tail.ok) {
      logger.info('tail-unread', { why: tail.error.kind })
      return latest
    }
    const { follows, blocks } = tail.value
    latest = tail.value.latest
    const seen = blocks.flatMap(({ header, transfers }) => {
      const seconds = secondsToFinal(header.height, finalized, tail.value.latest)
      return transfers.flatMap((transfer) => judgeSeen(transfer, header, owners, rules, seconds) ?? [])
    })
    await storeTransfers(db, seen, clock.now())
    const newest = blocks.at(-1)?.header
    const hasLeft = !follows && memory.newest !== base
    if (!hasLeft && (newest === undefined || clock.now() - newest.timestamp < newestMsMax)) return latest
    memory.newest = newest ?? base
  }
  return latest
}
