import { and, gt, lt, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type Address, formatBase58, parseAddress } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
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
import { addresses, isOpenTransfer, storedSettings, transfers } from '../d1/tables.ts'
import type { Currencies, Currency } from './currencies.ts'

const { name, value, stored_at: storedAt } = storedSettings

/** A setting that gives stored data its meaning, so that its value must stay the stored one. */
export interface Setting {
  /** The name of the variable; for a currency `CURRENCIES.<cuy>`. */
  readonly name: string
  readonly value: string
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

/** Prefixes of the names of stored settings that are not compared with the configuration, but keep what was once configured, or agreed on by nodes. */
const operatorPrefix = 'OPERATOR_ADDRESSES.'
const payerPrefix = 'PAYOUT_ADDRESSES.'
const decimalsPrefix = 'DECIMALS.'
const cellPrefix = 'CELLS.'
/**
 * A condition on `name` that the index of names can use. Names are printable ASCII, so the prefix with `\x7f` is above all names that begin with the prefix.
 */
const hasPrefix = (prefix: string) => and(gt(name, prefix), lt(name, `${prefix}\x7f`))

/** Lists the settings of a deployment that stored data depends on. `firstAddress` (index 0) identifies `TRON_XPUB`, in either of its two forms. */
export function settingsOf(chainId: string, firstAddress: Address, currencies: Currencies): readonly Setting[] {
  return [
    { name: 'TRON_CHAIN_ID', value: chainId },
    { name: 'TRON_XPUB', value: `${formatBase58(firstAddress)} at m/44'/195'/n'/0/0` },
    ...currencies.list.map(settingOf),
  ]
}

/** Lists the stored settings that differ from the configuration. A currency may be missing in the configuration if no stored data uses it. */
export function findDifferences(
  settings: readonly Setting[],
  stored: readonly StoredSetting[],
): readonly SettingDifference[] {
  const configured = new Map(settings.map(({ name, value }) => [name, value]))
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

/** The stored setting of a currency. A trigger parses its text, so its form must not change: the trigger allows no change but a token's decimals. */
export function settingOf({ cuy, asset, decimals, scale }: Currency): Setting {
  const what = asset.kind === 'native' ? 'TRX' : `contract ${formatBase58(asset.contract)}`
  return { name: `CURRENCIES.${cuy}`, value: `${what}, decimals ${decimals}, scale ${scale}` }
}

/** Stores the settings that are not stored yet, but none of them if a stored one differs. Returns all stored ones. If all are stored, it is one statement. */
export async function rememberSettings(
  db: WriteDatabase,
  settings: readonly Setting[],
): Promise<readonly StoredSetting[]> {
  const list = JSON.stringify(settings)
  const select = async () => {
    const { results } = await toStatement(db, selectSettings(list)).all<Setting & { readonly used: 0 | 1 }>()
    return results.map(({ name, value, used }) => ({ name, value, used: used === 1 }))
  }
  const stored = await select()
  if (settings.every((one) => stored.some(({ name }) => name === one.name))) return stored
  await toStatement(db, insertSettings(list)).run()
  return await select()
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
  return readKept((await keptStatement(db, {}).all<Setting>()).results)
}

/** Makes the statement whose rows `readKept` takes, for a caller that reads them in a batch with others. */
export const keptStatement = fixedStatement(sql`
SELECT ${name}, ${value} FROM ${storedSettings}
WHERE ${or(hasPrefix(operatorPrefix), hasPrefix(payerPrefix), hasPrefix(decimalsPrefix))}`)

/** Turns stored settings into `KeptSettings`. All maps are empty for a new database. */
export function readKept(rows: readonly Setting[]): KeptSettings {
  const operators = new Map<Address, BlockHeight>()
  const payers = new Map<Address, BlockHeight>()
  const decimals = new Map<Address, number>()
  for (const row of rows) {
    if (row.name.startsWith(decimalsPrefix)) {
      decimals.set(row.name.slice(decimalsPrefix.length) as Address, Number(row.value)) // safe: `decimalsSetting` has written an address
      continue
    }
    const [prefix, kept] = row.name.startsWith(payerPrefix) ? [payerPrefix, payers] : [operatorPrefix, operators]
    const address = parseAddress(row.name.slice(prefix.length))
    if (address.ok) kept.set(address.value, Number(row.value) as BlockHeight) // safe: `storeOperators` has written a height
  }
  return { operators, payers, decimals }
}

/** Makes the statement whose rows `readAgreedDecimals` takes, for a caller that reads them in a batch with others. */
export const selectAgreedDecimals = fixedStatement(
  sql`SELECT ${name}, ${value} FROM ${storedSettings} WHERE ${hasPrefix(decimalsPrefix)}`,
)

export type DecimalsRow = Pick<Setting, 'name' | 'value'>

/** Returns the decimals on which nodes have agreed, by contract. */
export function readAgreedDecimals(rows: readonly DecimalsRow[]): ReadonlyMap<Address, number> {
  return new Map(rows.map((row) => [row.name.slice(decimalsPrefix.length) as Address, Number(row.value)])) // safe: `decimalsSetting` has written an address
}

/** Stores operators' wallets and payout addresses with the scan's position, above which they count. An address that is stored already keeps its height. */
export async function storeOperators(
  db: WriteDatabase,
  operators: Iterable<Address>,
  payers: Iterable<Address>,
  height: BlockHeight,
): Promise<void> {
  const settings = (prefix: string, addresses: Iterable<Address>) =>
    [...addresses].map((address) => [`${prefix}${formatBase58(address)}`, String(height)] as const)
  await storeOnce(db, [...settings(operatorPrefix, operators), ...settings(payerPrefix, payers)])
}

/** Stores every cell that `CELLS` has, each by the first address of its key. A cell that is stored already stays, also when `CELLS` no longer has it. */
export async function storeCells(db: WriteDatabase, firstAddresses: readonly Address[]): Promise<void> {
  await storeOnce(
    db,
    firstAddresses.map((address) => [`${cellPrefix}${formatBase58(address)}`, 'has been in CELLS'] as const),
  )
}

/** Reads the first address, in Base58Check, of every cell that `CELLS` ever had. */
export async function selectCells(db: ReadDatabase): Promise<readonly string[]> {
  const rows = await openTables(db).select({ name }).from(storedSettings).where(hasPrefix(cellPrefix))
  return rows.map((row) => row.name.slice(cellPrefix.length))
}

/** The name of the stored setting with the decimals of this contract on which nodes have agreed. */
export const decimalsSetting = (contract: Address) => `${decimalsPrefix}${contract}`

/** Stores the decimals of a contract on which nodes have agreed. Decimals that are stored already stay. */
export async function storeDecimals(db: WriteDatabase, contract: Address, decimals: number): Promise<void> {
  await storeOnce(db, [[decimalsSetting(contract), String(decimals)]])
}

async function storeOnce(db: WriteDatabase, settings: readonly (readonly [string, string])[]): Promise<void> {
  if (settings.length === 0) return
  const list: readonly Setting[] = settings.map(([name, value]) => ({ name, value }))
  await toStatement(db, insertNew(JSON.stringify(list))).run()
}

function insertNew(list: string): SQL {
  return sql`
INSERT INTO ${storedSettings} (${bareList([name, value, storedAt])})
SELECT setting.${member(name)}, setting.${member(value)}, ${nowInDatabase}
FROM json_each(${list}) AS setting
WHERE NOT EXISTS (SELECT 1 FROM ${storedSettings} WHERE ${name} = setting.${member(name)})`
}

/** Inserts the settings that are not stored yet, unless a stored one differs: then this configuration may belong to another database. */
function insertSettings(list: string): SQL {
  return sql`${insertNew(list)}
  AND NOT EXISTS (SELECT 1 FROM json_each(${list}) AS other JOIN ${storedSettings}
    ON ${name} = other.${member(name)} AND ${value} <> other.${member(value)})`
}

/** SQL that is true if stored data depends on the currency: it has entries, sums, or transfers that are not credited. It reads a few rows for any history. */
export function isUsed(cuy: SQL): SQL {
  const open = sql`${transfers} INDEXED BY transfer_uncredited WHERE ${transfers.cuy} = ${cuy} AND ${sql.raw(isOpenTransfer)}`
  return sql`EXISTS (SELECT 1 FROM ${days} WHERE ${days.cuy} = ${cuy}) OR EXISTS (SELECT 1 FROM ${totals} WHERE ${totals.cuy} = ${cuy})
      OR EXISTS (SELECT 1 FROM ${open})`
}

function selectSettings(list: string): SQL {
  const cuy = sql`CAST(substr(${name}, 12) AS INTEGER)`
  return sql`
SELECT ${name}, ${value}, ${name} NOT GLOB 'CURRENCIES.*'
  OR (${name} NOT IN (SELECT other.${member(name)} FROM json_each(${list}) AS other)
    AND (${isUsed(cuy)})) AS used
FROM ${storedSettings}
WHERE ${name} NOT GLOB ${`${operatorPrefix}*`} AND ${name} NOT GLOB ${`${payerPrefix}*`} AND ${name} NOT GLOB ${`${decimalsPrefix}*`}
  AND ${name} NOT GLOB ${`${cellPrefix}*`}`
}
