import { sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, ofHex, type ReadDatabase } from '../../d1/database.ts'
import { payoutTransactions } from '../../d1/payout-tables.ts'
import { scans, tokens } from '../../d1/state-tables.ts'
import { addresses } from '../../d1/tables.ts'
import { readIssuerState, type StandingRow } from '../../issuer/state.ts'
import { selectStanding } from '../../issuer/store.ts'
import { type DecimalsRow, otherPayer, readAgreedDecimals, selectAgreedDecimals } from '../../ledger/stored-settings.ts'
import type { LeavingFacts } from '../leaving.ts'

/**
 * The facts that can stop payouts from this address now: the stored ones, and whether the database is a restored older copy, which only the scanner's memory
 * can tell. `isRestored` is asked after the database was read, so that nothing is decided on the data of a copy.
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

/** Reads the stored facts that can stop payouts from this address. It takes one round trip and reads a fixed number of rows, however long the history is. */
export async function selectLeavingFacts(db: ReadDatabase, address: Address): Promise<LeavingFacts> {
  const [state, agreed, found, standing] = await db.batch([
    selectState(db, { address }),
    selectAgreedDecimals(db, {}),
    selectFound(db, {}),
    selectStanding(db, {}),
  ])
  const [row] = (state?.results ?? []) as StateRow[] // safe: the statement selects these columns
  if (row === undefined) throw new Error('a query with a left join has a row')
  return {
    address,
    isHalted: row.isHalted === 1,
    restoredAt: row.restoredAt,
    unknownSince: row.unknownSince,
    isReplaced: row.isReplaced === 1,
    decimals: readAgreedDecimals((agreed?.results ?? []) as DecimalsRow[]), // safe: the statement selects these columns
    found: new Map((found?.results as FoundRow[] | undefined)?.map((one) => [one.contract, one.found])), // safe: the statement selects these columns
    issuers: readIssuerState((standing?.results ?? []) as StandingRow[]), // safe: the statement selects these columns
  }
}

/** The address that pays the transactions which can still be mined; null if there is none. It is one address, because another one is refused until they end. */
export async function selectOpenAddress(db: ReadDatabase): Promise<Address | null> {
  return await selectOpen(db, {}).first<Address>('address')
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

const { ended, excused, changed_at } = payoutTransactions
const address = sql.placeholder('address')

/**
 * SQL: whether the transaction stops payouts. Either no payout names it (`unknown`), or it succeeded after its payout had gone on without it (`late`); and no
 * operator has excused it.
 */
export const isUnresolved = sql`${ended} IN ('unknown', 'late') AND ${excused} IS NULL`

const selectState = fixedStatement<'address'>(sql`
SELECT ${scans.halted} IS NOT NULL AS "isHalted", ${scans.restored_at} AS "restoredAt",
  (SELECT min(${changed_at}) FROM ${payoutTransactions} INDEXED BY payout_transaction_unresolved WHERE ${isUnresolved})
    AS "unknownSince",
  (EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(address)})
    OR ${otherPayer(address)} IS NOT NULL) AS "isReplaced"
FROM (SELECT 1) LEFT JOIN ${scans}`)

const selectOpen = fixedStatement(sql`
SELECT ${payoutTransactions.address} FROM ${payoutTransactions} INDEXED BY payout_transaction_open WHERE ${ended} IS NULL LIMIT 1`)

const selectFound = fixedStatement(
  sql`SELECT ${tokens.contract}, ${tokens.found} FROM ${tokens} WHERE ${tokens.found} IS NOT NULL`,
)
