import { type Address, formatBase58, parseAddress } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import { type ReadDatabase, statement, type WriteDatabase } from '../d1/database.ts'
import type { Currencies, Currency } from './currencies.ts'

/** A part of the configuration that stored data depends on. */
export interface Setting {
  /** The variable, for a currency followed by a point and its `cuy`. */
  readonly name: string
  readonly value: string
}

/** A setting that the database remembers. */
export interface StoredSetting extends Setting {
  /** Whether a currency has wallets or transfers. Looked up only where it is not configured now. */
  readonly used: boolean
}

/** A stored setting that the configuration contradicts. */
export interface SettingDifference {
  readonly setting: string
  readonly stored: string
  readonly configured: string
}

/** Setting names that are not configured values: they keep what was agreed or configured once. */
const operatorPrefix = 'OPERATOR_ADDRESSES.'
const decimalsPrefix = 'DECIMALS.'

/** The settings of a deployment. The first address identifies the key, whichever level of it is configured. */
export function settingsOf(chainId: string, firstAddress: Address, currencies: Currencies): readonly Setting[] {
  return [
    { name: 'TRON_CHAIN_ID', value: chainId },
    { name: 'TRON_XPUB', value: `${formatBase58(firstAddress)} at m/44'/195'/n'/0/0` },
    ...currencies.list.map(settingOf),
  ]
}

/** What the configuration contradicts. A stored currency may be missing where nothing is stored in it. */
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

/** What stored data depends on in a currency. A trigger reads this text: only the decimals of a token can be corrected. */
export function settingOf({ cuy, asset, decimals, scale }: Currency): Setting {
  const what = asset.kind === 'native' ? 'TRX' : `contract ${formatBase58(asset.contract)}`
  return { name: `CURRENCIES.${cuy}`, value: `${what}, decimals ${decimals}, scale ${scale}` }
}

/** Stores the settings that are not stored yet, unless a stored one differs. Returns all stored settings. */
export async function rememberSettings(
  db: WriteDatabase,
  settings: readonly Setting[],
): Promise<readonly StoredSetting[]> {
  const list = JSON.stringify(settings)
  const [, stored] = await db.batch<{ name: string; value: string; used: 0 | 1 }>([
    insertSettings(db, { list }),
    selectSettings(db, { list }),
  ])
  return (stored?.results ?? []).map(({ name, value, used }) => ({ name, value, used: used === 1 }))
}

/** The operator's addresses that were ever configured, each with the finalized height from which it counts. */
export async function selectOperators(db: ReadDatabase): Promise<ReadonlyMap<Address, BlockHeight>> {
  const rows = await selectNamed(db, operatorPrefix)
  return new Map(
    rows.flatMap(({ rest, value }) => {
      const address = parseAddress(rest)
      return address.ok ? [[address.value, Number(value) as BlockHeight] as const] : [] // safe: stored as one
    }),
  )
}

/** Stores the operator's addresses with the height from which they count. A known one keeps its height. */
export async function storeOperators(
  db: WriteDatabase,
  addresses: Iterable<Address>,
  height: BlockHeight,
): Promise<void> {
  await storeOnce(
    db,
    [...addresses].map((address) => [`${operatorPrefix}${formatBase58(address)}`, String(height)]),
  )
}

/** The setting with the agreed decimals of a contract. */
export const decimalsSetting = (contract: Address) => `${decimalsPrefix}${contract}`

/** The decimals of contracts, as nodes have agreed on them. */
export async function selectDecimals(db: ReadDatabase): Promise<ReadonlyMap<Address, number>> {
  const rows = await selectNamed(db, decimalsPrefix)
  return new Map(rows.map(({ rest, value }) => [rest as Address, Number(value)])) // safe: stored as one
}

/** Stores the agreed decimals of a contract. Those that are stored already stay. */
export async function storeDecimals(db: WriteDatabase, contract: Address, decimals: number): Promise<void> {
  await storeOnce(db, [[decimalsSetting(contract), String(decimals)]])
}

async function selectNamed(db: ReadDatabase, prefix: string) {
  const { results } = await selectByPrefix(db, { prefix }).all<{ readonly rest: string; readonly value: string }>()
  return results
}

async function storeOnce(db: WriteDatabase, settings: readonly (readonly [string, string])[]): Promise<void> {
  if (settings.length === 0) return
  await insertOnce(db, { list: JSON.stringify(settings.map(([name, value]) => ({ name, value }))) }).run()
}

const isNew = `NOT EXISTS (SELECT 1 FROM stored_setting WHERE name = setting.value ->> 'name')`
const insertOnce = statement(`
INSERT INTO stored_setting (name, value, stored_at)
SELECT value ->> 'name', value ->> 'value', CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM json_each(:list) AS setting WHERE ${isNew}`)

/** A configuration that differs changes nothing: it can be that of another deployment. */
const insertSettings = statement(`
INSERT INTO stored_setting (name, value, stored_at)
SELECT value ->> 'name', value ->> 'value', CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM json_each(:list) AS setting WHERE ${isNew}
  AND NOT EXISTS (SELECT 1 FROM json_each(:list) AS other JOIN stored_setting
    ON stored_setting.name = other.value ->> 'name' AND stored_setting.value <> other.value ->> 'value')`)

const currencyOf = 'CAST(substr(stored_setting.name, 12) AS INTEGER)'
const selectSettings = statement(`
SELECT name, value, name NOT GLOB 'CURRENCIES.*'
  OR (name NOT IN (SELECT value ->> 'name' FROM json_each(:list))
    AND (EXISTS (SELECT 1 FROM wallet WHERE cuy = ${currencyOf})
      OR EXISTS (SELECT 1 FROM transfer WHERE cuy = ${currencyOf}))) AS used
FROM stored_setting
WHERE name NOT GLOB '${operatorPrefix}*' AND name NOT GLOB '${decimalsPrefix}*'`)

/** From the prefix up to what follows it: a name is in printable ASCII. */
const selectByPrefix = statement(`
SELECT substr(name, length(:prefix) + 1) AS rest, value FROM stored_setting
WHERE name > :prefix AND name < :prefix || char(127)`)
