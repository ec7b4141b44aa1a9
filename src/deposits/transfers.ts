import { eq, gt, isNotNull, type SQL, sql } from 'drizzle-orm'
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { BlockHeight, Txid } from '../chain/block.ts'
import { amountMax } from '../common/amount.ts'
import type { CurrencyId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import {
  assignments,
  bare,
  bareList,
  isRefusedBy,
  madeOnce,
  member,
  memberList,
  type ReadDatabase,
  toJsonTexts,
  toStatement,
  type WriteDatabase,
} from '../d1/database.ts'
import { rescans, scans } from '../d1/state-tables.ts'
import { flows, scanSuperseded, sentTransactions, transfers, wallets } from '../d1/tables.ts'
import { readAmount } from '../ledger/entries.ts'
import type { CreditKey, JudgedTransfer, SentFact, StoredTransfer } from './transfer.ts'

/** Transfers in one state that one caller is shown. */
export const shownMax = 100
/** Rows in one JSON text: the longest takes about 600 bytes, and a bound text can have 2 MB. */
const rowsMax = 2_000

/** The columns of a transfer. */
export type TransferRow = typeof transfers.$inferSelect

/**
 * Statements that store transfers in the order of the list. A known one takes the new facts and the new state, where that step
 * is allowed (see the triggers); what is credited or moved stays. A credit that does not fit into its wallet is held.
 */
export function transferStatements(
  db: WriteDatabase,
  judged: readonly JudgedTransfer[],
  at: UnixMs,
): D1PreparedStatement[] {
  return toJsonTexts(eachOnce(judged).map(writeTransfer), rowsMax).flatMap((list) => [
    toStatement(db, updateKnown(list, at)),
    toStatement(db, insertNew(list, at, rowsMax)),
    toStatement(db, noteFound(list)),
  ])
}

/** Each transfer once, by its last place in the list: a node can show it in two blocks. */
function eachOnce(judged: readonly JudgedTransfer[]): readonly JudgedTransfer[] {
  return [...new Map(judged.map((one) => [`${one.txid}:${one.position}`, one])).values()]
}

/** Stores what was seen: at most `room` transfers that are not known yet, the first ones of the list. */
export async function storeSeen(
  db: WriteDatabase,
  seen: readonly JudgedTransfer[],
  room: number,
  at: UnixMs,
): Promise<void> {
  const list = JSON.stringify(eachOnce(seen).slice(0, rowsMax).map(writeTransfer))
  const news = room <= 0 ? [] : [toStatement(db, insertNew(list, at, room))]
  await db.batch([toStatement(db, updateKnown(list, at)), ...news])
}

/** How many transfers are seen and not decided, counted up to `max`. */
export async function countSeen(db: ReadDatabase, max: number): Promise<number> {
  const query = sql`SELECT count(*) AS n FROM (SELECT 1 FROM ${transfers} INDEXED BY transfer_seen WHERE ${state} = 'seen' LIMIT ${max})`
  return (await toStatement(db, query).first<number>('n')) ?? 0
}

/** Removes transfers that were dropped before `before`, `max` at most: they were in no final block. Decisions keep theirs. */
export async function removeDropped(db: WriteDatabase, before: UnixMs, max: number): Promise<void> {
  const { id, review, changed_at } = transfers
  const query = sql`
DELETE FROM ${transfers} WHERE ${id} IN (
  SELECT ${id} FROM ${transfers} INDEXED BY transfer_dropped
  WHERE ${state} = 'dropped' AND ${review} IS NULL AND ${changed_at} <= ${before} ORDER BY ${changed_at} LIMIT ${max})`
  await toStatement(db, query).run()
}

/**
 * The credited transfers above a corrected height that were not found again, once the scan has passed the blocks of all of them. One
 * in an open gap is not among them: it can be found there.
 */
export async function selectNotFound(db: ReadDatabase, max: number): Promise<readonly CreditKey[]> {
  const { txid, position, height, sought } = transfers
  const sight = sql`${transfers} INDEXED BY transfer_sought`
  const query = sql`
SELECT ${txid}, ${position} FROM ${sight} WHERE ${sought} = 1
  AND (SELECT max(${height}) FROM ${sight} WHERE ${sought} = 1) <= (SELECT ${scans.height} FROM ${scans})
  AND NOT EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open WHERE ${rescans.kind} = 'gap'
    AND ${rescans.finished_at} IS NULL AND ${rescans.to_height} >= ${height} AND ${rescans.next_height} <= ${height})
LIMIT ${max}`
  return (await toStatement(db, query).all<CreditKey>()).results
}

/** These transfers are not looked for any more. */
export async function endSearch(db: WriteDatabase, keys: readonly CreditKey[]): Promise<void> {
  await toStatement(db, noteFound(JSON.stringify(keys))).run()
}

/** Statements that store transactions which addresses of the service have sent. Known ones stay. */
export function sentStatements(db: WriteDatabase, sent: readonly SentFact[]): D1PreparedStatement[] {
  const eachOnce = new Map(sent.map((one) => [`${one.txid} ${one.address}`, one]))
  return toJsonTexts([...eachOnce.values()], rowsMax).map((list) => toStatement(db, insertSent(list)))
}

/**
 * Stores transfers outside a step of the scan, all or none. None if the scan is `halted`, where a block is not final any more,
 * or where `correctedBy`, the newest correction when they were read, is not the newest one (`superseded`). Null: not final ones.
 */
export async function storeTransfers(
  db: WriteDatabase,
  judged: readonly JudgedTransfer[],
  at: UnixMs,
  correctedBy: number | null = null,
): Promise<'stored' | 'halted' | 'superseded'> {
  if (judged.length === 0) return 'stored'
  const guard = correctedBy === null ? [] : [requireCorrection(db, { correctedBy })]
  try {
    await db.batch([...guard, ...transferStatements(db, judged, at)])
    return 'stored'
  } catch (cause) {
    if (isRefusedBy(scanSuperseded, cause)) return 'superseded'
    if (isRefusedBy('transfer: the scan is halted', cause)) return 'halted'
    if (isRefusedBy('transfer: its block is not final', cause)) return 'superseded'
    throw cause
  }
}

/** The caller's transfers in one transaction, or those of all callers (null), by position. */
export async function selectTransfersOf(
  db: ReadDatabase,
  uid: Uid | null,
  txid: Txid,
): Promise<readonly StoredTransfer[]> {
  return readAll(await toStatement(db, selectOfTransaction(uid, txid)).all<TransferRow>())
}

/** The positions of what is stored as moved in one transaction: none of it is ever a deposit. */
export async function selectMovedIn(db: ReadDatabase, txid: Txid): Promise<readonly number[]> {
  const { results } = await toStatement(db, selectMoved(txid)).all<Pick<TransferRow, 'position'>>()
  return results.map(({ position }) => position)
}

/** The caller's transfers that are held, and then those that are seen: at most 100 of each, by currency and oldest first. */
export async function selectOpenTransfers(db: ReadDatabase, uid: Uid): Promise<readonly StoredTransfer[]> {
  return readAll(await toStatement(db, selectOpen(uid)).all<TransferRow>())
}

/** A sum of credits, which can be more than a wallet ever holds, in ledger units. */
export interface CreditedSum {
  readonly cuy: CurrencyId
  readonly amount: bigint
}

/** What was credited to the caller at or after `since`, per currency; a currency without a credit is absent. */
export async function selectCreditedSince(db: ReadDatabase, uid: Uid, since: UnixMs): Promise<readonly CreditedSum[]> {
  const { results } = await toStatement(db, selectCredited(uid, since)).all<{ cuy: CurrencyId; sum: string }>()
  return results.map(({ cuy, sum }) => ({ cuy, amount: BigInt(sum) }))
}

/** The lowest height above the position at which a transfer was seen, or null. */
export async function selectFirstSeen(db: ReadDatabase): Promise<{ readonly height: BlockHeight } | null> {
  return toStatement(db, selectSeen).first<Pick<TransferRow, 'height'>>()
}

/** The transfers of a result, in its order. */
export function readAll({ results }: D1Result<TransferRow>): readonly StoredTransfer[] {
  return results.map(readTransfer)
}

/** A transfer to a caller as stored. */
export function readTransfer(row: TransferRow): StoredTransfer {
  const { id, txid, position, cuy, uid, state, reason, review, seconds } = row
  if (uid === null || state === 'moved') throw new Error('a transfer that moved has no caller')
  return {
    id,
    txid,
    position,
    cuy,
    uid,
    state,
    reason,
    review,
    seconds,
    block: { height: row.height, hash: row.block_hash },
    native: Boolean(row.native),
    from: row.from_address,
    to: row.to_address,
    raw: BigInt(row.raw),
    amount: readAmount(row.amount),
    createdAt: row.created_at,
    changedAt: row.changed_at,
  }
}

/** A transfer as an object of a list whose members are named as the columns are. `amount` is also that of one to review. */
function writeTransfer(judged: JudgedTransfer): Pick<TransferRow, (typeof listed)[number]> {
  const { txid, position, block, cuy, native, from, to, raw, state } = judged
  return {
    txid,
    position,
    height: block.height,
    block_hash: block.hash,
    cuy,
    uid: judged.state === 'moved' ? null : judged.uid,
    from_address: from,
    to_address: to,
    raw: raw.toString(),
    native,
    state,
    reason: judged.state === 'held' || judged.state === 'refused' ? judged.reason : null,
    amount: 'amount' in judged ? Number(judged.amount) : 0,
    seconds: judged.state === 'seen' ? judged.seconds : null,
    seen_by: judged.state === 'seen' ? judged.node : null,
  }
}

/** Fails the batch if a correction came in between: `height` becomes NULL. */
function requireCorrection(db: WriteDatabase, { correctedBy }: { readonly correctedBy: number }) {
  const { height, corrected_by } = scans
  const query = sql`UPDATE ${scans} SET ${bare(height)} = iif(${eq(corrected_by, correctedBy)}, ${height}, NULL)`
  return toStatement(db, query)
}

const facts = ['height', 'block_hash', 'cuy', 'uid', 'from_address', 'to_address', 'raw', 'native'] as const
const listed = ['txid', 'position', ...facts, 'seconds', 'seen_by', 'state', 'reason', 'amount'] as const

const { state, reason } = transfers
const largestAmount = sql.raw(String(amountMax))
/** Transfers of a list, each with its `place` in it. */
export const incoming = alias(transfers, 'incoming')
const [known, judged] = [alias(transfers, 'known'), alias(transfers, 'judged')]

type Columns = Readonly<Record<(typeof listed)[number], SQLiteColumn>>
const columnsOf = (table: Columns, names: readonly (typeof listed)[number][]) =>
  sql.join(
    names.map((name) => table[name]),
    sql`, `,
  )
const listedMembers = madeOnce(memberList(listed.map((name) => transfers[name])))
/** The transfers of a list with their places in it, as what follows FROM. */
const incomingOf = (list: string) => sql`
  (SELECT key AS place, ${listedMembers} FROM json_each(${list})) AS ${incoming}`
const isKnown = madeOnce(sql`${known.txid} = ${incoming.txid} AND ${known.position} = ${incoming.position}`)
/** What a node that is behind shows at or below the position was decided already. */
const isNews = madeOnce(
  sql`(${incoming.state} <> 'seen' OR ${incoming.height} > (SELECT ${scans.height} FROM ${scans}))`,
)
/** Whether the wallet has room for an amount and those before it in the list. `total` is exact as far as it matters. */
export const fits = madeOnce(sql`${incoming.state} <> 'credited' OR ${largestAmount} >= total(${incoming.amount})
      OVER (PARTITION BY ${incoming.uid}, ${incoming.cuy} ORDER BY place ROWS UNBOUNDED PRECEDING)
      + coalesce((SELECT ${wallets.balance} FROM ${wallets}
        WHERE ${wallets.uid} = ${incoming.uid} AND ${wallets.cuy} = ${incoming.cuy}), 0) AS fits`)
const heldUnlessFits = madeOnce(sql`iif(fits, ${incoming.state}, 'held') AS ${bare(state)},
  iif(fits, ${incoming.reason}, 'wallet-full') AS ${bare(reason)},
  iif(fits AND ${incoming.state} = 'credited', ${incoming.amount}, 0) AS ${bare(transfers.amount)}`)
/** Whether an unfinished requested rescan covers the block. */
const isAskedAgain = madeOnce(sql`EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open
      WHERE ${rescans.kind} = 'request' AND ${rescans.finished_at} IS NULL
        AND ${rescans.to_height} >= ${known.height} AND ${rescans.next_height} <= ${known.height})`)

/** What was held for review is what is decided about it. It moved if its sender is an operator's by now. */
const underReview = madeOnce(sql`${known.review} IS NOT NULL AND ${incoming.state} NOT IN ('seen', 'moved')`)
const reviewed = madeOnce(sql`
    iif(${underReview}, iif(${known.review} = 'open', 'held', iif(${known.review} = 'refuse', 'refused',
      iif(${incoming.reason} = 'review', 'credited', ${incoming.state}))), ${incoming.state}) AS ${bare(state)},
    iif(${underReview}, iif(${known.review} = 'credit', nullif(${incoming.reason}, 'review'), 'review'),
      ${incoming.reason}) AS ${bare(reason)}`)

const judgedValues = madeOnce(assignments(transfers, judged, [...facts, 'state', 'reason', 'amount']))
const changes = [...facts, 'seconds', 'seen_by'] as const
const knownColumns = madeOnce(sql`known_id, known_state, known_reason, known_facts, known_review`)
const changedColumns = madeOnce(sql`${knownColumns}, ${columnsOf(incoming, changes)}, ${heldUnlessFits}`)
const foundColumns =
  madeOnce(sql`${known.id} AS known_id, ${known.state} AS known_state, ${known.reason} AS known_reason,
    (${columnsOf(known, facts)}) IS (${columnsOf(incoming, facts)}) AS known_facts, ${known.review} AS known_review,
    place, ${columnsOf(incoming, [...changes, 'amount'])}, ${reviewed}`)
/** The first sighting stays. */
const sightingValues = madeOnce(sql`${bare(transfers.seconds)} = coalesce(${transfers.seconds}, ${judged.seconds}),
    ${bare(transfers.seen_by)} = coalesce(${transfers.seen_by}, ${judged.seen_by})`)
const updateKnown = (list: string, at: UnixMs) => sql`
UPDATE ${transfers} SET ${judgedValues}, ${sightingValues}, ${bare(transfers.changed_at)} = ${at},
  ${bare(transfers.review)} = iif(${judged.reason} = 'review', coalesce(known_review, 'open'), known_review)
FROM (SELECT ${changedColumns} FROM (SELECT ${incoming}.*, ${fits} FROM (
  SELECT ${foundColumns} FROM ${incomingOf(list)} CROSS JOIN ${transfers} AS ${known} ON ${isKnown}
  WHERE ${known.state} NOT IN ('credited', 'moved') AND ${isNews}
    AND (${incoming.state} <> 'seen' OR ${known.state} IN ('seen', 'dropped'))
    AND (${known.state} <> 'refused' OR ${isAskedAgain})
    AND (${known.review} IS NOT 'credit' OR ${incoming.state} <> 'refused')
  ) AS ${incoming}) AS ${incoming}
) AS ${judged}
WHERE ${transfers.id} = known_id
  AND NOT (known_facts AND known_state = ${judged.state} AND known_reason IS ${judged.reason})`

const newNames = ['txid', 'position', ...facts, 'seconds', 'seen_by'] as const
const newColumns = madeOnce(
  bareList(
    ([...newNames, 'state', 'reason', 'amount', 'review', 'created_at', 'changed_at'] as const).map(
      (name) => transfers[name],
    ),
  ),
)
const newValues = madeOnce(
  sql`${columnsOf(incoming, newNames)}, ${heldUnlessFits}, iif(${incoming.reason} = 'review', 'open', NULL)`,
)
const insertNew = (list: string, at: UnixMs, max: number) => sql`
INSERT INTO ${transfers} (${newColumns})
SELECT ${newValues}, ${at}, ${at} FROM (
  SELECT ${incoming}.*, ${fits} FROM ${incomingOf(list)}
  WHERE ${isNews} AND NOT EXISTS (SELECT 1 FROM ${transfers} AS ${known} WHERE ${isKnown})
) AS ${incoming}
ORDER BY place LIMIT ${max}`

/** What is final and in the list again is not looked for any more. */
const noteFound = (list: string) => sql`
UPDATE ${transfers} INDEXED BY transfer_sought SET ${bare(transfers.sought)} = 0
WHERE ${transfers.sought} = 1 AND EXISTS (SELECT 1 FROM json_each(${list})
  WHERE ${member(transfers.txid)} = ${transfers.txid} AND ${member(transfers.position)} = ${transfers.position})`

function insertSent(list: string): SQL {
  const { txid, address, height, cuy } = sentTransactions
  return sql`
INSERT INTO ${sentTransactions} (${bareList([txid, address, height, cuy])})
SELECT ${memberList([txid, address, height, cuy])} FROM json_each(${list}) WHERE NOT EXISTS (
  SELECT 1 FROM ${sentTransactions} WHERE ${txid} = ${member(txid)} AND ${address} = ${member(address)})`
}

const selectOfTransaction = (uid: Uid | null, txid: Txid) => sql`
SELECT * FROM ${transfers} INDEXED BY transfer_key
WHERE ${eq(transfers.txid, txid)} AND ${uid === null ? isNotNull(transfers.uid) : eq(transfers.uid, uid)}
ORDER BY ${transfers.position}`

const selectMoved = (txid: Txid) => sql`
SELECT ${transfers.position} FROM ${transfers} INDEXED BY transfer_key
WHERE ${eq(transfers.txid, txid)} AND ${state} = 'moved' ORDER BY ${transfers.position}`

/** Each state has rows of its own: what a node invents above the final blocks hides nothing that is held. */
const selectOpen = (uid: Uid) => sql`${openIn('held', uid)} UNION ALL ${openIn('seen', uid)}`
const openIn = (open: 'held' | 'seen', uid: Uid) => sql`
SELECT * FROM (SELECT * FROM ${transfers} INDEXED BY transfer_uid_state
  WHERE ${eq(transfers.uid, uid)} AND ${eq(state, open)} ORDER BY ${transfers.cuy}, ${transfers.id} LIMIT ${shownMax})`

/** The entries of recharges since the first one at that time: a range of ids (see entries.ts). */
const selectCredited = (uid: Uid, since: UnixMs) => sql`
SELECT ${wallets.cuy}, CAST(sum(${flows.amount}) AS TEXT) AS sum
FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_type ON ${flows.wallet_id} = ${wallets.id} AND ${flows.type} = 1
WHERE ${eq(wallets.uid, uid)} AND ${flows.id} >= (
  SELECT ${flows.id} FROM ${flows} INDEXED BY flow_time
  WHERE ${flows.created_at} >= ${since} ORDER BY ${flows.created_at}, ${flows.id} LIMIT 1)
GROUP BY ${wallets.cuy}`

const selectSeen = sql`
SELECT ${transfers.height} FROM ${transfers} INDEXED BY transfer_seen
WHERE ${state} = 'seen' AND ${gt(transfers.height, sql`(SELECT ${scans.height} FROM ${scans})`)}
ORDER BY ${transfers.height} LIMIT 1`
