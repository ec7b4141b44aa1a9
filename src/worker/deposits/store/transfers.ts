import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { BlockHeight } from '../../chain/block.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  bare,
  bareList,
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

/** Rows in one JSON text: the longest takes about 600 bytes, and a bound text can have 2 MB. */
const rowsMax = 2_000
/** Tries, where others write the same transfers at the same time. */
const triesMax = 3

/** What decides about these transfers, by three statements in one round trip. */
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

/** A part of a batch: what must still be so for it, and the statements that follow from that. */
export interface TransferWrites {
  /** The versions that were decided about, for `areTransfersUnchanged`. */
  readonly versions: string
  readonly statements: readonly D1PreparedStatement[]
}

/** No transfers to write. */
export const noTransferWrites: TransferWrites = { versions: '[]', statements: [] }

/** The statements that store what was decided: changes first, then new rows, in their order. */
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

/** Whether each transfer of `versions` is as it was decided about: a condition for the guard of a batch. */
export function areTransfersUnchanged(versions: string | Placeholder): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${versions}) AS decided
    LEFT JOIN ${transfers} ON ${transfers.id} = decided.${member(transfers.id)}
    WHERE ${transfers.version} IS NOT decided.${member(transfers.version)})`
}

/** Messages of triggers and CHECKs by which a decision about transfers was overtaken: it is to be made again. */
const overtaken = [
  ...['transfer: already stored', 'transfer: no such step', 'transfer: another version', 'flow_balance'],
  'transfer: what is held for review stays so',
]

/** Whether a batch failed because what was decided about has changed meanwhile: the position, a transfer, or room in a wallet. */
export function isOvertaken(cause: unknown): boolean {
  return isRefusedBy(scanSuperseded, cause) || overtaken.some((rule) => isRefusedBy(rule, cause))
}

/**
 * Decides and stores transfers outside a step of the scan, all or none. None if the scan is `halted`, where a block is not final any
 * more, or where `correctedBy`, the newest correction when they were read, is not the newest one (`superseded`). Null: not final ones.
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
 * Stores what was seen: of transfers that are not known yet only so many that at most `max` are seen and undecided, the first ones of the
 * list.
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

/** Decides, stores, and decides again where something was faster. */
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

/** How many transfers are seen and not decided, counted up to `max`. */
async function countSeen(db: ReadDatabase, max: number): Promise<number> {
  return (await countSeenUpTo(db, { max }).first<number>('n')) ?? 0
}

/** Drops what was seen in blocks up to this one that were read. What was seen in a gap stays: its block was not read. */
export function dropPassed(db: WriteDatabase, to: BlockHeight, at: UnixMs): D1PreparedStatement {
  return dropUpTo(db, { to, at })
}

/** Drops what was seen in this block, and is not in it. `unread` are its transactions that could not be read. */
export function dropAbsent(
  db: WriteDatabase,
  height: BlockHeight,
  unread: readonly string[],
  at: UnixMs,
): D1PreparedStatement {
  return dropInBlock(db, { height, unread: JSON.stringify(unread), at })
}

/** Removes transfers that were dropped before `before`, `max` at most: they were in no final block. Decided ones keep their decision. */
export async function removeDropped(db: WriteDatabase, before: UnixMs, max: number): Promise<void> {
  await deleteDropped(db, { before, max }).run()
}

/**
 * The credited transfers above a corrected height that were not found again, once the scan has passed the blocks of all of them. One
 * in an open gap is not among them: it can be found there.
 */
export async function selectNotFound(
  db: ReadDatabase,
  max: number,
): Promise<readonly (CreditKey & Pick<TransferRow, 'id'>)[]> {
  return (await selectSought(db, { max }).all<CreditKey & Pick<TransferRow, 'id'>>()).results
}

/** These transfers are not looked for any more. */
export async function endSearch(db: WriteDatabase, ids: readonly number[]): Promise<void> {
  await noteFound(db, { ids: JSON.stringify(ids) }).run()
}

/** Statements that store transactions which addresses of the service have sent. Known ones stay. */
export function sentStatements(db: WriteDatabase, sent: readonly SentFact[]): D1PreparedStatement[] {
  const eachOnce = new Map(sent.map((fact) => [`${fact.txid} ${fact.address}`, fact]))
  return toJsonTexts([...eachOnce.values()], rowsMax).map((facts) => insertSent(db, { facts }))
}

/** Whether a gap has this height: a part of a query about transfers. */
const isInGap = sql`EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open
  WHERE ${rescans.kind} = 'gap' AND ${rescans.finished_at} IS NULL
    AND ${rescans.to_height} >= ${transfers.height} AND ${rescans.next_height} <= ${transfers.height})`

/** A change as an object whose members are named as the columns are. */
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

/** Each row names the version that was decided about. The first sighting stays. */
const update = (columns: readonly SQLiteColumn[]) => sql`
UPDATE ${transfers} SET ${bare(version)} = "change".${bare(version)} + 1, ${bare(changed_at)} = ${at},
  ${sql.join(
    columns.map((column) => sql`${bare(column)} = "change".${bare(column)}`),
    sql`, `,
  )},
  ${bare(seconds)} = coalesce(${seconds}, "change".${bare(seconds)}), ${bare(seen_by)} = coalesce(${seen_by}, "change".${bare(seen_by)})
FROM (SELECT ${memberList([id, version, ...columns, seconds, seen_by])} FROM json_each(${rows})) AS "change"
WHERE ${id} = "change".${bare(id)}`

const updateTransfers = fixedStatement<'rows' | 'at'>(update(written))
/** An index of a column that is set is written, whether the column changes or not: so what is the same is not set. */
const updateVerdicts = fixedStatement<'rows' | 'at'>(update(verdict.map((name) => transfers[name])))

const inserted = [txid, position, ...written, seconds, seen_by]
const insertTransfers = fixedStatement<'rows' | 'at'>(sql`
INSERT INTO ${transfers} (${bareList([...inserted, transfers.created_at, changed_at])})
SELECT ${memberList(inserted)}, ${at}, ${at} FROM json_each(${rows}) ORDER BY key`)

/** What is final and in a block that was read is not looked for any more. */
const noteFound = fixedStatement<'ids'>(sql`
UPDATE ${transfers} SET ${bare(sought)} = 0
WHERE ${id} IN (SELECT value FROM json_each(${sql.placeholder('ids')})) AND ${sought} = 1`)

/** Fails the batch if what was decided about has changed, or if a correction came since: `height` becomes NULL. */
const requireUnchanged = fixedStatement<'transfers' | 'correctedBy'>(sql`
UPDATE ${scans} SET ${bare(scans.height)} = iif(
  ${scans.corrected_by} = coalesce(${sql.placeholder('correctedBy')}, ${scans.corrected_by}) AND ${areTransfersUnchanged(sql.placeholder('transfers'))},
  ${scans.height}, NULL)`)

const countSeenUpTo = fixedStatement<'max'>(sql`
SELECT count(*) AS n FROM (
  SELECT 1 FROM ${transfers} INDEXED BY transfer_seen WHERE ${state} = 'seen' LIMIT ${sql.placeholder('max')})`)

const isDropped = sql`${bare(state)} = 'dropped', ${bare(version)} = ${version} + 1, ${bare(changed_at)} = ${at}`

const dropUpTo = fixedStatement<'to' | 'at'>(sql`
UPDATE ${transfers} INDEXED BY transfer_seen SET ${isDropped}
WHERE ${state} = 'seen' AND ${height} <= ${sql.placeholder('to')} AND NOT ${isInGap} RETURNING ${bare(seen_by)} AS "seenBy"`)

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
