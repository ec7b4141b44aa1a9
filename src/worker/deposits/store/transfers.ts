import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { BlockHeight } from '../../chain/block.ts'
import { dayMs, type UnixMs } from '../../common/time.ts'
import {
  bareList,
  columnName,
  fixedStatement,
  isRefusedBy,
  member,
  memberList,
  type ReadDatabase,
  resultRows,
  toJsonTexts,
  type WriteDatabase,
} from '../../d1/database.ts'
import { rescans, scans } from '../../d1/state-tables.ts'
import { scanSuperseded, sentTransactions, transfers } from '../../d1/tables.ts'
import { selectBalancesOf, type WalletRow } from '../../ledger/store/entries.ts'
import type { JudgedTransfer, SentFact, StoredTransfer } from '../transfer.ts'
import {
  type Contradiction,
  decideTransfers,
  type KnownTransfer,
  type TransferChange,
  type TransferDecisions,
  type TransferStore,
  transferKey,
  walletKey,
} from '../transitions.ts'
import { orderDepositStatements } from './order-deposits.ts'
import { readAll, readTransfer, type TransferRow, transferColumns } from './rows.ts'

/**
 * Most rows in one JSON text. The longest row takes about 600 bytes, and D1 binds texts up to 2 MB.
 */
const rowsMax = 2_000
/** Most attempts if concurrent writers keep changing the transfers. */
const triesMax = 3

/**
 * Reads, in one round trip, what `decideTransfers` needs: the position of the scan, the rows of
 * these transfers, and the balances of their wallets.
 */
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
  const [state] = resultRows<{ readonly position: BlockHeight }>(scan)
  const balances = resultRows<WalletRow>(held)
  const rows = known.flatMap(resultRows<KnownRow>)
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

/**
 * The statements that write decided transfers, and the condition under which a batch may run them.
 */
export interface TransferWrites {
  /**
   * JSON: the rows to be changed, with the versions that were read. The batch must check them with
   * `areTransfersUnchanged`.
   */
  readonly versions: string
  readonly statements: readonly D1PreparedStatement[]
}

export const noTransferWrites: TransferWrites = { versions: '[]', statements: [] }

/**
 * Makes the statements that store decided transfers: changes of stored rows, then new rows. In this
 * order `decideTransfers` has filled the wallets.
 */
export function writeTransfers(
  db: WriteDatabase,
  { changed, fresh, found }: Omit<TransferDecisions, 'contradicted'>,
  at: UnixMs,
): TransferWrites {
  const elsewhere = found.filter(({ isMoved }) => isMoved)
  const verdicts = changed.filter(({ known }) => known?.isSame === true)
  const others = changed.filter(({ known }) => known?.isSame !== true)
  return {
    versions: JSON.stringify([...changed.map(({ known }) => known), ...elsewhere]),
    statements: [
      ...orderDepositStatements(db, changed, fresh),
      ...toJsonTexts(verdicts.map(writeRow), rowsMax).map((rows) => updateVerdicts(db, { rows, at })),
      ...toJsonTexts(others.map(writeRow), rowsMax).map((rows) => updateTransfers(db, { rows, at })),
      ...toJsonTexts(fresh.map(writeRow), rowsMax).map((rows) => insertTransfers(db, { rows, at })),
      ...(elsewhere.length === 0 ? [] : [moveFound(db, { rows: JSON.stringify(elsewhere), at })]),
      ...(found.length === 0 ? [] : [noteFound(db, { ids: JSON.stringify(found.map(({ id }) => id)) })]),
    ],
  }
}

/**
 * SQL that is true if each row in `versions` (see `TransferWrites`) still has its version. Use it
 * in a statement that makes the batch fail otherwise.
 */
export function areTransfersUnchanged(versions: string | Placeholder): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${versions}) AS decided
    LEFT JOIN ${transfers} ON ${transfers.id} = decided.${member(transfers.id)}
    WHERE ${transfers.version} IS NOT decided.${member(transfers.version)})`
}

/**
 * Names of the rules (triggers and a CHECK) that refuse a write because a transfer or a wallet has
 * changed since it was read.
 */
const overtaken = [
  ...['transfer: already stored', 'transfer: no such step', 'transfer: another version', 'flow_balance'],
  'transfer: what is held for review stays so',
]

/** The rule that refuses a credit, and the end of a search for one, while the scan is halted. */
export const scanHalted = 'transfer: the scan is halted'

/**
 * Whether a batch failed because the scan's position, a transfer or a balance has changed since it
 * was read. The caller then reads and decides again.
 */
export function isOvertaken(cause: unknown): boolean {
  return isRefusedBy(scanSuperseded, cause) || overtaken.some((rule) => isRefusedBy(rule, cause))
}

/**
 * Decides and stores transfers, all or none, without moving the scan's position. `correctedBy` is
 * the id of the newest correction (an operator lowered a wrong finalized height) when their blocks
 * were read; null if no block is final. Nothing is stored if the result is `halted` (the scan is
 * halted) or `superseded`: a block is no longer final, there is a newer correction, or concurrent
 * writers were faster `triesMax` times. After `superseded` the caller must read again.
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

/**
 * Stores transfers of blocks that are not final. New rows are stored in the order of the list,
 * until the database has `max` transfers in the state `seen`.
 */
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

/**
 * Calls `decide` and stores what it returns. If a transfer has changed in between, does both again.
 * The results are those of `storeTransfers`.
 */
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
      if (isRefusedBy(scanHalted, cause)) return 'halted'
      if (isRefusedBy('transfer: its block is not final', cause)) return 'superseded'
      if (!isOvertaken(cause)) throw cause
      if (tries >= triesMax) return 'superseded'
    }
  }
}

async function countSeen(db: ReadDatabase, max: number): Promise<number> {
  return (await countSeenUpTo(db, { max }).first<number>('n')) ?? 0
}

/**
 * Makes the statement that drops transfers which are still `seen` although the scan has read every
 * block up to height `to`: no block contains them. A transfer whose block is in a gap stays,
 * because that block was not read.
 */
export function dropPassed(db: WriteDatabase, to: BlockHeight, at: UnixMs): D1PreparedStatement {
  return dropUpTo(db, { to, at })
}

/**
 * Makes the statement that drops transfers which were seen at this height, but which the read block
 * lacks. Transfers of transactions in `unread` stay.
 */
export function dropAbsent(
  db: WriteDatabase,
  height: BlockHeight,
  unread: readonly string[],
  at: UnixMs,
): D1PreparedStatement {
  return dropInBlock(db, { height, unread: JSON.stringify(unread), at })
}

/** A dropped transfer (seen in a block that did not become final) is removed after this time. */
export const droppedKeptMs = dayMs

/**
 * Removes at most `max` transfers that were dropped `droppedKeptMs` or longer before the last scan
 * began, which a trigger requires. A transfer that was ever held for review stays.
 */
export async function removeDropped(db: WriteDatabase, max: number): Promise<void> {
  await deleteDropped(db, { max }).run()
}

/**
 * Reads at most `max` credited transfers that were sought in blocks which are all read by now, and
 * that none of these blocks contains. Returns none before the scan has passed the blocks of all
 * sought transfers. Leaves out transfers whose block is still to be read, because the block may
 * contain them.
 */
export async function selectNotFound(db: ReadDatabase, max: number): Promise<readonly StoredTransfer[]> {
  return readAll(await selectSought(db, { max }).all<TransferRow>())
}

/** Finds the credited transfers that these judged ones contradict. */
export async function findContradicted(
  db: ReadDatabase,
  judged: readonly JudgedTransfer[],
): Promise<readonly Contradiction[]> {
  return decideTransfers(judged, await selectTransferStore(db, judged)).contradicted
}

/**
 * Ends the search for these credited transfers. Call it after an alarm has named them. While the
 * scan is halted the search goes on.
 */
export async function endSearch(db: WriteDatabase, ids: readonly number[]): Promise<void> {
  try {
    await noteFound(db, { ids: JSON.stringify(ids) }).run()
  } catch (cause) {
    if (!isRefusedBy(scanHalted, cause)) throw cause
  }
}

/**
 * Makes the statements that store which transactions addresses of the service have sent. Rows that
 * exist stay as they are.
 */
export function sentStatements(db: WriteDatabase, sent: readonly SentFact[]): D1PreparedStatement[] {
  const eachOnce = new Map(sent.map((fact) => [`${fact.txid} ${fact.address}`, fact]))
  return toJsonTexts([...eachOnce.values()], rowsMax).map((facts) => insertSent(db, { facts }))
}

/** SQL that is true if the transfer's block is in an open rescan of this kind. */
const isInRescan = (isOfKind: SQL) => sql`EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open
  WHERE ${isOfKind} AND ${rescans.finished_at} IS NULL
    AND ${rescans.to_height} >= ${transfers.height} AND ${rescans.next_height} <= ${transfers.height})`
/**
 * SQL that is true if the transfer's block is in a gap: a range of blocks that the scan could not
 * read yet.
 */
const isInGap = isInRescan(sql`${rescans.kind} = 'gap'`)
/**
 * The same, or the block is one of those that an operator has asked for and that are not read yet.
 */
const isToBeRead = isInRescan(sql`${rescans.kind} IN ('gap', 'request')`)

/** Turns a change into an object whose members have the names of columns, for `memberList`. */
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

/**
 * Updates rows by id. It sets `version` to the version that was read plus 1, so a trigger refuses
 * the update if the row has changed since. `seconds` and `seen_by` stay once they are set.
 */
const update = (columns: readonly SQLiteColumn[]) => sql`
UPDATE ${transfers} SET ${columnName(version)} = "change".${columnName(version)} + 1, ${columnName(changed_at)} = ${at},
  ${sql.join(
    columns.map((column) => sql`${columnName(column)} = "change".${columnName(column)}`),
    sql`, `,
  )},
  ${columnName(seconds)} = coalesce(${seconds}, "change".${columnName(seconds)}),
  ${columnName(seen_by)} = coalesce(${seen_by}, "change".${columnName(seen_by)})
FROM (SELECT ${memberList([id, version, ...columns, seconds, seen_by])} FROM json_each(${rows})) AS "change"
WHERE ${id} = "change".${columnName(id)}`

const updateTransfers = fixedStatement<'rows' | 'at'>(update(written))
/**
 * For stored facts that the chain still shows: sets only the verdict. SQLite would rewrite each
 * index of a column that is set, even to the same value.
 */
const updateVerdicts = fixedStatement<'rows' | 'at'>(update(verdict.map((name) => transfers[name])))

const inserted = [txid, position, ...written, seconds, seen_by]
const insertTransfers = fixedStatement<'rows' | 'at'>(sql`
INSERT INTO ${transfers} (${bareList([...inserted, transfers.created_at, changed_at])})
SELECT ${memberList(inserted)}, ${at}, ${at} FROM json_each(${rows}) ORDER BY key`)

/**
 * Stores in which block a sought transfer was found again. It runs before `noteFound`, because only
 * a sought transfer may change its block.
 */
const moveFound = fixedStatement<'rows' | 'at'>(sql`
UPDATE ${transfers} SET ${columnName(version)} = found.version + 1, ${columnName(height)} = found.height,
  ${columnName(changed_at)} = ${at}
FROM (SELECT ${memberList([id, version, height])} FROM json_each(${rows})) AS found WHERE ${id} = found.id`)

/**
 * Marks credited transfers as no longer sought: they were found again, or an alarm has named them.
 */
const noteFound = fixedStatement<'ids'>(sql`
UPDATE ${transfers} SET ${columnName(sought)} = 0
WHERE ${id} IN (SELECT value FROM json_each(${sql.placeholder('ids')})) AND ${sought} = 1`)

/**
 * Makes the batch fail if a transfer has changed since it was read, or if there is a newer
 * correction: it sets `height` to NULL, which a CHECK refuses.
 */
const requireUnchanged = fixedStatement<'transfers' | 'correctedBy'>(sql`
UPDATE ${scans} SET ${columnName(scans.height)} = iif(
  ${scans.corrected_by} = coalesce(${sql.placeholder('correctedBy')}, ${scans.corrected_by})
    AND ${areTransfersUnchanged(sql.placeholder('transfers'))},
  ${scans.height}, NULL)`)

const countSeenUpTo = fixedStatement<'max'>(sql`
SELECT count(*) AS n FROM (
  SELECT 1 FROM ${transfers} INDEXED BY transfer_seen WHERE ${state} = 'seen' LIMIT ${sql.placeholder('max')})`)

const isDropped = sql`${columnName(state)} = 'dropped', ${columnName(version)} = ${version} + 1,
  ${columnName(changed_at)} = ${at}`

const dropUpTo = fixedStatement<'to' | 'at'>(sql`
UPDATE ${transfers} INDEXED BY transfer_seen SET ${isDropped}
WHERE ${state} = 'seen' AND ${height} <= ${sql.placeholder('to')} AND NOT ${isInGap}
  RETURNING ${columnName(seen_by)} AS "seenBy"`)

const dropInBlock = fixedStatement<'height' | 'unread' | 'at'>(sql`
UPDATE ${transfers} INDEXED BY transfer_seen SET ${isDropped}
WHERE ${state} = 'seen' AND ${height} = ${sql.placeholder('height')}
  AND ${txid} NOT IN (SELECT unhex(value) FROM json_each(${sql.placeholder('unread')}))`)

const deleteDropped = fixedStatement<'max'>(sql`
DELETE FROM ${transfers} WHERE ${id} IN (
  SELECT ${id} FROM ${transfers} INDEXED BY transfer_dropped
  WHERE ${state} = 'dropped' AND ${transfers.review} IS NULL
    AND ${changed_at} <= (SELECT ${scans.tried_at} FROM ${scans}) - ${sql.raw(String(droppedKeptMs))}
  ORDER BY ${changed_at} LIMIT ${sql.placeholder('max')})`)

const sight = sql`${transfers} INDEXED BY transfer_sought`
const selectSought = fixedStatement<'max'>(sql`
SELECT ${transferColumns} FROM ${sight} WHERE ${sought} = 1
  AND (SELECT max(${height}) FROM ${sight} WHERE ${sought} = 1) <= (SELECT ${scans.height} FROM ${scans})
  AND NOT ${isToBeRead} LIMIT ${sql.placeholder('max')}`)

const sentColumns = [sentTransactions.txid, sentTransactions.address, sentTransactions.height, sentTransactions.cuy]
const insertSent = fixedStatement<'facts'>(sql`
INSERT INTO ${sentTransactions} (${bareList(sentColumns)})
SELECT ${memberList(sentColumns)} FROM json_each(${sql.placeholder('facts')}) WHERE NOT EXISTS (
  SELECT 1 FROM ${sentTransactions} WHERE ${sentTransactions.txid} = ${member(sentTransactions.txid)}
    AND ${sentTransactions.address} = ${member(sentTransactions.address)})`)
