import type { Random } from './random.ts'

/**
 * The false view with which a Byzantine node replies, for a while: no reply of it can be recognized as wrong by itself.
 * Colluding nodes have the same one at the same time.
 */
export type ByzantineFault =
  /** True hashes, false contents. */
  | 'false blocks'
  /** Another chain below the finalized head. */
  | 'rewritten past'
  /** Blocks that are called final and are not, of a fork where the node is on one. */
  | 'early finality'
  /** The head of some time ago, with true blocks up to it. */
  | 'held-back head'
  /** `[]` for all logs, null for all receipts. */
  | 'no history'
  | 'false decimals'
  | 'false balances'
  | 'unknown transactions'

const faults: readonly ByzantineFault[] = [
  'false blocks',
  'false blocks',
  'false blocks',
  'rewritten past',
  'early finality',
  'held-back head',
  'no history',
  'false decimals',
  'false balances',
  'unknown transactions',
]

/** Any Byzantine fault. */
export function drawByzantineFault(random: Random): ByzantineFault {
  return random.pick(faults)
}

/** A balance that is not the true one, below 2^256. */
export function falsifyBalance(random: Random, balance: bigint): bigint {
  return random.pick([0n, balance / 2n, balance + 1n, balance + 500_000_000n])
}
