import type { BlockHeight, BlockRef } from '../chain/block.ts'
import type { BlockReading, Chain, ChainTransfer } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { readBlocksMax } from '../chain/limits.ts'
import { type JudgeRules, judgeTransfer, type Owners } from '../deposits/judge.ts'
import type { DecidedTransfer, SentFact } from '../deposits/transfer.ts'
import { createOwners } from './owners.ts'
import type { ScanContext } from './rules.ts'
import { appendStep, haltScan, type ScanState } from './scan-state.ts'

/** What is stored of blocks. */
export interface FoundInBlocks {
  readonly decided: readonly DecidedTransfer[]
  readonly sent: readonly SentFact[]
  /** Blocks that could not be read or agreed on, and those of which the token transfers could not be read. */
  readonly gaps: readonly BlockHeight[]
}

/** How reading one range ended. `superseded`: another instance moved the position. */
export type RangeEnd =
  | ({ readonly kind: 'stored' } & FoundInBlocks)
  | { readonly kind: 'superseded' }
  | { readonly kind: 'failed'; readonly failure: ChainFailure }

/**
 * Reads the blocks above the position, as many as fit into one reply, and stores position, transfers, credits and gaps
 * together. A block that cannot be read does not stop the position: it becomes a gap.
 */
export async function readRange(
  { db, clock }: Pick<ScanContext, 'db' | 'clock'>,
  chain: Pick<Chain, 'finalBlocks'>,
  state: ScanState,
  head: BlockHeight,
  rules: JudgeRules,
): Promise<RangeEnd> {
  const { height, hash } = state
  const from = (height + 1) as BlockHeight // safe: the next height
  const to = Math.min(height + readBlocksMax, head) as BlockHeight // safe: one of the two
  const { match, owners } = createOwners(db)
  const read = await chain.finalBlocks(from, to, match)
  if (!read.ok) return { kind: 'failed', failure: read.error }
  const [first] = read.value
  const last = read.value.at(-1)
  if (first === undefined || last === undefined) throw new Error('a range without a block')
  if (first.kind === 'read' && hash !== null && first.header.parentHash !== hash) {
    await haltScan(db, state, `block ${from} does not follow block ${height}, which is stored`)
    return { kind: 'failed', failure: { kind: 'forked', at: from } }
  }
  const end =
    last.kind === 'read' ? { height: last.header.height, hash: last.header.hash } : { height: last.height, hash: null }
  const found = judgeBlocks(read.value, owners, rules)
  const appended = await appendStep(db, { expected: state, to: end, ...found, at: clock.now() })
  if (appended === 'superseded') return { kind: 'superseded' }
  return { kind: 'stored', ...found }
}

/** What is to be stored of final blocks. */
export function judgeBlocks(blocks: readonly BlockReading[], owners: Owners, rules: JudgeRules): FoundInBlocks {
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
