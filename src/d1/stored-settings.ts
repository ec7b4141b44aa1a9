import { sql } from 'drizzle-orm'
import type { StoredSettings } from '../ledger/stored-setting.ts'
import type { Database } from './database.ts'
import { storedSettingTable as table } from './setting-table.ts'
import { members, names, param, statement } from './statement.ts'
import { deposits, pendingDeposits, wallets } from './tables.ts'

/** The stored settings over D1. */
export function createStoredSettings(db: Database): StoredSettings {
  return {
    async remember(settings) {
      const list = JSON.stringify(settings)
      const [, stored] = await db.batch<{ name: string; value: string; used: 0 | 1 }>([
        insertSettings(db, { list }),
        selectSettings(db, { list }),
      ])
      return (stored?.results ?? []).map(({ name, value, used }) => ({ name, value, used: used === 1 }))
    },
  }
}

/** A configuration that differs changes nothing: it can be that of another deployment. */
const isSame = sql`NOT EXISTS (SELECT 1 FROM json_each(${param('list')}) AS other JOIN ${table}
  ON ${table.name} = other.value ->> 'name' AND ${table.value} <> other.value ->> 'value')`

const insertSettings = statement(sql`
INSERT INTO ${table} (${names(table.name, table.value, table.stored_at)})
SELECT ${members(table.name, table.value)}, CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM json_each(${param('list')}) AS setting
WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${table.name} = setting.value ->> 'name')
  AND ${isSame}`)

const hasRows = (rows: typeof wallets | typeof pendingDeposits | typeof deposits) =>
  sql`EXISTS (SELECT 1 FROM ${rows} WHERE ${rows.cuy} = CAST(substr(${table.name}, 12) AS INTEGER))`

/** Whether a currency is used takes a scan of whole tables, so it is read only for one that is not configured. */
const selectSettings = statement(sql`
SELECT ${table.name}, ${table.value}, ${table.name} NOT GLOB 'CURRENCIES.*'
  OR (${table.name} NOT IN (SELECT value ->> 'name' FROM json_each(${param('list')}))
    AND (${hasRows(wallets)} OR ${hasRows(pendingDeposits)} OR ${hasRows(deposits)})) AS used
FROM ${table}`)
