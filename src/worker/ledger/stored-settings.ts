import { eq, gt, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { type Address, formatBase58 } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import { formatRange, type UserRange } from '../common/user-range.ts'
import {
  bareList,
  fixedStatement,
  member,
  nowInDatabase,
  ofHex,
  openTables,
  type ReadDatabase,
  toStatement,
  type WriteDatabase,
} from '../d1/database.ts'
import { payoutTransactions } from '../d1/payout-tables.ts'
import { days, totals } from '../d1/state-tables.ts'
import {
  addresses,
  agreedDecimals,
  isOpenTransfer,
  keptAddresses,
  storedCurrencies,
  storedSettings,
  transfers,
  userRanges,
} from '../d1/tables.ts'
import type { Currencies, Currency } from './currencies.ts'

/** A setting that gives stored data its meaning, so that its value must stay the stored one. Both are as operators read them. */
export interface Setting {
  /** The name of the variable; for a currency `CURRENCIES.<cuy>`. */
  readonly name: string
  readonly value: string
}

/** What of a currency gives stored amounts their meaning. */
export interface CurrencyMeaning extends Pick<Currency, 'cuy' | 'decimals' | 'scale'> {
  /** Null for TRX. */
  readonly contract: Address | null
}

/** What of a configuration gives stored data its meaning. */
export interface DataMeaning {
  /** The chain and the key. */
  readonly settings: readonly Setting[]
  readonly currencies: readonly CurrencyMeaning[]
}

export interface StoredSetting extends Setting {
  /** Whether the setting must be configured, because stored data depends on it. For a currency that is configured this is not looked up, and false. */
  readonly used: boolean
}

export interface SettingDifference {
  readonly setting: string
  readonly stored: string
  readonly configured: string
}

/** The name of the setting with a database's range of users. */
export const rangeSetting = 'CELLS'

/** What of a configuration stored data depends on. `firstAddress` (index 0) identifies `TRON_XPUB`, in either of its two forms. */
export function meaningOf(chainId: string, firstAddress: Address, { list }: Currencies): DataMeaning {
  return {
    settings: [{ name: 'TRON_CHAIN_ID', value: chainId }, keySetting(firstAddress)],
    currencies: list.map(meaningOfCurrency),
  }
}

/** The setting that identifies a key by its first address. */
export function keySetting(firstAddress: Address): Setting {
  return { name: 'TRON_XPUB', value: `${formatBase58(firstAddress)} at m/44'/195'/n'/0/0` }
}

/** What of a currency stored data depends on. */
export function meaningOfCurrency({ cuy, asset, decimals, scale }: Currency): CurrencyMeaning {
  return { cuy, contract: asset.kind === 'native' ? null : asset.contract, decimals, scale }
}

/** The meaning of a currency as operators read it. */
export function settingOf({ cuy, contract, decimals, scale }: CurrencyMeaning): Setting {
  const what = contract === null ? 'TRX' : `contract ${formatBase58(contract)}`
  return { name: `CURRENCIES.${cuy}`, value: `${what}, decimals ${decimals}, scale ${scale}` }
}

const settingsIn = ({ settings, currencies }: DataMeaning) => [...settings, ...currencies.map(settingOf)]

/** Lists the stored settings that differ from the configuration. A currency may be missing in the configuration if no stored data uses it. */
export function findDifferences(meaning: DataMeaning, stored: readonly StoredSetting[]): readonly SettingDifference[] {
  const configured = new Map(settingsIn(meaning).map(({ name, value }) => [name, value]))
  return stored.flatMap(({ name, value, used }) => {
    const present = configured.get(name)
    const isEqual = present === undefined ? !used : present === value
    return isEqual ? [] : [{ setting: name, stored: value, configured: present ?? 'missing' }]
  })
}

/**
 * Says why payouts must not be paid from this address: it was issued to a user here, or a transaction from another address is signed for a payout and may
 * still be mined. Empty if payouts may be paid.
 */
export async function findPayoutDifferences(db: ReadDatabase, address: Address): Promise<readonly SettingDifference[]> {
  const found = await toStatement(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(address)}) AS issued,
  ${otherPayer(address)} AS other`,
  ).first<{ readonly issued: 0 | 1; readonly other: Address | null }>()
  const configured = formatBase58(address)
  const setting = 'PAYOUTS'
  if (found?.issued === 1) return [{ setting, stored: `${configured} was issued to a user`, configured }]
  const other = found?.other ?? null
  return other === null ? [] : [{ setting, stored: `${formatBase58(other)} has a signed payout`, configured }]
}

/** SQL for another address that has a transaction which may still be mined; NULL if there is none. It reads two rows, however many transactions there are. */
export function otherPayer(address: Address | SQLWrapper): SQL {
  const { ended, address: from } = payoutTransactions
  const [below, above] = [lt(from, address), gt(from, address)].map(
    (isOther) =>
      sql`(SELECT ${from} FROM ${payoutTransactions} INDEXED BY payout_transaction_payer WHERE ${ended} IS NULL AND ${isOther} LIMIT 1)`,
  )
  return sql`coalesce(${below}, ${above})`
}

/**
 * Stores the settings and currencies that are not stored yet, but none of them if a stored one differs: then this configuration may belong to another database.
 * Returns all stored ones, and the range of users if there is one. If all are stored, it is one round trip.
 */
export async function rememberSettings(db: WriteDatabase, meaning: DataMeaning): Promise<readonly StoredSetting[]> {
  const stored = await selectStored(db, meaning)
  if (settingsIn(meaning).every((one) => stored.some(({ name }) => name === one.name))) return stored
  await db.batch(insertMeaning(db, meaning))
  return await selectStored(db, meaning)
}

async function selectStored(db: ReadDatabase, { currencies }: DataMeaning): Promise<readonly StoredSetting[]> {
  const list = JSON.stringify(currencies)
  const isConfigured = sql`${storedCurrencies.cuy} IN (SELECT ${given([storedCurrencies.cuy])} FROM json_each(${list}) AS given)`
  const [settings, known, range] = await db.batch([
    toStatement(db, selectSettings),
    toStatement(db, selectCurrencies(sql`NOT ${isConfigured}`)),
    toStatement(db, selectUserRange),
  ])
  const [users] = (range?.results ?? []) as UserRange[] // safe: the columns of `selectUserRange`
  return [
    ...(users === undefined ? [] : [{ name: rangeSetting, value: formatRange(users), used: true }]),
    ...toStoredSettings((settings?.results ?? []) as Setting[], (known?.results ?? []) as CurrencyRow[]), // safe: the columns of both
  ]
}

/** A row of `selectCurrencies`. */
export interface CurrencyRow extends CurrencyMeaning {
  readonly used: 0 | 1
}

/** Turns the rows of `selectSettings` and `selectCurrencies` into settings. */
export function toStoredSettings(
  settings: readonly Setting[],
  currencies: readonly CurrencyRow[],
): readonly StoredSetting[] {
  return [
    ...currencies.map((row) => ({ ...settingOf(row), used: row.used === 1 })),
    ...settings.map(({ name, value }) => ({ name, value, used: true })),
  ]
}

/** Selects the stored chain and key. */
export const selectSettings = sql`SELECT ${storedSettings.name}, ${storedSettings.value} FROM ${storedSettings}`

/** Selects the stored currencies; `used` says whether stored data depends on one, and is looked up only under the condition. */
export function selectCurrencies(isLookedUp: SQL): SQL {
  const { cuy, contract, decimals, scale } = storedCurrencies
  return sql`
SELECT ${cuy}, ${contract}, ${decimals}, ${scale}, ${isLookedUp} AND (${isUsed(cuy)}) AS used FROM ${storedCurrencies} ORDER BY ${cuy}`
}

/** Selects the stored range of users as a `UserRange`; no row where this database has all users. */
export const selectUserRange = sql`SELECT ${userRanges.first} AS "from", ${userRanges.last} AS "to" FROM ${userRanges}`

/** A table of what is stored once: the columns of its key, and those that may differ from it. */
interface StoredOnce {
  readonly table: typeof storedSettings | typeof storedCurrencies | typeof keptAddresses | typeof agreedDecimals
  readonly key: readonly SQLiteColumn[]
  readonly rest: readonly SQLiteColumn[]
}

const settingsOnce: StoredOnce = { table: storedSettings, key: [storedSettings.name], rest: [storedSettings.value] }
const currenciesOnce: StoredOnce = {
  table: storedCurrencies,
  key: [storedCurrencies.cuy],
  rest: [storedCurrencies.contract, storedCurrencies.decimals, storedCurrencies.scale],
}
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

/** SQL for the values of the columns in a row of `json_each(…) AS given`. */
const given = (columns: readonly SQLiteColumn[]) =>
  sql.join(
    columns.map((column) => sql`given.${member(column)}`),
    sql`, `,
  )

/** SQL that inserts those rows of a JSON list whose key is not stored yet. */
function insertNew({ table, key, rest }: StoredOnce, list: string): SQL {
  const columns = [...key, ...rest]
  return sql`
INSERT INTO ${table} (${bareList([...columns, table.stored_at])})
SELECT ${given(columns)}, ${nowInDatabase} FROM json_each(${list}) AS given
WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE (${sql.join([...key], sql`, `)}) = (${given(key)}))`
}

/** SQL that is true if a row of a JSON list is stored with other values. */
function differs({ table, key, rest }: StoredOnce, list: string): SQL {
  const [keys, others] = [key, rest].map((columns) => sql.join([...columns], sql`, `))
  return sql`EXISTS (
    SELECT 1 FROM json_each(${list}) AS given JOIN ${table} ON (${keys}) = (${given(key)}) AND (${others}) IS NOT (${given(rest)}))`
}

function insertMeaning(db: WriteDatabase, { settings, currencies }: DataMeaning): D1PreparedStatement[] {
  const lists = [
    [settingsOnce, JSON.stringify(settings)],
    [currenciesOnce, JSON.stringify(currencies)],
  ] as const
  const isEqual = sql.join(
    lists.map(([once, list]) => sql`NOT ${differs(once, list)}`),
    sql` AND `,
  )
  return lists.map(([once, list]) => toStatement(db, sql`${insertNew(once, list)} AND ${isEqual}`))
}

/** What the database keeps of settings that may change: every value that was ever configured, or on which nodes ever agreed. */
export interface KeptSettings {
  /** Every operator's wallet that was ever configured, with the height above which transfers from it are no deposits. */
  readonly operators: ReadonlyMap<Address, BlockHeight>
  /** Every payout address that was ever configured, with the position of the scan when it was first stored. */
  readonly payers: ReadonlyMap<Address, BlockHeight>
  /** The decimals of contracts on which nodes have agreed. */
  readonly decimals: ReadonlyMap<Address, number>
}

/** Reads `KeptSettings` by one statement. */
export async function selectKept(db: ReadDatabase): Promise<KeptSettings> {
  return readKept((await keptStatement(db, {}).all<KeptRow>()).results)
}

/** A row of `keptStatement`: the height of an address, or the decimals of a contract. */
export interface KeptRow {
  readonly kind: 'operator' | 'payer' | 'decimals'
  readonly address: Address
  readonly value: number
}

/** Makes the statement whose rows `readKept` takes, for a caller that reads them in a batch with others. */
export const keptStatement = fixedStatement(sql`
SELECT ${keptAddresses.kind}, ${keptAddresses.address}, ${keptAddresses.height} AS value FROM ${keptAddresses}
WHERE ${keptAddresses.kind} IN ('operator', 'payer')
UNION ALL SELECT 'decimals', ${agreedDecimals.contract}, ${agreedDecimals.decimals} FROM ${agreedDecimals}`)

/** Turns rows into `KeptSettings`. All maps are empty for a new database. */
export function readKept(rows: readonly KeptRow[]): KeptSettings {
  const of = <Value extends number>(kind: KeptRow['kind']) =>
    new Map(rows.flatMap((row) => (row.kind === kind ? [[row.address, row.value as Value]] : []))) // safe: what the table has for this kind
  return { operators: of<BlockHeight>('operator'), payers: of<BlockHeight>('payer'), decimals: of('decimals') }
}

/** Makes the statement whose rows `readAgreedDecimals` takes, for a caller that reads them in a batch with others. */
export const selectAgreedDecimals = fixedStatement(
  sql`SELECT ${agreedDecimals.contract}, ${agreedDecimals.decimals} FROM ${agreedDecimals}`,
)

export type DecimalsRow = Pick<typeof agreedDecimals.$inferSelect, 'contract' | 'decimals'>

/** Returns the decimals on which nodes have agreed, by contract. */
export function readAgreedDecimals(rows: readonly DecimalsRow[]): ReadonlyMap<Address, number> {
  return new Map(rows.map(({ contract, decimals }) => [contract, decimals]))
}

/** Stores operators' wallets and payout addresses with the scan's position, above which they count. An address that is stored already keeps its height. */
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

/** Stores every cell that `CELLS` has, each by the first address of its key. A cell that is stored already stays, also when `CELLS` no longer has it. */
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

/** Stores the decimals of a contract on which nodes have agreed. Decimals that are stored already stay. */
export async function storeDecimals(db: WriteDatabase, contract: Address, decimals: number): Promise<void> {
  await storeOnce(db, decimalsOnce, [{ contract, decimals }])
}

async function storeOnce(db: WriteDatabase, once: StoredOnce, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await toStatement(db, insertNew(once, JSON.stringify(rows))).run()
}

/** SQL that is true if stored data depends on the currency: it has entries, sums, or transfers that are not credited. It reads a few rows for any history. */
function isUsed(cuy: SQLiteColumn): SQL {
  const open = sql`${transfers} INDEXED BY transfer_uncredited WHERE ${transfers.cuy} = ${cuy} AND ${sql.raw(isOpenTransfer)}`
  return sql`EXISTS (SELECT 1 FROM ${days} WHERE ${days.cuy} = ${cuy}) OR EXISTS (SELECT 1 FROM ${totals} WHERE ${totals.cuy} = ${cuy})
      OR EXISTS (SELECT 1 FROM ${open})`
}
