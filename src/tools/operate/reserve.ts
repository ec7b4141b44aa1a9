import { deriveAddress, type ExtendedPublicKey, indexMax, parseExtendedPublicKey } from '../../addresses/derive.ts'
import { reservedUid } from '../../common/ids.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { indexCurrencies } from '../../ledger/currencies.ts'
import { settingsOf } from '../../ledger/stored-settings.ts'
import { readConfiguration } from '../configuration.ts'
import { databaseNow, queryDatabase, readDatabase } from '../database.ts'

/** Most indices of one call: more are probably a mistake. */
const reservedMax = 100_000
/** Addresses of one statement: 100 bytes each, and a statement can have 100 kB. */
const rowsMax = 500

/** Indices whose addresses no caller gets. Without `from` they begin above the newest stored one. */
export interface ReservedRange {
  readonly from: number | null
  readonly to: number
}

/** The range that is typed, or one sentence: what is wrong with it. */
export function parseReservedRange({
  from,
  to = '',
}: {
  readonly from?: string | undefined
  readonly to?: string | undefined
}): Result<ReservedRange, string> {
  const isIndex = (text: string) => /^\d{1,10}$/.test(text) && Number(text) <= indexMax
  if (!isIndex(to)) return err('--to: an index')
  if (from === undefined) return ok({ from: null, to: Number(to) })
  if (!isIndex(from)) return err('--from: an index')
  return Number(from) <= Number(to) ? ok({ from: Number(from), to: Number(to) }) : err('--from must not be above --to')
}

/**
 * Stores every address of a range that the database does not have, for no caller. After a restore the service must not issue
 * again what was issued after the copy; and what arrives at addresses below `TRON_FIRST_INDEX` is recorded then. The key must
 * be that of the stored data.
 */
export async function reserve(range: ReservedRange, env: string | undefined): Promise<Result<string, string>> {
  const source = readConfiguration(env, process.env)
  if (!source.ok) return source
  const key = parseExtendedPublicKey(String(source.value.values.TRON_XPUB ?? ''))
  if (!key.ok) return err(`TRON_XPUB: ${key.error}`)
  const stored = await readDatabase(
    env,
    `SELECT value FROM stored_setting WHERE name = 'TRON_XPUB'`,
    'SELECT min(derivation_index) AS first, max(derivation_index) AS last FROM address',
  )
  if (!stored.ok) return stored
  const [[setting] = [], [indices] = []] = stored.value
  if (setting === undefined) return err('the database has no key yet: the service has not run with it')
  const own = settingsOf('', deriveAddress(key.value, 0), indexCurrencies([])).find(({ name }) => name === 'TRON_XPUB')
  if (own?.value !== setting.value) {
    return err(`TRON_XPUB is another key (${own?.value}) than the stored one (${setting.value})`)
  }
  const last = typeof indices?.last === 'number' ? indices.last : null
  const missing = missingIndices(range, Number(indices?.first ?? 0), last)
  if (!missing.ok) return missing
  for (let i = 0; i < missing.value.length; i += rowsMax) {
    const done = await queryDatabase(env, reserveSql(key.value, missing.value.slice(i, i + rowsMax)))
    if (!done.ok) return err(`${done.error}; ${i} addresses are reserved: the same command goes on`)
  }
  const next = Math.max(range.to, last ?? 0) + 1
  return ok(`${missing.value.length} addresses are reserved, up to index ${range.to}: the next one is that of ${next}.`)
}

/** The indices to store, in the only order that the database takes: each one beside those that are stored. */
function missingIndices({ from, to }: ReservedRange, first: number, last: number | null): Result<number[], string> {
  if (last === null) {
    if (from === null) return err('the database has no address: name the first index, too (--from)')
    return limited(Array.from({ length: to - from + 1 }, (_, i) => from + i))
  }
  if (from === null && to <= last) return err(`index ${to} is stored already; the newest is ${last}`)
  if (from !== null && (from > last + 1 || to < first - 1)) return err(`stored are ${first} to ${last}: leave no gap`)
  const below = Array.from({ length: Math.max(0, first - (from ?? first)) }, (_, i) => first - 1 - i)
  const above = Array.from({ length: Math.max(0, to - last) }, (_, i) => last + 1 + i)
  return limited([...below, ...above])
}

function limited(indices: number[]): Result<number[], string> {
  if (indices.length === 0) return err('the database has all of them')
  return indices.length <= reservedMax ? ok(indices) : err(`${indices.length} indices are more than ${reservedMax}`)
}

/** What was final before is not theirs, as with any new address. */
function reserveSql(key: ExtendedPublicKey, indices: readonly number[]): string {
  const rows = indices.map((index) => {
    const height = 'coalesce((SELECT finalized FROM scan), 0)'
    return `(${index + 1}, ${index}, ${reservedUid}, '${deriveAddress(key, index)}', ${height}, ${databaseNow})`
  })
  return `INSERT INTO address (id, derivation_index, uid, address, issued_height, created_at) VALUES ${rows.join(', ')}`
}
