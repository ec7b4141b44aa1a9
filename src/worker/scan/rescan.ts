import type { BlockHeight, Txid } from '../chain/block.ts'
import type { BlockReading } from '../chain/chain.ts'
import type { RescanId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { RescanKind } from '../d1/tables.ts'

/** Blocks below the position that are read again: a row. Both ends are included. */
export interface Rescan extends RescanPart {
  readonly id: RescanId
  /**
   * `gap`: blocks that the scan could not read. `request`: blocks that an operator wants to be read again. `payout`: blocks that a transaction can
   * be in which was handed in later.
   */
  readonly kind: RescanKind
}

/** What is left to be read of a rescan. */
export interface RescanPart {
  readonly from: BlockHeight
  readonly to: BlockHeight
  /** Tries that have read nothing. */
  readonly attempts: number
  readonly nextTry: UnixMs
  /** Why its first block cannot be read; null if it was not tried. */
  readonly why: string | null
  /** Of its only block: how many receipts were read of its calls, in their order. 0 if they are not read one by one. */
  readonly receipts: number
  /** The transactions of these calls whose receipts could not be read. */
  readonly unread: readonly Txid[]
}

/** A block that the scan passes over, or of which only the token transfers are missing, since their receipts are still to be read. */
export interface Gap {
  readonly height: BlockHeight
  readonly kind: 'not-agreed' | 'receipts'
}

/** After so many tries, a quarter of an hour, the rest of a rescan does not wait for the blocks of its first reply any more. */
export const splitAttempts = 4
/** Why a block is a gap that nodes do not agree on. */
export const notAgreed = 'the nodes do not agree on it, or cannot give it'
/** Why a block is a row of its own before its receipts were tried. */
export const receiptsMissing = 'its receipts are not read yet'
const retryMsMin = 60_000
const retryMsMax = 86_400_000

/** Gaps as runs of consecutive heights. A block whose receipts are to be read is one by itself. */
export function runsOf(gaps: readonly Gap[]) {
  const runs: (Pick<RescanPart, 'from' | 'to'> & Pick<Gap, 'kind'>)[] = []
  for (const { height, kind } of gaps) {
    const last = runs.at(-1)
    const goesOn = kind === 'not-agreed' && last?.kind === kind && last.to === height - 1
    if (goesOn) runs[runs.length - 1] = { ...last, to: height }
    else runs.push({ from: height, to: height, kind })
  }
  return runs
}

/** A part that could not be read, and is tried ever more rarely, to once a day. */
export function triedLater(part: RescanPart, why: string, at: UnixMs): RescanPart {
  const waitMs = Math.min(retryMsMin * 2 ** part.attempts, retryMsMax)
  return { ...part, why, attempts: part.attempts + 1, nextTry: (at + waitMs) as UnixMs } // safe: a later time
}

/**
 * What is left of a rescan after a read of its first blocks: runs of blocks that nodes do not agree on, each block whose receipts are
 * to be read, and the rest, which was not asked for yet. If nothing that was read is agreed on, the rest waits with it for some
 * tries: nodes that differ for a while differ about many blocks.
 */
export function afterBlocks(due: RescanPart, blocks: readonly BlockReading[], at: UnixMs): readonly RescanPart[] {
  const next = (due.from + blocks.length) as BlockHeight // safe: at most one above the last block
  const isNothing = blocks.every(({ kind }) => kind === 'not-agreed')
  if (isNothing && next <= due.to && due.attempts < splitAttempts) return [triedLater(due, notAgreed, at)]
  const fresh = { attempts: 0, nextTry: at, why: null, receipts: 0, unread: [] }
  const gaps = blocks.flatMap((block): readonly Gap[] => {
    if (block.kind === 'not-agreed') return [{ height: block.height, kind: 'not-agreed' }]
    return block.callsToRead === null ? [] : [{ height: block.header.height, kind: 'receipts' }]
  })
  const parts = runsOf(gaps).map(({ from, to, kind }): RescanPart => {
    if (kind === 'receipts') return { ...fresh, from, to, why: receiptsMissing }
    return triedLater({ ...fresh, from, to, attempts: due.attempts }, notAgreed, at)
  })
  return next > due.to ? parts : [...parts, { ...fresh, from: next, to: due.to }]
}

/** The calls of a block whose receipts are to be read. Once all were tried, only those that could not be read are tried again. */
export function receiptsToRead({ receipts, unread }: RescanPart, calls: readonly Txid[]): readonly Txid[] {
  return receipts < calls.length ? calls.slice(receipts) : unread
}

/** A part after receipts of its block were tried, of which some could not be read. `count`: the calls of the block. */
export function afterReceipts<Part extends RescanPart>(
  part: Part,
  count: number,
  tried: readonly Txid[],
  unreadable: readonly Txid[],
): Part {
  const unread = [...part.unread.filter((txid) => !tried.includes(txid)), ...unreadable]
  return { ...part, receipts: Math.min(part.receipts + tried.length, count), unread }
}

/** What is left of a block after all its receipts were tried. */
export function afterWholeBlock(part: RescanPart, at: UnixMs): readonly RescanPart[] {
  const [first] = part.unread
  if (first === undefined) return []
  const others = part.unread.length - 1
  return [triedLater(part, `transaction ${first}${others > 0 ? ` and ${others} others` : ''} cannot be read`, at)]
}
