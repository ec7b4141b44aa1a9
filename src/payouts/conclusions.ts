import { type SQL, sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import { bare, bareList, madeOnce, member, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payouts, payoutTransactions } from '../d1/payout-tables.ts'
import { rescans, scans } from '../d1/state-tables.ts'
import type { OutgoingReading } from './outgoing.ts'

// What final blocks decide: statements of the batch that stores what was read. They find by the database what the read was
// not told of, so it does not matter when a transaction was handed in.

/** What a batch knows of the payouts that are open. */
export interface ReadOfPayouts extends OutgoingReading {
  /** Whether a transaction was open when the read began. One that came since has its blocks read again, and expires later. */
  readonly hasOpen: boolean
  /** From which height each address counts as a payout address, by what was stored when it was configured. */
  readonly since: ReadonlyMap<Address, BlockHeight>
}

/** Statements that end transactions, and store unknown ones. None if nothing is open and nothing was found. */
export function conclusionStatements(
  db: WriteDatabase,
  { found, blocks, hasOpen, since }: ReadOfPayouts,
  at: UnixMs,
): readonly D1PreparedStatement[] {
  if (found.length === 0 && !hasOpen) return []
  const facts = found.map(({ succeeded, moved, ...one }) => ({
    ...one,
    succeeded: succeeded ? 1 : 0,
    isRead: moved === null ? 0 : 1,
    moved: JSON.stringify(moved ?? []),
    counts: one.height > (since.get(one.address) ?? -1) ? 1 : 0, // what it did before is the operator's own
  }))
  const list = JSON.stringify(facts)
  const ends = found.length === 0 ? [] : [reopen(list, at), conclude(list, at), insertUnknown(list, at)]
  const passed = blocks.length === 0 ? [] : [notePassed(JSON.stringify(blocks))]
  return [...ends, ...passed, expire(at)].map((query) => toStatement(db, query))
}

const { txid, payout_id, reference, expires_at, past_height, height, succeeded, moved, ended, changed_at } =
  payoutTransactions
const isOpen = sql`${payoutTransactions} INDEXED BY payout_transaction_open`

/**
 * Whether a read was made with the address of every open transaction, as a condition of the batch that stores it. Otherwise it could
 * have passed one by.
 */
export function isWatched(watched: ReadonlySet<Address>): SQL {
  const list = JSON.stringify([...watched])
  return sql`NOT EXISTS (SELECT 1 FROM ${isOpen} WHERE ${ended} IS NULL
    AND ${payoutTransactions.address} NOT IN (SELECT value FROM json_each(${list})))`
}

/** The addresses of open transactions as a JSON list, to be read with something else. */
export const openAddresses = madeOnce(sql`(SELECT json_group_array(DISTINCT ${payoutTransactions.address})
  FROM ${isOpen} WHERE ${ended} IS NULL)`)

/** The facts of a list, by the columns' names. */
const fact = (column: Parameters<typeof member>[0]) => sql`fact.${member(column)}`
const factOf = (list: string) => sql`json_each(${list}) AS fact`
const isRead = sql`fact.value ->> 'isRead'`
/** What the bytes of a transaction pay, among what it has moved. */
const pays = madeOnce(sql`EXISTS (SELECT 1 FROM ${payouts} CROSS JOIN json_each(${fact(moved)}) AS one
      ON ${payouts.id} = ${payout_id} AND one.value ->> 'contract' = ${payouts.contract}
        AND one.value ->> 'to' = ${payouts.to_address} AND one.value ->> 'raw' = ${payouts.raw})`)

/** One that has ended, and that blocks show otherwise: it is open again, unless its payout went on. */
function reopen(list: string, at: UnixMs): SQL {
  return sql`
UPDATE ${payoutTransactions} SET ${bare(ended)} = NULL, ${bare(height)} = NULL, ${bare(succeeded)} = NULL, ${bare(moved)} = NULL,
  ${bare(changed_at)} = ${at}
FROM ${factOf(list)} WHERE ${txid} = ${fact(txid)} AND ${ended} IN ('failed', 'other', 'expired')
  AND (${height}, ${succeeded}) IS NOT (${fact(height)}, ${fact(succeeded)})
  AND EXISTS (SELECT 1 FROM ${payouts} WHERE ${payouts.id} = ${payout_id} AND ${payouts.txid} = ${txid}
    AND ${payouts.state} IN ('approved', 'stuck'))`
}

/**
 * Those that were found. One that has succeeded although its payout went on is late. What a call has moved decides about its payout,
 * and is in its receipt: until that is read, a call only stops payouts.
 */
function conclude(list: string, at: UnixMs): SQL {
  return sql`
UPDATE ${payoutTransactions} SET ${bare(height)} = ${fact(height)}, ${bare(succeeded)} = ${fact(succeeded)},
  ${bare(moved)} = ${fact(moved)}, ${bare(changed_at)} = ${at},
  ${bare(ended)} = iif(${ended} IS NULL, iif(${fact(succeeded)}, iif(${pays}, 'paid', 'other'), 'failed'),
    iif(${ended} = 'unknown', 'unknown', 'late'))
FROM ${factOf(list)} WHERE ${txid} = ${fact(txid)} AND ((${ended} IS NULL AND ${isRead})
  OR (${ended} = 'unknown' AND ${isRead} AND (${height}, ${moved}) IS NOT (${fact(height)}, ${fact(moved)}))
  OR (${ended} IN ('failed', 'other', 'expired') AND ${fact(succeeded)}
    AND (${height}, ${succeeded}) IS NOT (${fact(height)}, ${fact(succeeded)})))`
}

function insertUnknown(list: string, at: UnixMs): SQL {
  const columns = [txid, payoutTransactions.address, height, succeeded, moved]
  return sql`
INSERT INTO ${payoutTransactions} (${bareList([...columns, ended, changed_at, payoutTransactions.next_send])})
SELECT ${sql.join(columns.map(fact), sql`, `)}, 'unknown', ${at}, 0 FROM ${factOf(list)}
WHERE fact.value ->> 'counts' AND NOT EXISTS (SELECT 1 FROM ${payoutTransactions} WHERE ${txid} = ${fact(txid)})`
}

/** The first block at or past the expiration: nodes measure it against a block's parent, so this one can still have the transaction. */
function notePassed(blocks: string): SQL {
  const first = sql`(SELECT min(value ->> 'height') FROM json_each(${blocks}) WHERE value ->> 'time' >= ${expires_at})`
  return sql`
UPDATE ${isOpen} SET ${bare(past_height)} = ${first}
WHERE ${ended} IS NULL AND ${past_height} IS NULL AND ${first} > ${reference}`
}

/** Those that can be in no block any more: all blocks are read from the one after the reference block to the first one past the expiration. */
function expire(at: UnixMs): SQL {
  const { finished_at, to_height, next_height } = rescans
  return sql`
UPDATE ${isOpen} SET ${bare(ended)} = 'expired', ${bare(changed_at)} = ${at}
WHERE ${ended} IS NULL AND ${past_height} <= (SELECT ${scans.height} FROM ${scans} WHERE ${scans.halted} IS NULL)
  AND NOT EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open WHERE ${finished_at} IS NULL
    AND ${to_height} > ${reference} AND ${next_height} <= ${past_height})`
}

/** What was seen in a block is not sent for so long, the longest pause: it is final long before. Once only, whatever a node shows later. */
export const seenPauseMs = 120_000

/** Stores where transactions were seen before their blocks are final: so the scan comes as soon as these are. */
export function seenStatement(
  db: WriteDatabase,
  seen: readonly { readonly txid: Txid; readonly height: BlockHeight }[],
  at: UnixMs,
): D1PreparedStatement {
  const { seen_height, next_send } = payoutTransactions
  return toStatement(
    db,
    sql`UPDATE ${payoutTransactions} SET ${bare(seen_height)} = ${fact(height)},
        ${bare(next_send)} = iif(${seen_height} IS NULL, max(${next_send}, ${at + seenPauseMs}), ${next_send}) FROM ${factOf(JSON.stringify(seen))}
      WHERE ${txid} = ${fact(txid)} AND ${ended} IS NULL`,
  )
}
