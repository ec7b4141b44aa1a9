import { deriveAddress, type ExtendedPublicKey, indexMax, parseExtendedPublicKey } from '../../addresses/derive.ts'
import { reservedUid } from '../../common/ids.ts'
import { indexCurrencies } from '../../ledger/currencies.ts'
import { settingsOf } from '../../ledger/stored-settings.ts'
import { readConfiguration } from '../configuration.ts'
import { databaseNow, queryDatabase, readDatabase } from '../database.ts'
import { orStop, ToolError } from '../tool-error.ts'
import { type Options, readOption, type Work } from './options.ts'

/** Most indices of one call: more are probably a mistake. */
const reservedMax = 100_000
/** Addresses of one statement: 100 bytes each, and a statement can have 100 kB. */
const rowsMax = 500

/** Without `from` the indices begin above the newest stored one. */
interface ReservedRange {
  readonly from: number | null
  readonly to: number
}

/**
 * `reserve`: stores every address of a range that the database does not have, for no caller. After a restore the service must not
 * issue again what was issued after the copy; and what arrives at addresses below `TRON_FIRST_INDEX` is recorded then. The key must
 * be that of the stored data.
 */
export function reserve(options: Options): Work {
  const to = readIndex(options, 'to')
  const range = { from: options.from === undefined ? null : readIndex(options, 'from'), to }
  if (range.from !== null && range.from > to) throw new ToolError('--from must not be above --to')
  return async (env) => {
    const { values } = orStop(readConfiguration(env, process.env))
    const key = parseExtendedPublicKey(String(values.TRON_XPUB ?? ''))
    if (!key.ok) throw new ToolError(`TRON_XPUB: ${key.error}`)
    const stored = await readDatabase(
      env,
      `SELECT value FROM stored_setting WHERE name = 'TRON_XPUB'`,
      'SELECT min(derivation_index) AS first, max(derivation_index) AS last FROM address',
    )
    const [[setting] = [], [indices] = []] = orStop(stored)
    if (setting === undefined) throw new ToolError('the database has no key yet: the service has not run with it')
    const settings = settingsOf('', deriveAddress(key.value, 0), indexCurrencies([]))
    const own = settings.find(({ name }) => name === 'TRON_XPUB')
    if (own?.value !== setting.value) {
      throw new ToolError(`TRON_XPUB is another key (${own?.value}) than the stored one (${setting.value})`)
    }
    const last = typeof indices?.last === 'number' ? indices.last : null
    const missing = missingIndices(range, Number(indices?.first ?? 0), last)
    const first = Number(values.TRON_FIRST_INDEX)
    if (last === null && to + 1 < first) {
      throw new ToolError(`TRON_FIRST_INDEX is ${first}: --to ${first - 1} comes first, or used ones would be issued`)
    }
    if (missing.length === 0) throw new ToolError('the database has all of them')
    if (missing.length > reservedMax) {
      throw new ToolError(`${missing.length} indices are more than ${reservedMax}`)
    }
    for (let i = 0; i < missing.length; i += rowsMax) {
      const done = await queryDatabase(env, reserveSql(key.value, missing.slice(i, i + rowsMax)))
      orStop(done, `; ${i} addresses are reserved: the same command goes on`)
    }
    const next = Math.max(to, last ?? 0) + 1
    return `${missing.length} addresses are reserved, up to index ${to}: the next one is that of ${next}.`
  }
}

function readIndex(options: Options, name: 'from' | 'to'): number {
  const index = Number(readOption(options, name, /^\d{1,10}$/, 'an index'))
  if (index > indexMax) throw new ToolError(`--${name}: an index`)
  return index
}

/** The indices to store, in the only order that the database takes: each one beside those that are stored. */
function missingIndices({ from, to }: ReservedRange, first: number, last: number | null): readonly number[] {
  if (last === null) {
    if (from === null) throw new ToolError('the database has no address: name the first index, too (--from)')
    // The highest one first: the service issues the one above it, also where this ends before its end.
    return Array.from({ length: to - from + 1 }, (_, i) => to - i)
  }
  if (from === null && to <= last) throw new ToolError(`index ${to} is stored already; the newest is ${last}`)
  if (from !== null && (from > last + 1 || to < first - 1)) {
    throw new ToolError(`stored are ${first} to ${last}: leave no gap`)
  }
  const below = Array.from({ length: Math.max(0, first - (from ?? first)) }, (_, i) => first - 1 - i)
  const above = Array.from({ length: Math.max(0, to - last) }, (_, i) => last + 1 + i)
  return [...below, ...above]
}

/** What was final before is not theirs, as with any new address. */
function reserveSql(key: ExtendedPublicKey, indices: readonly number[]): string {
  const rows = indices.map((index) => {
    const height = 'coalesce((SELECT finalized FROM scan), 0)'
    return `(${index + 1}, ${index}, ${reservedUid}, '${deriveAddress(key, index)}', ${height}, ${databaseNow})`
  })
  return `INSERT INTO address (id, derivation_index, uid, address, issued_height, created_at) VALUES ${rows.join(', ')}`
}
