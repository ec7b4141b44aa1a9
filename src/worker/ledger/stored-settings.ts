import { gt, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { type Address, formatBase58 } from '../chain/address.ts'
import { formatRange, type UserRange } from '../common/user-range.ts'
import { ofHex, type ReadDatabase, resultRows, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payoutTransactions } from '../d1/payout-tables.ts'
import { days, totals } from '../d1/state-tables.ts'
import { addresses, isOpenTransfer, storedCurrencies, storedSettings, transfers, userRanges } from '../d1/tables.ts'
import type { Currencies, Currency } from './currencies.ts'
import { differs, given, insertNew, type StoredOnce } from './stored-once.ts'

/**
 * A setting that gives stored data its meaning, so that its value must stay the stored one. Both
 * are as operators read them.
 */
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
  /**
   * Whether the setting must be configured, because stored data depends on it. For a currency that
   * is configured this is not looked up, and false.
   */
  readonly used: boolean
}

export interface SettingDifference {
  readonly setting: string
  readonly stored: string
  readonly configured: string
}

/** The name of the setting with a database's range of users. */
export const rangeSetting = 'CELLS'

/**
 * What of a configuration stored data depends on. `firstAddress` (index 0) identifies `TRON_XPUB`,
 * in either of its two forms.
 */
export function meaningOf(chainId: string, firstAddress: Address, { list }: Currencies): DataMeaning {
  return {
    settings: [chainSetting(chainId), keySetting(firstAddress)],
    currencies: list.map(meaningOfCurrency),
  }
}

/** The setting that identifies a chain. */
export function chainSetting(chainId: string): Setting {
  return { name: 'TRON_CHAIN_ID', value: chainId }
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

/**
 * Lists the stored settings that differ from the configuration. A currency may be missing in the
 * configuration if no stored data uses it.
 */
export function findDifferences(meaning: DataMeaning, stored: readonly StoredSetting[]): readonly SettingDifference[] {
  const configured = new Map(settingsIn(meaning).map(({ name, value }) => [name, value]))
  return stored.flatMap(({ name, value, used }) => {
    const present = configured.get(name)
    const isEqual = present === undefined ? !used : present === value
    return isEqual ? [] : [{ setting: name, stored: value, configured: present ?? 'missing' }]
  })
}

/**
 * Says why this payout address is not the right one: it was issued to a user here, or a transaction
 * from another address is signed for a payout and may still be mined. Empty if it is. After a
 * correction both can have one: then each is right, so that one can be configured until the blocks
 * are read again.
 */
export async function findPayoutDifferences(db: ReadDatabase, address: Address): Promise<readonly SettingDifference[]> {
  const found = await toStatement(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(address)}) AS issued,
  iif(${isOpenPayer(address)}, NULL, ${otherPayer(address)}) AS other`,
  ).first<{ readonly issued: 0 | 1; readonly other: Address | null }>()
  const configured = formatBase58(address)
  const setting = 'PAYOUTS'
  if (found?.issued === 1) return [{ setting, stored: `${configured} was issued to a user`, configured }]
  const other = found?.other ?? null
  return other === null ? [] : [{ setting, stored: `${formatBase58(other)} has a signed payout`, configured }]
}

/**
 * SQL for another address that has a transaction which may still be mined; NULL if there is none.
 * It reads two rows, however many transactions there are.
 */
export function otherPayer(address: Address | SQLWrapper): SQL {
  const { ended, address: from } = payoutTransactions
  const [below, above] = [lt(from, address), gt(from, address)].map(
    (isOther) =>
      sql`(SELECT ${from} FROM ${payoutTransactions} INDEXED BY payout_transaction_payer WHERE ${ended} IS NULL
        AND ${isOther} LIMIT 1)`,
  )
  return sql`coalesce(${below}, ${above})`
}

/** SQL that is true if a transaction of this address may still be mined. */
const isOpenPayer = (address: Address) => sql`EXISTS (SELECT 1 FROM ${payoutTransactions}
  INDEXED BY payout_transaction_payer
  WHERE ${payoutTransactions.ended} IS NULL AND ${payoutTransactions.address} = ${address})`

/** What a database says about the configuration that it belongs to. */
export interface StoredMeaning {
  /** All stored settings and currencies, and the range of users if there is one. */
  readonly stored: readonly StoredSetting[]
  /** The number of the newest migration that is applied whole. */
  readonly migration: number
}

/**
 * Stores the settings and currencies that are not stored yet, but none of them if a stored one
 * differs: then this configuration may belong to another database. Returns all stored ones. If all
 * are stored, it is one round trip.
 */
export async function rememberSettings(db: WriteDatabase, meaning: DataMeaning): Promise<StoredMeaning> {
  const found = await selectStored(db, meaning)
  if (settingsIn(meaning).every((one) => found.stored.some(({ name }) => name === one.name))) return found
  await db.batch(insertMeaning(db, meaning))
  return await selectStored(db, meaning)
}

async function selectStored(db: ReadDatabase, { currencies }: DataMeaning): Promise<StoredMeaning> {
  const list = JSON.stringify(currencies)
  const isConfigured = sql`${storedCurrencies.cuy} IN (SELECT ${given([storedCurrencies.cuy])}
    FROM json_each(${list}) AS given)`
  const [settings, known, range, newest] = await db.batch([
    toStatement(db, selectSettings),
    toStatement(db, selectCurrencies(sql`NOT ${isConfigured}`)),
    toStatement(db, selectUserRange),
    toStatement(db, sql`SELECT number FROM newest_migration`),
  ])
  const [migration] = resultRows<{ readonly number: number }>(newest)
  return {
    stored: toStoredSettings(
      resultRows<Setting>(settings),
      resultRows<CurrencyRow>(known),
      resultRows<UserRange>(range),
    ),
    migration: migration?.number ?? 0,
  }
}

/** A row of `selectCurrencies`. */
export interface CurrencyRow extends CurrencyMeaning {
  readonly used: 0 | 1
}

/** Turns the rows of `selectSettings`, `selectCurrencies` and `selectUserRange` into settings. */
export function toStoredSettings(
  settings: readonly Setting[],
  currencies: readonly CurrencyRow[],
  ranges: readonly UserRange[],
): readonly StoredSetting[] {
  return [
    ...ranges.map((range) => ({ name: rangeSetting, value: formatRange(range), used: true })),
    ...currencies.map((row) => ({ ...settingOf(row), used: row.used === 1 })),
    ...settings.map(({ name, value }) => ({ name, value, used: true })),
  ]
}

/** Selects the stored chain and key. */
export const selectSettings = sql`SELECT ${storedSettings.name}, ${storedSettings.value} FROM ${storedSettings}`

/**
 * Selects the stored currencies; `used` says whether stored data depends on one, and is looked up
 * only under the condition.
 */
export function selectCurrencies(isLookedUp: SQL): SQL {
  const { cuy, contract, decimals, scale } = storedCurrencies
  return sql`
SELECT ${cuy}, ${contract}, ${decimals}, ${scale}, ${isLookedUp} AND (${isUsed(cuy)}) AS used FROM ${storedCurrencies}
  ORDER BY ${cuy}`
}

/** Selects the stored range of users as a `UserRange`; no row where this database has all users. */
export const selectUserRange = sql`SELECT ${userRanges.first} AS "from", ${userRanges.last} AS "to" FROM ${userRanges}`

const settingsOnce: StoredOnce = { table: storedSettings, key: [storedSettings.name], rest: [storedSettings.value] }
const currenciesOnce: StoredOnce = {
  table: storedCurrencies,
  key: [storedCurrencies.cuy],
  rest: [storedCurrencies.contract, storedCurrencies.decimals, storedCurrencies.scale],
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

/**
 * SQL that is true if stored data depends on the currency: it has entries, sums, or transfers that
 * are not credited. It reads a few rows for any history.
 */
function isUsed(cuy: SQLiteColumn): SQL {
  const open = sql`${transfers} INDEXED BY transfer_uncredited WHERE ${transfers.cuy} = ${cuy}
    AND ${sql.raw(isOpenTransfer)}`
  return sql`EXISTS (SELECT 1 FROM ${days} WHERE ${days.cuy} = ${cuy})
    OR EXISTS (SELECT 1 FROM ${totals} WHERE ${totals.cuy} = ${cuy})
      OR EXISTS (SELECT 1 FROM ${open})`
}
