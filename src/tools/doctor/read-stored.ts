import { ok, type Result } from '../../common/result.ts'
import type { StoredSetting } from '../../ledger/stored-settings.ts'
import { noTables, queryDatabase } from '../deploy/database.ts'

/** What the database of a deployment, or of this machine, has stored. */
export interface StoredData {
  readonly settings: readonly StoredSetting[]
  /** Index of the newest address, or null where none was issued. */
  readonly lastIndex: number | null
}

/** Reads stored data, or one sentence: why it could not be read. It never writes. */
export type ReadStored = () => Promise<Result<StoredData, string>>

const currency = "CAST(substr(name, length('CURRENCIES.') + 1) AS INTEGER)"
const settingsSql = `SELECT name, value, name NOT GLOB 'CURRENCIES.*' OR EXISTS (SELECT 1 FROM wallet WHERE cuy = ${currency})
  OR EXISTS (SELECT 1 FROM transfer WHERE cuy = ${currency}) AS used FROM stored_setting
  WHERE name IN ('TRON_CHAIN_ID', 'TRON_XPUB') OR name GLOB 'CURRENCIES.*'`
const lastSql = 'SELECT max(derivation_index) AS last FROM address'

/** Reads the database of an environment ('' is the top level), or that of this machine where it is undefined. */
export async function readStored(env: string | undefined): Promise<Result<StoredData, string>> {
  const reply = await queryDatabase(env, settingsSql, lastSql)
  if (!reply.ok) return reply.error === noTables ? ok({ settings: [], lastIndex: null }) : reply
  const [settings = [], [address] = []] = reply.value
  return ok({
    settings: settings.map(({ name, value, used }) => ({ name: String(name), value: String(value), used: used === 1 })),
    lastIndex: typeof address?.last === 'number' ? address.last : null,
  })
}
