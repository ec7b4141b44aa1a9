import { eq, sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import { fixedStatement, openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../d1/database.ts'
import { agreedDecimals, keptAddresses } from '../d1/tables.ts'
import { insertNew, type StoredOnce } from './stored-once.ts'

const addressesOnce: StoredOnce = {
  table: keptAddresses,
  key: [keptAddresses.kind, keptAddresses.address],
  rest: [keptAddresses.height],
}
const decimalsOnce: StoredOnce = {
  table: agreedDecimals,
  key: [agreedDecimals.contract],
  rest: [agreedDecimals.decimals],
}

/**
 * What the database keeps of settings that may change: every value that was ever configured, or on
 * which nodes ever agreed.
 */
export interface KeptSettings {
  /**
   * Every operator's wallet that was ever configured, with the height above which transfers from it
   * are no deposits.
   */
  readonly operators: ReadonlyMap<Address, BlockHeight>
  /**
   * Every payout address that was ever configured, with the position of the scan when it was first
   * stored.
   */
  readonly payers: ReadonlyMap<Address, BlockHeight>
  /** Every payout address that another cell has or had. */
  readonly otherPayers: ReadonlySet<Address>
  /** The decimals of contracts on which nodes have agreed. */
  readonly decimals: ReadonlyMap<Address, number>
}

/** Reads `KeptSettings` by one statement. */
export async function selectKept(db: ReadDatabase): Promise<KeptSettings> {
  return readKept((await keptStatement(db, {}).all<KeptRow>()).results)
}

/** A row of `keptStatement`: the height of an address, or the decimals of a contract. */
export interface KeptRow {
  readonly kind: 'operator' | 'payer' | 'other-payer' | 'decimals'
  readonly address: Address
  /** Null for a payout address of another cell. */
  readonly value: number | null
}

/**
 * Makes the statement whose rows `readKept` takes, for a caller that reads them in a batch with
 * others.
 */
export const keptStatement = fixedStatement(sql`
SELECT ${keptAddresses.kind}, ${keptAddresses.address}, ${keptAddresses.height} AS value FROM ${keptAddresses}
WHERE ${keptAddresses.kind} IN ('operator', 'payer', 'other-payer')
UNION ALL SELECT 'decimals', ${agreedDecimals.contract}, ${agreedDecimals.decimals} FROM ${agreedDecimals}`)

/** Turns rows into `KeptSettings`. All maps are empty for a new database. */
export function readKept(rows: readonly KeptRow[]): KeptSettings {
  const of = <Value extends number>(kind: KeptRow['kind']) =>
    // safe: what the table has for this kind
    new Map(rows.flatMap((row) => (row.kind === kind ? [[row.address, row.value as Value]] : [])))
  const otherPayers = new Set(rows.flatMap(({ kind, address }) => (kind === 'other-payer' ? [address] : [])))
  return {
    operators: of<BlockHeight>('operator'),
    payers: of<BlockHeight>('payer'),
    otherPayers,
    decimals: of('decimals'),
  }
}

/**
 * Makes the statement whose rows `readAgreedDecimals` takes, for a caller that reads them in a
 * batch with others.
 */
export const selectAgreedDecimals = fixedStatement(
  sql`SELECT ${agreedDecimals.contract}, ${agreedDecimals.decimals} FROM ${agreedDecimals}`,
)

export type DecimalsRow = Pick<typeof agreedDecimals.$inferSelect, 'contract' | 'decimals'>

/** Returns the decimals on which nodes have agreed, by contract. */
export function readAgreedDecimals(rows: readonly DecimalsRow[]): ReadonlyMap<Address, number> {
  return new Map(rows.map(({ contract, decimals }) => [contract, decimals]))
}

/**
 * Stores operators' wallets and payout addresses with the scan's position, above which they count.
 * An address that is stored already keeps its height.
 */
export async function storeOperators(
  db: WriteDatabase,
  operators: Iterable<Address>,
  payers: Iterable<Address>,
  height: BlockHeight,
): Promise<void> {
  const rowsOf = (kind: 'operator' | 'payer', addresses: Iterable<Address>) =>
    [...addresses].map((address) => ({ kind, address, height }))
  await storeOnce(db, addressesOnce, [...rowsOf('operator', operators), ...rowsOf('payer', payers)])
}

/** Stores payout addresses of other cells. What is stored already stays. */
export async function storeOtherPayers(db: WriteDatabase, addresses: readonly Address[]): Promise<void> {
  const rows = addresses.map((address) => ({ kind: 'other-payer', address, height: null }))
  await storeOnce(db, addressesOnce, rows)
}

/**
 * Stores every cell that `CELLS` has, each by the first address of its key. A cell that is stored
 * already stays, also when `CELLS` no longer has it.
 */
export async function storeCells(db: WriteDatabase, firstAddresses: readonly Address[]): Promise<void> {
  const rows = firstAddresses.map((address) => ({ kind: 'cell', address, height: null }))
  await storeOnce(db, addressesOnce, rows)
}

/** Reads the first address of every cell that `CELLS` ever had. */
export async function selectCells(db: ReadDatabase): Promise<readonly Address[]> {
  const { kind, address } = keptAddresses
  const rows = await openTables(db).select({ address }).from(keptAddresses).where(eq(kind, 'cell'))
  return rows.map((row) => row.address)
}

/**
 * Stores the decimals of a contract on which nodes have agreed. Decimals that are stored already
 * stay.
 */
export async function storeDecimals(db: WriteDatabase, contract: Address, decimals: number): Promise<void> {
  await storeOnce(db, decimalsOnce, [{ contract, decimals }])
}

async function storeOnce(db: WriteDatabase, once: StoredOnce, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await toStatement(db, insertNew(once, JSON.stringify(rows))).run()
}
