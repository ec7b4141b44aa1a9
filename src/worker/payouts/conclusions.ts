import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { selectConfirmedFees } from '../issuer/store.ts'
import { conclude, expire, type Pair, type TransactionRow } from './lifecycle.ts'
import type { Outgoing, OutgoingReading } from './outgoing.ts'
import { type InsertedTransaction, insertTransactions, pairStatements } from './store/rows.ts'
import { seenAt, selectConcerned, selectExpired, selectUncosted, storeCost, storeEnds } from './store/transactions.ts'

/**
 * The transactions of payout addresses that a read of blocks has found, and what the read looked
 * for.
 */
export interface ReadOfPayouts extends OutgoingReading {
  /**
   * Whether any payout transaction could still be mined when the read began. If a transaction is
   * handed in later, its blocks are read again.
   */
  readonly hasOpen: boolean
  /**
   * For each payout address, the position of the scan when the address was first configured. The
   * address counts only in blocks above that height.
   */
  readonly since: ReadonlyMap<Address, BlockHeight>
  /** Payout addresses from which only transactions of payouts that are stored here count. */
  readonly shared: ReadonlySet<Address>
}

/** Most transactions that one call of `expirePassed` ends. */
const expiredMax = 100
/**
 * After a transaction is seen in a block that is not final, it is not sent again for this long, in
 * which the block becomes final. Each transaction is paused only once: otherwise a lying node could
 * keep it from being sent at all.
 */
export const seenPauseMs = 120_000
/** Most stuck payouts among which failed transactions are looked for, the newest first. */
const costedAmongMax = 50
/** Most transactions whose cost one tick reads: each takes a request to each node of the quorum. */
const costsPerTick = 5
/**
 * The cost of a transaction is asked for within this time of its end. If no quorum tells it by
 * then, it stays unknown.
 */
const costAskedMs = 3_600_000

/**
 * Decides what final blocks mean for payouts, and returns the statements to store in one batch with
 * these blocks. A transaction in the blocks ends, and its payout becomes `paid` or `stuck`. A
 * transaction that no payout names is stored as `unknown`. There are no statements if no
 * transaction is open and none was found.
 */
export async function decideConclusions(
  db: WriteDatabase,
  { found, blocks, hasOpen, since, shared }: ReadOfPayouts,
  at: UnixMs,
): Promise<readonly D1PreparedStatement[]> {
  if (found.length === 0 && !hasOpen) return []
  const newest = Math.max(0, ...blocks.map(({ time }) => time)) as UnixMs // safe: one of the times, or 0
  const stored = await selectConcerned(
    db,
    found.map(({ txid }) => txid),
    newest,
  )
  const fees: Awaited<ReturnType<typeof selectConfirmedFees>> =
    found.length === 0 ? new Map() : await selectConfirmedFees(db)
  const changes = found.map((shown) => {
    const pair = stored.found.get(shown.txid)
    if (pair === undefined) return []
    return conclude(pair, shown, (pair.payout === null ? undefined : fees.get(pair.payout.cuy)) ?? [], at)
  })
  const isFound = new Set(found.map(({ txid }) => txid))
  const passed = stored.passing.filter(({ txid }) => !isFound.has(txid)).flatMap((row) => notePassed(row, blocks))
  const unknown = found.flatMap((shown) => {
    return stored.found.has(shown.txid) || shared.has(shown.address) ? [] : unknownBy(shown, since, at)
  })
  return [
    // A transaction may be reopened and end again in the same batch. So the first changes of all
    // transactions come before the second ones.
    ...pairStatements(db, [
      changes.flatMap(([first]) => first ?? []),
      changes.flatMap(([, second]) => second ?? []),
      passed,
    ]),
    ...insertTransactions(db, unknown),
  ]
}

/**
 * The row of a transaction that no payout names. Nothing is stored of what an address sent before
 * it became a payout address: that is the operator's business.
 */
function unknownBy(
  { txid, address, height, succeeded, moved }: Outgoing,
  since: ReadonlyMap<Address, BlockHeight>,
  at: UnixMs,
): readonly InsertedTransaction[] {
  if (height <= (since.get(address) ?? -1)) return []
  const none = { payout_id: null, bytes: null, reference: null, expires_at: null }
  const facts = { txid, address, height, succeeded, moved: JSON.stringify(moved ?? []) }
  return [{ ...facts, ...none, ended: 'unknown', changed_at: at, next_send: 0 as UnixMs }]
}

/**
 * The change that stores the first of these blocks whose time is at or past the transaction's
 * expiration; none if there is no such block. Nodes compare the expiration with the time of a
 * block's parent, so this block can still contain the transaction, and no later one can.
 */
function notePassed(row: TransactionRow, blocks: ReadOfPayouts['blocks']): readonly Pair[] {
  const past = blocks
    .filter(({ time }) => row.expires_at !== null && time >= row.expires_at)
    .map(({ height }) => height)
  const first = Math.min(...past) as BlockHeight // safe: one of `past`
  if (past.length === 0 || first <= (row.reference ?? -1)) return []
  return [{ transaction: { ...row, past_height: first }, payout: null }]
}

/**
 * Ends as `expired` the transactions that no block can contain any more, at most `expiredMax`; the
 * next tick ends the others. Their payouts become `approved` again, or `stuck` after too many
 * attempts.
 */
export async function expirePassed(db: WriteDatabase, at: UnixMs): Promise<void> {
  const expired = await selectExpired(db, expiredMax)
  if (expired.length === 0) return
  await storeEnds(
    db,
    expired.map((pair) => expire(pair, at)),
  )
}

/**
 * The statement that stores at which heights transactions were seen in blocks that are not final
 * yet. By these heights the next scan is timed for when the first such block is final. A
 * transaction that is seen for the first time is not sent again until `seenPauseMs` after `at`.
 */
export function seenStatement(
  db: WriteDatabase,
  seen: readonly { readonly txid: Txid; readonly height: BlockHeight }[],
  at: UnixMs,
): D1PreparedStatement {
  return seenAt(db, seen, (at + seenPauseMs) as UnixMs) // safe: a later time
}

/**
 * Reads and stores what failed transactions of payouts have cost, for people. What the nodes do not
 * tell is asked again by the next tick.
 */
export async function readCosts(db: WriteDatabase, chain: Pick<Chain, 'cost'>, now: UnixMs): Promise<void> {
  for (const transaction of await selectUncosted(db, now - costAskedMs, costedAmongMax, costsPerTick)) {
    const cost = await chain.cost(transaction.txid, transaction.height)
    if (cost.ok) await storeCost(db, transaction, cost.value)
  }
}
