import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { BlockHeight } from '../../chain/block.ts'
import type { EventId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  fixedStatement,
  ofHex,
  openTables,
  type ReadDatabase,
  resultRows,
  shown,
  toStatement,
  type WriteDatabase,
} from '../../d1/database.ts'
import { payoutHoldings, payoutTransactions } from '../../d1/payout-tables.ts'
import { events, rescans, scans, tokens } from '../../d1/state-tables.ts'
import { addresses, flows } from '../../d1/tables.ts'
import { readIssuerState, type StandingRow } from '../../issuer/state.ts'
import { selectStanding } from '../../issuer/store.ts'
import { type DecimalsRow, readAgreedDecimals, selectAgreedDecimals } from '../../ledger/kept-settings.ts'
import { otherPayer } from '../../ledger/stored-settings.ts'
import type { LeavingFacts } from '../leaving.ts'

// The facts about the payout address and the database that can stop payouts.

/**
 * The facts that can stop payouts from this address now: the stored ones, and whether the database
 * is a restored older copy, which only the scanner's memory can tell. `isRestored` is asked after
 * the database was read, so that nothing is decided on the data of a copy.
 */
export async function readLeavingFacts(
  db: ReadDatabase,
  address: Address,
  isRestored: () => Promise<boolean>,
  at: UnixMs,
): Promise<LeavingFacts> {
  const facts = await selectLeavingFacts(db, address)
  return (await isRestored()) ? { ...facts, restoredAt: facts.restoredAt ?? at } : facts
}

/**
 * Reads the stored facts that can stop payouts from this address. It takes one round trip and reads
 * a fixed number of rows, however long the history is.
 */
export async function selectLeavingFacts(db: ReadDatabase, address: Address): Promise<LeavingFacts> {
  const [state, agreed, found, standing] = await db.batch([
    selectState(db, { address }),
    selectAgreedDecimals(db, {}),
    selectFound(db, {}),
    selectStanding(db, {}),
  ])
  const [row] = resultRows<StateRow>(state)
  if (row === undefined) throw new Error('a query with a left join has a row')
  return {
    address,
    isHalted: row.isHalted === 1,
    restoredAt: row.restoredAt,
    unknownSince: row.unknownSince,
    isReplaced: row.isReplaced === 1,
    decimals: readAgreedDecimals(resultRows<DecimalsRow>(agreed)),
    found: new Map(resultRows<FoundRow>(found).map((one) => [one.contract, one.found])),
    issuers: readIssuerState(resultRows<StandingRow>(standing)),
  }
}

/**
 * The address that pays the transactions which can still be mined; null if there is none. It is one
 * address, because another one is refused until they end.
 */
export async function selectOpenAddress(db: ReadDatabase): Promise<Address | null> {
  return await selectOpen(db, {}).first<Address>('address')
}

/** A balance of the payout address as nodes have shown it. */
export type PayoutHolding = typeof payoutHoldings.$inferSelect

/** Reads the balances of the payout address as they were last read from the chain. */
export async function selectHoldings(db: ReadDatabase, address: Address): Promise<readonly PayoutHolding[]> {
  const { contract, balance, energy, read_at } = payoutHoldings
  const rows = await openTables(db)
    .select({ contract, address: payoutHoldings.address, balance, energy, read_at })
    .from(payoutHoldings)
    .orderBy(contract)
  return rows.filter((row) => row.address === address)
}

/**
 * Stores balances of the payout address. A balance replaces the earlier one of the same contract.
 */
export async function storeAddressHoldings(db: WriteDatabase, holdings: readonly PayoutHolding[]): Promise<void> {
  const insertion = openTables(db).insert(payoutHoldings)
  const stored = holdings.map((holding) =>
    insertion.values(holding).onConflictDoUpdate({ target: payoutHoldings.contract, set: holding }),
  )
  await db.batch(stored.map((statement) => toStatement(db, statement)))
}

/** The state of the database that is compared with the memory of the scanner's Durable Object. */
export interface ComparedRow {
  /**
   * The database's event or entry under the number that the Durable Object remembers, as text; null
   * if there is none.
   */
  readonly same: string | null
  readonly newest: { readonly id: EventId; readonly text: string } | null
  /** The highest number that any event has had in this database. */
  readonly lastId: number
  /** Whether a signer has ever handed in a transaction. */
  readonly hasSigned: boolean
  /** The newest block that the scan has stored; -1 before it has started. */
  readonly position: BlockHeight
  /** The timestamp of the newest final block; null if that block is not read yet. */
  readonly finalTime: UnixMs | null
  /**
   * The lowest unread block below the position. Blocks that an operator wants read again were read
   * before, so they do not count.
   */
  readonly unread: BlockHeight | null
  /** The payout addresses that have transactions which can be in blocks that are not read yet. */
  readonly openPayers: readonly Address[]
  /**
   * Since when the database itself records that it is a restored older copy; null if it has no such
   * record.
   */
  readonly restoredAt: UnixMs | null
}

/**
 * Reads the state to compare, in one statement. `noted` is the number of the event that the
 * scanner's Durable Object remembers; 0 if there is none.
 */
export async function selectCompared(db: ReadDatabase, noted: EventId | 0): Promise<ComparedRow> {
  const row = await compared(db, { noted }).first<Row>()
  if (row === null) throw new Error('a view of sums has a row')
  const { newestId, newestText, lastId, hasSigned, openPayers, ...others } = row
  return {
    ...others,
    lastId: lastId ?? 0,
    hasSigned: hasSigned === 1,
    newest: newestId === null || newestText === null ? null : { id: newestId, text: newestText },
    openPayers: JSON.parse(openPayers) as readonly Address[], // safe: a JSON list of addresses
  }
}

type Row = Omit<ComparedRow, 'newest' | 'lastId' | 'hasSigned' | 'openPayers'> & {
  readonly newestId: EventId | null
  readonly newestText: string | null
  readonly lastId: number | null
  readonly hasSigned: 0 | 1
  readonly openPayers: string
}

/**
 * Stores since when the database is known to be an older copy, or null. While a time is stored, the
 * database itself refuses to move money.
 */
export async function storeRestoredAt(db: WriteDatabase, at: UnixMs | null): Promise<void> {
  await updateRestoredAt(db, { at }).run()
}

interface StateRow {
  readonly isHalted: 0 | 1
  readonly restoredAt: UnixMs | null
  readonly unknownSince: UnixMs | null
  readonly isReplaced: 0 | 1
}
interface FoundRow {
  readonly contract: Address
  readonly found: number
}

const t = payoutTransactions
const { ended, excused, changed_at } = t
const address = sql.placeholder('address')

/**
 * SQL: whether the transaction stops payouts. Either no payout names it (`unknown`), or it
 * succeeded after its payout had gone on without it (`late`); and no operator has excused it.
 */
export const isUnresolved = sql`${ended} IN ('unknown', 'late') AND ${excused} IS NULL`

const selectState = fixedStatement<'address'>(sql`
SELECT ${scans.halted} IS NOT NULL AS "isHalted", ${scans.restored_at} AS "restoredAt",
  (SELECT min(${changed_at}) FROM ${t} INDEXED BY payout_transaction_unresolved WHERE ${isUnresolved})
    AS "unknownSince",
  (EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(address)})
    OR ${otherPayer(address)} IS NOT NULL) AS "isReplaced"
FROM (SELECT 1) LEFT JOIN ${scans}`)

const selectOpen = fixedStatement(sql`
SELECT ${t.address} FROM ${t} INDEXED BY payout_transaction_open WHERE ${ended} IS NULL LIMIT 1`)

const selectFound = fixedStatement(
  sql`SELECT ${tokens.contract}, ${tokens.found} FROM ${tokens} WHERE ${tokens.found} IS NOT NULL`,
)

/**
 * SQL that is true if the read of blocks looked for the address of every transaction that can be in
 * them. The batch that stores the read requires this, or the read may have missed a transaction.
 */
export function isWatched(watched: ReadonlySet<Address>): SQL {
  const list = JSON.stringify([...watched])
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${openAddresses}) AS payer
    WHERE payer.value NOT IN (SELECT value FROM json_each(${list})))`
}

/**
 * SQL: whether the transaction can be in a block that is not read yet, as far as its row shows: it
 * is open, or it is expired and a correction has taken back the block past its expiration.
 */
export const isAwaited = sql`(${ended} IS NULL OR (${ended} = 'expired' AND ${t.past_height} IS NULL))`

const nextPayer = (above: SQL) =>
  sql`(SELECT min(${t.address}) FROM ${t} INDEXED BY payout_transaction_payer WHERE ${isAwaited}
    AND ${t.address} > ${above})`
/**
 * SQL: the addresses of these transactions as a JSON list. It reads a row for each address, however
 * many transactions an address has.
 */
export const openAddresses = sql`(
  WITH RECURSIVE payer(address) AS (
    SELECT ${nextPayer(sql`''`)} UNION ALL SELECT ${nextPayer(sql`payer.address`)} FROM payer
      WHERE payer.address IS NOT NULL)
  SELECT json_group_array(payer.address) FROM payer WHERE payer.address IS NOT NULL)`

// The columns by which an event or an entry is known again. A column that a later version adds to
// these tables does not come into these lists: what one version of the Worker has noted, the next
// one and the one before must find.
const eventColumns = [
  ...[events.id, events.type, events.uid, events.created_at, events.txid, events.position, events.cuy, events.raw],
  ...[events.address, events.seconds, events.reason, events.about],
]
const entryColumns = [
  ...[flows.id, flows.wallet_id, flows.type, flows.osn, flows.transfer_id, flows.amount, flows.balance, flows.mark],
  ...[flows.created_at, flows.posted_by, flows.number, flows.type_number],
]
const textOf = (columns: readonly SQLiteColumn[]) => sql`json_array(${sql.join(columns.map(shown), sql`, `)})`
/**
 * SQL: the event or entry with this number, as a JSON text. Events and entries share one numbering.
 */
const textAt = (number: SQL) =>
  sql`coalesce((SELECT ${textOf(eventColumns)} FROM ${events} WHERE ${events.id} = ${number}),
  (SELECT ${textOf(entryColumns)} FROM ${flows} WHERE ${flows.id} = ${number}))`
const { kind, finished_at, next_height } = rescans

const compared = fixedStatement<'noted'>(sql`
SELECT nullif(last_event.id, 0) AS "newestId", ${textAt(sql`last_event.id`)} AS "newestText",
  ${textAt(sql`${sql.placeholder('noted')}`)} AS same, last_event.id AS "lastId",
  EXISTS (SELECT 1 FROM ${t} INDEXED BY payout_transaction_payout WHERE ${t.payout_id} > 0) AS "hasSigned",
  coalesce((SELECT ${scans.height} FROM ${scans}), -1) AS position,
  (SELECT ${scans.finalized_time} FROM ${scans} WHERE ${scans.height} = ${scans.finalized}) AS "finalTime",
  (SELECT min(${next_height}) FROM ${rescans} INDEXED BY rescan_unread WHERE ${finished_at} IS NULL
    AND ${kind} <> 'request') AS unread,
  (SELECT ${scans.restored_at} FROM ${scans}) AS "restoredAt",
  ${openAddresses} AS "openPayers"
FROM last_event`)

const updateRestoredAt = fixedStatement<'at'>(sql`
UPDATE ${scans} SET restored_at = ${sql.placeholder('at')} WHERE restored_at IS NOT ${sql.placeholder('at')}`)
