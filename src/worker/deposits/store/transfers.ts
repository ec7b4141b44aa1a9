import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { BlockHeight } from '../../chain/block.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  bareList,
  columnName,
  fixedStatement,
  isRefusedBy,
  member,
  memberList,
  type ReadDatabase,
  shown,
  toJsonTexts,
  type WriteDatabase,
} from '../../d1/database.ts'
import { rescans, scans } from '../../d1/state-tables.ts'
import { scanSuperseded, sentTransactions, transfers } from '../../d1/tables.ts'
import { selectBalancesOf, type WalletRow } from '../../ledger/store/entries.ts'
import type { CreditKey, JudgedTransfer, SentFact } from '../transfer.ts'
import {
  decideTransfers,
  type KnownTransfer,
  type TransferChange,
  type TransferDecisions,
  type TransferStore,
  transferKey,
  walletKey,
} from '../transitions.ts'
import { readTransfer, type TransferRow, transferColumns } from './rows.ts'

/** Rows in one JSON text. The longest row takes about 600 bytes, and D1 binds texts up to 2 MB. */
const rowsMax = 2_000
/** Attempts before giving up, when concurrent writers change the same transfers. */
const triesMax = 3

/** Reads what `decideTransfers` compares judged transfers with: three statements in one round trip. */
export async function selectTransferStore(db: ReadDatabase, judged: readonly JudgedTransfer[]): Promise<TransferStore> {
  const keys = toJsonTexts(
    judged.map(({ txid, position }) => ({ txid, position })),
    rowsMax * 5,
  )
  const owners = judged.flatMap((one) => (one.state === 'moved' ? [] : [{ uid: one.uid, cuy: one.cuy }]))
  const [scan, held, ...known] = await db.batch([
    selectPosition(db, {}),
    selectBalancesOf(db, owners),
    ...keys.map((list) => selectKnown(db, { keys: list })),
  ])
  const [state] = (scan?.results ?? []) as { readonly position: BlockHeight }[] // safe: the columns of the statement
  const balances = (held?.results ?? []) as WalletRow[] // safe: as above
  const rows = known.flatMap(({ results }) => results as KnownRow[]) // safe: as above
  return {
    position: state?.position ?? null,
    known: new Map(rows.map((row) => [transferKey(row), readKnown(row)])),
    balances: new Map(balances.map(({ uid, cuy, balance }) => [walletKey(uid, cuy), BigInt(balance)])),
  }
}

type KnownRow = TransferRow & { readonly isAskedAgain: 0 | 1 }

function readKnown(row: KnownRow): KnownTransfer {
  return { ...readTransfer(row), isSought: Boolean(row.sought), isAskedAgain: row.isAskedAgain === 1 }
}

/** A part of a batch: the versions that must still be current, and the statements to run. */
export interface TransferWrites {
  /** The versions on which the decisions rest, for `areTransfersUnchanged`. */
  readonly versions: string
  readonly statements: readonly D1PreparedStatement[]
}

/** No transfers to write. */
export const noTransferWrites: TransferWrites = { versions: '[]', statements: [] }

/** Makes the statements that store decisions: changes first, then new rows, each in order. */
export function writeTransfers(
  db: WriteDatabase,
  { changed, fresh, found }: TransferDecisions,
  at: UnixMs,
): TransferWrites {
  const verdicts = changed.filter(({ known }) => known?.isSame === true)
  const others = changed.filter(({ known }) => known?.isSame !== true)
  return {
    versions: JSON.stringify(changed.map(({ known }) => known)),
    statements: [
      ...toJsonTexts(verdicts.map(writeRow), rowsMax).map((rows) => updateVerdicts(db, { rows, at })),
      ...toJsonTexts(others.map(writeRow), rowsMax).map((rows) => updateTransfers(db, { rows, at })),
      ...toJsonTexts(fresh.map(writeRow), rowsMax).map((rows) => insertTransfers(db, { rows, at })),
      ...(found.length === 0 ? [] : [noteFound(db, { ids: JSON.stringify(found) })]),
    ],
  }
}

/** SQL that is true if each transfer in `versions` still has that version: a condition for the guard of a batch. */
export function areTransfersUnchanged(versions: string | Placeholder): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${versions}) AS decided
    LEFT JOIN ${transfers} ON ${transfers.id} = decided.${member(transfers.id)}
    WHERE ${transfers.version} IS NOT decided.${member(transfers.version)})`
}

/** Triggers and CHECKs that refuse a decision about a transfer that has changed since: decide again. */
const overtaken = [
  ...['transfer: already stored', 'transfer: no such step', 'transfer: another version', 'flow_balance'],
  'transfer: what is held for review stays so',
]

/** Whether a batch failed because the position, a transfer or a balance changed after the decision. */
export function isOvertaken(cause: unknown): boolean {
  return isRefusedBy(scanSuperseded, cause) || overtaken.some((rule) => isRefusedBy(rule, cause))
}

/**
 * Decides and stores transfers outside a step of the scan, all or none. `halted`: the scan is halted, so nothing is stored. `superseded`: a block is no longer
 * final, or a correction newer than `correctedBy` exists. `correctedBy` is the newest correction when the transfers were read; null if none of them is final.
 */
export async function storeTransfers(
  db: WriteDatabase,
  judged: readonly JudgedTransfer[],
  at: UnixMs,
  correctedBy: number | null = null,
): Promise<'stored' | 'halted' | 'superseded'> {
  if (judged.length === 0) return 'stored'
  const decide = async () => decideTransfers(judged, await selectTransferStore(db, judged))
  return await storeDecided(db, decide, at, correctedBy)
}

/** Stores seen transfers. Of those that are new, only the first ones of the list are stored, so that at most `max` are in state `seen`. */
export async function storeSeen(
  db: WriteDatabase,
  seen: readonly JudgedTransfer[],
  max: number,
  at: UnixMs,
): Promise<void> {
  const list = seen.slice(0, rowsMax)
  await storeDecided(
    db,
    async () => {
      const [store, count] = [await selectTransferStore(db, list), await countSeen(db, max)]
      const decisions = decideTransfers(list, store)
      return { ...decisions, fresh: decisions.fresh.slice(0, Math.max(0, max - count)) }
    },
    at,
    null,
  )
}

/** Decides and stores, and repeats both if a concurrent writer was faster. */
async function storeDecided(
  db: WriteDatabase,
  decide: () => Promise<TransferDecisions>,
  at: UnixMs,
  correctedBy: number | null,
): Promise<'stored' | 'halted' | 'superseded'> {
  for (let tries = 1; ; tries += 1) {
    const { versions, statements } = writeTransfers(db, await decide(), at)
    if (statements.length === 0) return 'stored'
    try {
      await db.batch([requireUnchanged(db, { transfers: versions, correctedBy }), ...statements])
      return 'stored'
    } catch (cause) {
      if (isRefusedBy('transfer: the scan is halted', cause)) return 'halted'
      if (isRefusedBy('transfer: its block is not final', cause)) return 'superseded'
      if (!isOvertaken(cause)) throw cause
      if (tries >= triesMax) return 'superseded'
    }
  }
}

/** Counts transfers in state `seen`, up to `max`. */
async function countSeen(db: ReadDatabase, max: number): Promise<number> {
  return (await countSeenUpTo(db, { max }).first<number>('n')) ?? 0
}

/** Drops seen transfers of blocks up to this one that were read without finding them. A seen transfer in a gap stays: its block was not read. */
export function dropPassed(db: WriteDatabase, to: BlockHeight, at: UnixMs): D1PreparedStatement {
  return dropUpTo(db, { to, at })
}

/** Drops transfers that were seen in this block but are not in it. Transactions in `unread` could not be read, so theirs stay. */
export function dropAbsent(
  db: WriteDatabase,
  height: BlockHeight,
  unread: readonly string[],
  at: UnixMs,
): D1PreparedStatement {
  return dropInBlock(db, { height, unread: JSON.stringify(unread), at })
}

/** Removes at most `max` transfers that were dropped before `before`. A transfer that a person has decided about stays, with its decision. */
export async function removeDropped(db: WriteDatabase, before: UnixMs, max: number): Promise<void> {
  await deleteDropped(db, { before, max }).run()
}

/**
 * Reads the credited transfers above a corrected height that were not found again, once the scan has passed all their blocks. Those in an open gap are left
 * out: they may still be found there.
 */
export async function selectNotFound(
  db: ReadDatabase,
  max: number,
): Promise<readonly (CreditKey & Pick<TransferRow, 'id'>)[]> {
  return (await selectSought(db, { max }).all<CreditKey & Pick<TransferRow, 'id'>>()).results
}

/** Ends the search for these transfers after a correction. */
export async function endSearch(db: WriteDatabase, ids: readonly number[]): Promise<void> {
  await noteFound(db, { ids: JSON.stringify(ids) }).run()
}

/** Makes the statements that store transactions which addresses of the service have sent. Those already stored stay as they are. */
export function sentStatements(db: WriteDatabase, sent: readonly SentFact[]): D1PreparedStatement[] {
  const eachOnce = new Map(sent.map((fact) => [`${fact.txid} ${fact.address}`, fact]))
  return toJsonTexts([...eachOnce.values()], rowsMax).map((facts) => insertSent(db, { facts }))
}

/** SQL that is true if the block of a transfer is in an open gap. */
const isInGap = sql`EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open
  WHERE ${rescans.kind} = 'gap' AND ${rescans.finished_at} IS NULL
    AND ${rescans.to_height} >= ${transfers.height} AND ${rescans.next_height} <= ${transfers.height})`

/** A change as an object whose members have the names of the columns. */
function writeRow({ known, ...change }: TransferChange) {
  const { txid, position, block, cuy, native, from, to, raw, state, uid, reason, review, amount } = change
  return {
    ...known,
    ...{ txid, position, cuy, uid, native, state, reason, review },
    height: block.height,
    from_address: from,
    to_address: to,
    raw: raw.toString(),
    amount: Number(amount),
    seconds: change.seconds,
    seen_by: change.node,
  }
}

const facts = ['height', 'cuy', 'uid', 'from_address', 'to_address', 'raw', 'native'] as const
const verdict = ['state', 'reason', 'amount', 'review'] as const
const written = [...facts, ...verdict].map((name) => transfers[name])
const { id, version, txid, position, state, height, seconds, seen_by, sought, changed_at } = transfers
const rows = sql.placeholder('rows')
const at = sql.placeholder('at')

const selectPosition = fixedStatement(sql`SELECT ${scans.height} AS position FROM ${scans}`)

const selectKnown = fixedStatement<'keys'>(sql`
SELECT ${transferColumns}, EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open
    WHERE ${rescans.kind} = 'request' AND ${rescans.finished_at} IS NULL
      AND ${rescans.to_height} >= ${height} AND ${rescans.next_height} <= ${height}) AS "isAskedAgain"
FROM json_each(${sql.placeholder('keys')}) CROSS JOIN ${transfers} INDEXED BY transfer_key
  ON ${txid} = ${member(txid)} AND ${position} = ${member(position)}`)

/** Updates each row at the version that the decision rests on. `seconds` and `seen_by` keep the first sighting. */
const update = (columns: readonly SQLiteColumn[]) => sql`
UPDATE ${transfers} SET ${columnName(version)} = "change".${columnName(version)} + 1, ${columnName(changed_at)} = ${at},
  ${sql.join(
    columns.map((column) => sql`${columnName(column)} = "change".${columnName(column)}`),
    sql`, `,
  )},
  ${columnName(seconds)} = coalesce(${seconds}, "change".${columnName(seconds)}), ${columnName(seen_by)} = coalesce(${seen_by}, "change".${columnName(seen_by)})
FROM (SELECT ${memberList([id, version, ...columns, seconds, seen_by])} FROM json_each(${rows})) AS "change"
WHERE ${id} = "change".${columnName(id)}`

const updateTransfers = fixedStatement<'rows' | 'at'>(update(written))
/** SQLite rewrites an index of every column that is set, even to the same value. So only the verdict is set where the facts are the same. */
const updateVerdicts = fixedStatement<'rows' | 'at'>(update(verdict.map((name) => transfers[name])))

const inserted = [txid, position, ...written, seconds, seen_by]
const insertTransfers = fixedStatement<'rows' | 'at'>(sql`
INSERT INTO ${transfers} (${bareList([...inserted, transfers.created_at, changed_at])})
SELECT ${memberList(inserted)}, ${at}, ${at} FROM json_each(${rows}) ORDER BY key`)

/** The transfer was found again in a final block, or the search for it has ended. */
const noteFound = fixedStatement<'ids'>(sql`
UPDATE ${transfers} SET ${columnName(sought)} = 0
WHERE ${id} IN (SELECT value FROM json_each(${sql.placeholder('ids')})) AND ${sought} = 1`)

/** Fails the batch by setting `height` to NULL if a transfer has changed since the decision, or a newer correction exists. */
const requireUnchanged = fixedStatement<'transfers' | 'correctedBy'>(sql`
UPDATE ${scans} SET ${columnName(scans.height)} = iif(
  ${scans.corrected_by} = coalesce(${sql.placeholder('correctedBy')}, ${scans.corrected_by}) AND ${areTransfersUnchanged(sql.placeholder('transfers'))},
  ${scans.height}, NULL)`)

const countSeenUpTo = fixedStatement<'max'>(sql`
SELECT count(*) AS n FROM (
  SELECT 1 FROM ${transfers} INDEXED BY transfer_seen WHERE ${state} = 'seen' LIMIT ${sql.placeholder('max')})`)

const isDropped = sql`${columnName(state)} = 'dropped', ${columnName(version)} = ${version} + 1, ${columnName(changed_at)} = ${at}`

const dropUpTo = fixedStatement<'to' | 'at'>(sql`
UPDATE ${transfers} INDEXED BY transfer_seen SET ${isDropped}
WHERE ${state} = 'seen' AND ${height} <= ${sql.placeholder('to')} AND NOT ${isInGap} RETURNING ${columnName(seen_by)} AS "seenBy"`)

const dropInBlock = fixedStatement<'height' | 'unread' | 'at'>(sql`
UPDATE ${transfers} INDEXED BY transfer_seen SET ${isDropped}
WHERE ${state} = 'seen' AND ${height} = ${sql.placeholder('height')}
  AND ${txid} NOT IN (SELECT unhex(value) FROM json_each(${sql.placeholder('unread')}))`)

const deleteDropped = fixedStatement<'before' | 'max'>(sql`
DELETE FROM ${transfers} WHERE ${id} IN (
  SELECT ${id} FROM ${transfers} INDEXED BY transfer_dropped
  WHERE ${state} = 'dropped' AND ${transfers.review} IS NULL AND ${changed_at} <= ${sql.placeholder('before')}
  ORDER BY ${changed_at} LIMIT ${sql.placeholder('max')})`)

const sight = sql`${transfers} INDEXED BY transfer_sought`
const selectSought = fixedStatement<'max'>(sql`
SELECT ${id}, ${shown(txid)} AS txid, ${position} FROM ${sight} WHERE ${sought} = 1
  AND (SELECT max(${height}) FROM ${sight} WHERE ${sought} = 1) <= (SELECT ${scans.height} FROM ${scans})
  AND NOT ${isInGap} LIMIT ${sql.placeholder('max')}`)

const sentColumns = [sentTransactions.txid, sentTransactions.address, sentTransactions.height, sentTransactions.cuy]
const insertSent = fixedStatement<'facts'>(sql`
INSERT INTO ${sentTransactions} (${bareList(sentColumns)})
SELECT ${memberList(sentColumns)} FROM json_each(${sql.placeholder('facts')}) WHERE NOT EXISTS (
  SELECT 1 FROM ${sentTransactions} WHERE ${sentTransactions.txid} = ${member(sentTransactions.txid)}
    AND ${sentTransactions.address} = ${member(sentTransactions.address)})`)
