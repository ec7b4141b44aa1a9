import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { selectConfirmedFees } from '../issuer/store.ts'
import { conclude, expire, type Pair, type TransactionRow } from './lifecycle.ts'
import type { Outgoing, OutgoingReading } from './outgoing.ts'
import { seenAt, selectConcerned, selectExpired, storeEnds } from './store/conclusions.ts'
import { type InsertedTransaction, insertTransactions, pairStatements } from './store/rows.ts'

/** The findings about payouts in a batch of blocks. */
export interface ReadOfPayouts extends OutgoingReading {
  /** Whether any transaction was open when the read began. A transaction that was handed in later has its blocks read again. */
  readonly hasOpen: boolean
  /** For each payout address, the height from which it counts: the position of the scan when the address was first configured. */
  readonly since: ReadonlyMap<Address, BlockHeight>
}

/** Most transactions that one call ends as expired. */
const expiredMax = 100
/**
 * After a transaction is seen in a block, sending pauses this long, in which the block becomes final. It pauses only once, so that a lying node cannot hold it
 * back.
 */
export const seenPauseMs = 120_000

/**
 * Decides what final blocks mean for payouts, and makes the statements that store it with these blocks. Transactions that were found end, with their payouts.
 * Transactions that no payout names are stored. There are no statements if no transaction is open and none was found.
 */
export async function decideConclusions(
  db: WriteDatabase,
  { found, blocks, hasOpen, since }: ReadOfPayouts,
  at: UnixMs,
): Promise<readonly D1PreparedStatement[]> {
  if (found.length === 0 && !hasOpen) return []
  const newest = Math.max(0, ...blocks.map(({ time }) => time)) as UnixMs // safe: one of the times
  const stored = await selectConcerned(
    db,
    found.map(({ txid }) => txid),
    newest,
  )
  const fees: Awaited<ReturnType<typeof selectConfirmedFees>> =
    found.length === 0 ? new Map() : await selectConfirmedFees(db)
  const steps = found.map((shown) => {
    const pair = stored.found.get(shown.txid)
    if (pair === undefined) return []
    return conclude(pair, shown, (pair.payout === null ? undefined : fees.get(pair.payout.cuy)) ?? [], at)
  })
  const isFound = new Set(found.map(({ txid }) => txid))
  const passed = stored.passing.filter(({ txid }) => !isFound.has(txid)).flatMap((row) => notePassed(row, blocks))
  const unknown = found.flatMap((shown) => (stored.found.has(shown.txid) ? [] : unknownBy(shown, since, at)))
  return [
    // One transaction may be reopened and end again in the same batch, so first and second steps are separate lists.
    ...pairStatements(db, [
      steps.flatMap(([first]) => first ?? []),
      steps.flatMap(([, second]) => second ?? []),
      passed,
    ]),
    ...insertTransactions(db, unknown),
  ]
}

/** The row of a transaction that no payout names. What an address sent before it became a payout address is the operator's business. */
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
 * Stores the first block at or past the expiration. Nodes compare the expiration with the time of a block's parent, so this block can still contain the
 * transaction, and no later one can.
 */
function notePassed(row: TransactionRow, blocks: ReadOfPayouts['blocks']): readonly Pair[] {
  const past = blocks
    .filter(({ time }) => row.expires_at !== null && time >= row.expires_at)
    .map(({ height }) => height)
  const first = Math.min(...past) as BlockHeight // safe: one of them
  if (past.length === 0 || first <= (row.reference ?? -1)) return []
  return [{ transaction: { ...row, past_height: first }, payout: null }]
}

/** Ends transactions that no block can contain any more. */
export async function expirePassed(db: WriteDatabase, at: UnixMs): Promise<void> {
  const expired = await selectExpired(db, expiredMax)
  if (expired.length === 0) return
  await storeEnds(
    db,
    expired.map((pair) => expire(pair, at)),
  )
}

/** Stores the heights at which transactions were seen before those blocks are final, so that the scan runs as soon as they are. */
export function seenStatement(
  db: WriteDatabase,
  seen: readonly { readonly txid: Txid; readonly height: BlockHeight }[],
  at: UnixMs,
): D1PreparedStatement {
  return seenAt(db, seen, (at + seenPauseMs) as UnixMs) // safe: a later time
}
