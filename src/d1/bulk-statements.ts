import { sql } from 'drizzle-orm'
import { alias, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { BlockHeight } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { CreditKey, Deposit, Movement, Pending, Refusal, Sighting } from '../deposits/deposit.ts'
import { amountMax } from '../common/amount.ts'
import { type Database, toJsonTexts } from './database.ts'
import { type IncomingDeposit, writeDeposit, writeMovement, writePending, writeRefusal, writeSighting } from './rows.ts'
import { rescans, scans } from './scan-tables.ts'
import { columnsOf, members, names, param, statement } from './statement.ts'
import { deposits, movements, pendingDeposits, refusals, sightings, wallets } from './tables.ts'

// Statements that take a list as one JSON text. Its objects have the names of the columns.

const known = alias(deposits, 'known')
const incoming = alias(deposits, 'incoming')
const refused = alias(refusals, 'refused')
const queued = alias(pendingDeposits, 'queued')
const isKnown = sql`EXISTS (
  SELECT 1 FROM ${deposits} AS ${known} WHERE ${known.txid} = ${incoming.txid} AND ${known.position} = ${incoming.position})`

const { outcome, amount } = deposits
const depositColumns = columnsOf(deposits, deposits.created_at)
const unchangedColumns = columnsOf(deposits, deposits.created_at, outcome, amount)

/**
 * Stores deposits in the list's order, except for those whose credit key is known. Triggers create the entries and
 * balances. A deposit that does not fit into its wallet (2^53 − 1) is stored uncredited as `too-large`, so that the scan
 * continues; the list's later deposits for the same wallet then count as too large as well. Returns what was stored.
 */
const insertDeposits = statement(sql`
INSERT INTO ${deposits} (${names(...unchangedColumns, outcome, amount, deposits.created_at)})
SELECT ${names(...unchangedColumns)}, iif(fits, ${names(outcome)}, 'too-large'), iif(fits, ${names(amount)}, 0), ${param('at')}
FROM (
  SELECT ${incoming}.*, ${incoming.outcome} <> 'credited' OR ${sql.raw(`${amountMax}`)} >=
    coalesce((SELECT ${wallets.balance} FROM ${wallets}
      WHERE ${wallets.uid} = ${incoming.uid} AND ${wallets.cuy} = ${incoming.cuy}), 0)
    + total(${incoming.amount})
      OVER (PARTITION BY ${incoming.uid}, ${incoming.cuy} ORDER BY place ROWS UNBOUNDED PRECEDING) AS fits
  FROM (SELECT key AS place, ${members(...depositColumns)} FROM json_each(${param('list')})) AS ${incoming}
  WHERE NOT ${isKnown}
)
ORDER BY place
RETURNING ${names(deposits.txid, deposits.position, outcome)}`)

const { since, next_try, reason, reason_at } = pendingDeposits
const pendingColumns = columnsOf(pendingDeposits, pendingDeposits.id, reason_at, since, next_try)

const isPending = sql`EXISTS (
  SELECT 1 FROM ${pendingDeposits} AS ${queued} WHERE ${queued.txid} = ${incoming.txid} AND ${queued.position} = ${incoming.position})`

const isRefused = sql`EXISTS (
  SELECT 1 FROM ${refusals} AS ${refused} WHERE ${refused.txid} = ${incoming.txid} AND ${refused.position} = ${incoming.position})`

/**
 * Stores candidates as pending, except for decided ones. Where one is pending already, only its reason changes; one that is
 * read again keeps the reason that it has.
 */
const upsertPending = statement(sql`
INSERT INTO ${pendingDeposits} (${names(...pendingColumns, reason_at, since, next_try)})
SELECT ${names(...pendingColumns)}, ${param('at')}, ${param('at')}, ${param('at')}
FROM (SELECT key AS place, ${members(...pendingColumns)} FROM json_each(${param('list')})) AS ${incoming}
WHERE NOT ${isKnown} AND NOT ${isRefused} ORDER BY place
ON CONFLICT (${names(pendingDeposits.txid, pendingDeposits.position)})
DO UPDATE SET ${names(reason)} = excluded.${names(reason)}, ${names(reason_at)} = excluded.${names(reason_at)}
WHERE excluded.${names(reason)} <> 'queued'`)

/** Stores candidates that are worth nothing; known ones are left unchanged. */
const refusalColumns = columnsOf(refusals, refusals.created_at)
const insertRefusals = statement(sql`
INSERT INTO ${refusals} (${names(...refusalColumns, refusals.created_at)})
SELECT ${names(...refusalColumns)}, ${param('at')}
FROM (SELECT ${members(...refusalColumns)} FROM json_each(${param('list')})) AS ${incoming}
WHERE NOT ${isKnown} AND NOT ${isRefused}`)

/** Stores blocks as gaps, each once while it is one. The scan reads what is above its position, as after a correction. */
const insertGaps = statement(sql`
INSERT INTO ${rescans} (${names(rescans.kind, rescans.from_height, rescans.to_height, rescans.next_height)},
  ${names(rescans.reason, rescans.created_at, rescans.next_try)})
SELECT 'gap', value, value, value, 'the logs of the block cannot be read with certainty', ${param('at')}, ${param('at')}
FROM json_each(${param('list')}) WHERE value <= (SELECT ${scans.height} FROM ${scans})
ON CONFLICT DO NOTHING`)

/** Stores rows; known ones are left unchanged. */
const insertNew = (table: SQLiteTable) =>
  statement(sql`
INSERT INTO ${table} (${names(...columnsOf(table))})
SELECT ${members(...columnsOf(table))} FROM json_each(${param('list')}) WHERE true
ON CONFLICT DO NOTHING`)
const insertMovements = insertNew(movements)

const { seen_at } = sightings
const sightingColumns = columnsOf(sightings, seen_at)

/**
 * Stores transfers above the position that are not known otherwise. Where one was seen before, only its block changes: it was
 * mined again.
 */
const upsertSightings = statement(sql`
INSERT INTO ${sightings} (${names(...sightingColumns, seen_at)})
SELECT ${names(...sightingColumns)}, ${param('at')}
FROM (SELECT ${members(...sightingColumns)} FROM json_each(${param('list')})) AS ${incoming}
WHERE ${incoming.height} > (SELECT ${scans.height} FROM ${scans}) AND NOT ${isKnown} AND NOT ${isRefused} AND NOT ${isPending}
ON CONFLICT (${names(sightings.txid, sightings.position)}) DO UPDATE
SET ${names(sightings.height)} = excluded.${names(sightings.height)}, ${names(sightings.block_hash)} = excluded.${names(sightings.block_hash)}
WHERE excluded.${names(sightings.block_hash)} <> ${sightings.block_hash}`)

const keyColumns = [pendingDeposits.txid, pendingDeposits.position]
const deletePending = statement(sql`
DELETE FROM ${pendingDeposits}
WHERE (${names(...keyColumns)}) IN (SELECT ${members(...keyColumns)} FROM json_each(${param('list')}))`)

const updateNextTry = statement(sql`
UPDATE ${pendingDeposits} SET ${names(next_try)} = ${param('at')}
WHERE (${names(...keyColumns)}) IN (SELECT ${members(...keyColumns)} FROM json_each(${param('list')}))`)

/** Rows in one JSON text: the longest takes about 600 bytes, and a bound text can have 2 MB. */
const rowsMax = 2_000

/** Statements that store deposits in the given order. */
export function depositStatements(db: Database, list: readonly Deposit[], at: UnixMs): D1PreparedStatement[] {
  return toJsonTexts(eachOnce(list).map(writeDeposit), rowsMax).map((text) => insertDeposits(db, { list: text, at }))
}

/** Statements that store candidates as pending. */
export function pendingStatements(db: Database, list: readonly Pending[], at: UnixMs): D1PreparedStatement[] {
  return toJsonTexts(eachOnce(list).map(writePending), rowsMax).map((text) => upsertPending(db, { list: text, at }))
}

/** Statements that store candidates as worth nothing; triggers remove their pending rows. */
export function refusalStatements(db: Database, list: readonly Refusal[], at: UnixMs): D1PreparedStatement[] {
  return toJsonTexts(eachOnce(list).map(writeRefusal), rowsMax).map((text) => insertRefusals(db, { list: text, at }))
}

/** Statements that store blocks as gaps. */
export function gapStatements(db: Database, heights: readonly BlockHeight[], at: UnixMs): D1PreparedStatement[] {
  return toJsonTexts(heights, rowsMax).map((text) => insertGaps(db, { list: text, at }))
}

/** Statements that remove the pending deposits with these credit keys. */
export function removalStatements(db: Database, keys: readonly CreditKey[]): D1PreparedStatement[] {
  return toJsonTexts(keys.map(keyRow), rowsMax).map((text) => deletePending(db, { list: text }))
}

/** Statements that make the pending deposits with these credit keys due at `at`. */
export function putBackStatements(db: Database, keys: readonly CreditKey[], at: UnixMs): D1PreparedStatement[] {
  return toJsonTexts(keys.map(keyRow), rowsMax).map((text) => updateNextTry(db, { list: text, at }))
}

function keyRow({ txid, position }: CreditKey): CreditKey {
  return { txid, position }
}

/** Statements that store movements. */
export function movementStatements(db: Database, list: readonly Movement[]): D1PreparedStatement[] {
  return toJsonTexts(list.map(writeMovement), rowsMax).map((text) => insertMovements(db, { list: text }))
}

/** Statements that store sightings, each credit key once. */
export function sightingStatements(db: Database, list: readonly Sighting[], at: UnixMs): D1PreparedStatement[] {
  return toJsonTexts(eachOnce(list).map(writeSighting), rowsMax).map((text) => upsertSightings(db, { list: text, at }))
}

/**
 * Runs statements that store `wanted` as one batch. `onWalletFull` gets the key of each deposit that was to be credited
 * and was stored as `too-large`.
 */
export async function storeDeposits(
  db: Database,
  wanted: readonly Deposit[],
  statements: D1PreparedStatement[],
  onWalletFull: (key: CreditKey) => void,
): Promise<void> {
  const results = await db.batch<Pick<IncomingDeposit, 'txid' | 'position' | 'outcome'>>(statements)
  const full = results.flatMap(({ results: stored }) => stored).filter((stored) => stored.outcome === 'too-large')
  for (const { txid, position } of full) {
    const deposit = wanted.find((one) => one.txid === txid && one.position === position)
    if (deposit?.outcome === 'credited') onWalletFull({ txid, position })
  }
}

/** The first of each credit key: a statement does not see the rows that it stores. */
function eachOnce<T extends CreditKey>(list: readonly T[]): readonly T[] {
  const byKey = new Map<string, T>()
  for (const one of list) {
    const key = `${one.txid}:${one.position}`
    if (!byKey.has(key)) byKey.set(key, one)
  }
  return [...byKey.values()]
}
