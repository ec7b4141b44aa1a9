import { deriveAddress, type ExtendedPublicKey, indexMax, parseExtendedPublicKey } from '../../addresses/derive.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { indexCurrencies } from '../../ledger/currencies.ts'
import { findDifferences, settingsOf } from '../../ledger/stored-settings.ts'
import { databaseNow, queryDatabase } from '../deploy/database.ts'
import { readConfiguration } from '../doctor/read-configuration.ts'
import { readStored } from '../doctor/read-stored.ts'

/** The caller who has the reserved addresses. No user may have this number. */
const reservedUid = Number.MAX_SAFE_INTEGER
/** Most indices of one call: more are probably a mistake. */
const reservedMax = 100_000
/** Addresses of one statement: 100 bytes each, and a statement can have 100 kB. */
const rowsMax = 500

/** The index that is typed, or one sentence: what is wrong with it. */
export function parseReservedIndex(to = ''): Result<number, string> {
  return /^\d{1,10}$/.test(to) && Number(to) <= indexMax ? ok(Number(to)) : err('--to: an index')
}

/**
 * Stores every address up to index `to` that the database does not have, for no caller: after a restore the service must not issue
 * again what was issued after the copy. The key must be the one of the stored addresses.
 */
export async function reserve(to: number, env: string | undefined): Promise<Result<string, string>> {
  const source = readConfiguration(env, process.env)
  if (!source.ok) return source
  const key = parseExtendedPublicKey(String(source.value.values.TRON_XPUB ?? ''))
  if (!key.ok) return err(`TRON_XPUB: ${key.error}`)
  const stored = await readStored(env)
  if (!stored.ok) return stored
  const { lastIndex, settings } = stored.value
  if (lastIndex === null) return err('the database has no address: set TRON_FIRST_INDEX instead')
  const own = settingsOf('', deriveAddress(key.value, 0), indexCurrencies([]))
  const [other] = findDifferences(
    own,
    settings.filter(({ name }) => name === 'TRON_XPUB'),
  )
  if (other !== undefined)
    return err(`TRON_XPUB is another key (${other.configured}) than the stored one (${other.stored})`)
  if (to <= lastIndex) return err(`index ${to} is stored already; the newest is ${lastIndex}`)
  if (to - lastIndex > reservedMax) return err(`more than ${reservedMax} indices; the newest is ${lastIndex}`)
  for (let from = lastIndex + 1; from <= to; from += rowsMax) {
    const last = Math.min(to, from + rowsMax - 1)
    const done = await queryDatabase(env, reserveSql(key.value, from, last))
    if (!done.ok) return err(`${done.error}; the addresses before index ${from} are reserved`)
  }
  return ok(`The indices ${lastIndex + 1} to ${to} are reserved: the next address is that of ${to + 1}.`)
}

/** What was final before is not theirs, as with any new address. */
function reserveSql(key: ExtendedPublicKey, from: number, to: number): string {
  const rows = Array.from({ length: to - from + 1 }, (_, i) => {
    const address = deriveAddress(key, from + i)
    return `(${from + i}, ${reservedUid}, '${address}', coalesce((SELECT finalized FROM scan), 0), ${databaseNow})`
  })
  return `INSERT INTO address (derivation_index, uid, address, issued_height, created_at) VALUES ${rows.join(', ')}`
}
