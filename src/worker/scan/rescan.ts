import type { BlockHeight, Txid } from '../chain/block.ts'
import type { BlockReading } from '../chain/chain.ts'
import type { RescanId } from '../common/ids.ts'
import { dayMs, type UnixMs } from '../common/time.ts'
import type { RescanKind } from '../d1/tables.ts'

/**
 * A row of `rescan`: a range of blocks below the scan's position that are to be read, for the first
 * time or again. Both ends are included.
 */
export interface Rescan extends RescanPart {
  readonly id: RescanId
  /**
   * `gap`: blocks that the scan could not read. `request`: blocks that an operator asked for.
   * `payout`: blocks that may contain a payout's transaction which was handed in after the scan had
   * read them.
   */
  readonly kind: RescanKind
}

/** The unread part of a rescan. */
export interface RescanPart {
  readonly from: BlockHeight
  readonly to: BlockHeight
  /** Consecutive attempts that read nothing. */
  readonly attempts: number
  readonly nextTry: UnixMs
  /** Why the first block cannot be read; null before the first attempt. */
  readonly why: string | null
  /**
   * If the part is one block: for how many of its contract calls, in order, the receipt was asked
   * for; 0 if receipts are not read one by one.
   */
  readonly receipts: number
  /** Transactions of this block whose receipts could not be read. */
  readonly unread: readonly Txid[]
}

/**
 * A block that the scan passes over (`not-agreed`), or of which only the receipts are still to be
 * read (`receipts`).
 */
export interface Gap {
  readonly height: BlockHeight
  readonly kind: 'not-agreed' | 'receipts'
}

/**
 * After this many attempts (about a quarter of an hour) at the first blocks of a rescan, its later
 * blocks are read without waiting for these.
 */
export const splitAttempts = 4
/** `why` of a block that the nodes do not agree on. */
export const notAgreed = 'the nodes do not agree on it, or cannot give it'
/** `why` of a block for which the time of the last attempt was too short. */
export const tooSlow = 'the nodes give it too slowly'
/**
 * After this many attempts that were too short, a block is reported as unread. The first ones may
 * have had less than a second, if the rest of the tick took long.
 */
export const lateAttempts = 3
/** `why` of a block before its receipts were tried. */
export const receiptsMissing = 'its receipts are not read yet'
const retryMsMin = 60_000
const retryMsMax = dayMs

/**
 * Groups gaps into runs of consecutive heights. A block whose receipts are to be read forms a run
 * of its own.
 */
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

/**
 * The part after a failed attempt. The pause until the next attempt begins with a minute and
 * doubles each time, up to a day.
 */
export function triedLater(part: RescanPart, why: string, at: UnixMs): RescanPart {
  const waitMs = Math.min(retryMsMin * 2 ** part.attempts, retryMsMax)
  return { ...part, why, attempts: part.attempts + 1, nextTry: (at + waitMs) as UnixMs } // safe: a later time
}

/**
 * The part after an attempt whose time was over before anything was read. The first time this costs
 * no pause: the time may have been short, and the next tick asks for less at once. Later it does,
 * because a block that is always slow must not keep others waiting.
 */
export function triedLate(part: RescanPart, at: UnixMs): RescanPart {
  const later = triedLater(part, tooSlow, at)
  return part.attempts === 0 ? { ...later, nextTry: at } : later
}

/**
 * The unread parts of a rescan after its first blocks were read: runs of blocks that nodes do not
 * agree on, each block whose receipts are to be read, and the blocks that were not asked for yet.
 * If the nodes agree on none of the blocks, the rescan stays whole for `splitAttempts`: nodes that
 * differ for a while differ about many blocks.
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

/**
 * The contract calls of a block whose receipts are to be read next. Once all receipts were tried,
 * these are the calls whose receipts could not be read.
 */
export function receiptsToRead({ receipts, unread }: RescanPart, calls: readonly Txid[]): readonly Txid[] {
  return receipts < calls.length ? calls.slice(receipts) : unread
}

/**
 * Notes in a rescan part of one block that the receipts of `tried` were asked for. `unreadable` are
 * those of `tried` that could not be read; `count` is the number of all calls in the block.
 */
export function afterReceipts<Part extends RescanPart>(
  part: Part,
  count: number,
  tried: readonly Txid[],
  unreadable: readonly Txid[],
): Part {
  const unread = [...part.unread.filter((txid) => !tried.includes(txid)), ...unreadable]
  const attempts = unreadable.length < tried.length ? 0 : part.attempts
  return { ...part, attempts, receipts: Math.min(part.receipts + tried.length, count), unread }
}

/**
 * The rest of a block after all its receipts were tried: nothing, or one part with the unreadable
 * receipts.
 */
export function afterWholeBlock(part: RescanPart, at: UnixMs): readonly RescanPart[] {
  const [first] = part.unread
  if (first === undefined) return []
  const others = part.unread.length - 1
  return [triedLater(part, `transaction ${first}${others > 0 ? ` and ${others} others` : ''} cannot be read`, at)]
}
