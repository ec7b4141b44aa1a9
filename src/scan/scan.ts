import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { JudgeRules } from '../deposits/judge.ts'
import { noteFound, openRecheck } from './corrected-credits.ts'
import { readRange } from './read.ts'
import { loadRules, type ScanContext } from './rules.ts'
import { type ScanState, selectScan, startScan, storeFinalized, storeScanEnd } from './scan-state.ts'
import { readTail, type TailMemory } from './tail.ts'

/** What a scan asks the nodes. */
export type ScanChain = Pick<Chain, 'finalizedHead' | 'finalBlocks' | 'tail' | 'decimals'>

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
export async function scan(context: ScanContext, chain: ScanChain, tail: TailMemory): Promise<ScanEnd> {
  const { db, clock, logger } = context
  const startedAt = clock.now()
  const end = await catchUp(context, chain, tail)
  if (end.failure !== null) logger.info('scan-stopped', { ...end.failure })
  if (end.state !== null) await storeScanEnd(db, { startedAt, problem: end.failure?.kind ?? null })
  return end
}

async function catchUp(context: ScanContext, chain: ScanChain, tail: TailMemory): Promise<ScanEnd> {
  const { db, clock } = context
  const started = await ensureStarted(context, chain)
  const notYet = { head: null, latest: null, rules: null }
  if (!started.ok) return { ...notYet, state: null, failure: toChainFailure(started.error) }
  let state = started.value
  const agreed = await chain.finalizedHead({ height: state.finalized, time: state.finalizedTime })
  if (!agreed.ok) return { ...notYet, state, failure: agreed.error }
  const head = agreed.value
  // First: an address that is issued from now on is not paid by any block that this scan reads.
  await storeFinalized(db, state, head, clock.now())
  const rules = await loadRules(context, chain, state.height)
  let recheck = await openRecheck(context, state)
  let failure: ChainFailure | null = null
  while (state.height < head.height && failure === null) {
    const range = await readRange(context, chain, state, head.height, rules)
    if (range.kind === 'failed') failure = range.failure
    if (range.kind === 'stored') recheck = noteFound(context, recheck, range.decided)
    const { correctedBy } = state
    state = (await selectScan(db)) ?? state
    // The head can be what was corrected: the next scan asks again.
    if (state.correctedBy !== correctedBy) failure = { kind: 'out-of-time' }
  }
  const latest = failure === null ? await readTail(context, chain, { state, head, rules }, tail) : null
  state = (await selectScan(db)) ?? state
  return { state, head: head.height, latest, failure, rules }
}

/** Why the scan cannot start: the chain cannot be read, or `TRON_START_BLOCK` is above the agreed finalized head. */
export type StartFailure = ChainFailure | { readonly kind: 'start-above-head' }

/**
 * The state of the scan, which starts here where it never did: the condition for showing an address ("watch before show").
 * The agreed finalized head is stored with it.
 */
export async function ensureStarted(
  { db, clock, startBlock }: ScanContext,
  chain: Pick<Chain, 'finalizedHead'>,
): Promise<Result<ScanState, StartFailure>> {
  const stored = await selectScan(db)
  if (stored !== null) return ok(stored)
  const head = await chain.finalizedHead(null)
  if (!head.ok) return head
  const { height, hash } = head.value
  if (startBlock !== null && startBlock > height) return err({ kind: 'start-above-head' })
  // By default the finalized block counts as scanned: it was final before any address was issued.
  const position = startBlock === null ? { height, hash } : { height: (startBlock - 1) as BlockHeight, hash: null }
  await startScan(db, position, head.value, clock.now())
  const state = await selectScan(db)
  if (state === null) throw new Error('the scan has not started')
  return ok(state)
}

function toChainFailure(failure: StartFailure): ChainFailure {
  if (failure.kind !== 'start-above-head') return failure
  return { kind: 'no-answer', why: 'TRON_START_BLOCK is above the final block that the nodes agree on' }
}
