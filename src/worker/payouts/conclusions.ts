import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { selectConfirmedFees } from '../issuer/store.ts'
import { conclude, expire, type Pair, type TransactionRow } from './lifecycle.ts'
import type { Outgoing, OutgoingReading } from './outgoing.ts'
import { seenAt, selectConcerned, selectExpired, storeEnds } from './store/conclusions.ts'
import { type InsertedTransaction, insertTransactions, pairStatements } from './store/rows.ts'

/** What a batch knows of the payouts that are open. */
export interface ReadOfPayouts extends OutgoingReading {
  /** Whether a transaction was open when the read began. One that came since has its blocks read again, and expires later. */
  readonly hasOpen: boolean
  /** From which height each address counts as a payout address, by what was stored when it was configured. */
  readonly since: ReadonlyMap<Address, BlockHeight>
}

/** Transactions that one call ends because they have expired. */
const expiredMax = 100
/** A transaction that was seen in a block is not sent for so long: it is final long before. Once only, whatever a node shows later. */
export const seenPauseMs = 120_000

/**
 * Decides what final blocks say about payouts, and the statements that store it in the batch of these blocks: transactions that were found
 * end, with their payouts; those that no payout names are stored. None if nothing is open and nothing was found.
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
    // Of one payout a transaction can be open again and end in the same batch.
    ...pairStatements(db, [
      steps.flatMap(([first]) => first ?? []),
      steps.flatMap(([, second]) => second ?? []),
      passed,
    ]),
    ...insertTransactions(db, unknown),
  ]
}

/** A transaction of the payout address that no payout names. What an address did before it was configured is the operator's own. */
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
 * Notes the first block at or past the expiration: nodes measure it against a block's parent, so this one can still have the transaction,
 * and none after it.
 */
function notePassed(row: TransactionRow, blocks: ReadOfPayouts['blocks']): readonly Pair[] {
  const past = blocks
    .filter(({ time }) => row.expires_at !== null && time >= row.expires_at)
    .map(({ height }) => height)
  const first = Math.min(...past) as BlockHeight // safe: one of them
  if (past.length === 0 || first <= (row.reference ?? -1)) return []
  return [{ transaction: { ...row, past_height: first }, payout: null }]
}

/** Ends transactions that can be in no block any more. */
export async function expirePassed(db: WriteDatabase, at: UnixMs): Promise<void> {
  const expired = await selectExpired(db, expiredMax)
  if (expired.length === 0) return
  await storeEnds(
    db,
    expired.map((pair) => expire(pair, at)),
  )
}

/** Stores where transactions were seen before their blocks are final: so the scan comes as soon as these are. */
export function seenStatement(
  db: WriteDatabase,
  seen: readonly { readonly txid: Txid; readonly height: BlockHeight }[],
  at: UnixMs,
): D1PreparedStatement {
  return seenAt(db, seen, (at + seenPauseMs) as UnixMs) // safe: a later time
}
