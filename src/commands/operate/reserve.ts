import {
  deriveAddress,
  type ExtendedPublicKey,
  indexMax,
  parseExtendedPublicKey,
} from '../../worker/addresses/derive.ts'
import { formatPosition } from '../../worker/chain/block.ts'
import { reservedUid } from '../../worker/common/ids.ts'
import { keySetting } from '../../worker/ledger/stored-settings.ts'
import { type DatabaseRow, databaseNow, queryDatabase, readDatabase } from '../database.ts'
import type { Place } from '../place.ts'
import { OptionError, orRefuse, ToolError } from '../tool-error.ts'
import { environmentOption, type Options, readOption, type Work } from './options.ts'

/** Most indices in one call; more are probably a mistake. */
const reservedMax = 100_000
/** Addresses in one statement: each takes 100 bytes, and a statement can have 100 kB. */
const rowsMax = 500

/** Most deposits that the advice after a restore lists (`adviseOpen`). */
const openMax = 100

/** If `from` is null, the range begins above the newest stored index. */
interface ReservedRange {
  readonly from: number | null
  readonly to: number
}

/** What the database contains before addresses are reserved. */
interface StoredRange {
  /** The lowest index; 0 if no address is stored. */
  readonly first: number
  /** The highest index, or null if no address is stored. */
  readonly last: number | null
  /**
   * The finalized height at which the newest address was issued, or null if no address is stored.
   */
  readonly height: number | null
  /** The number of the newest event; 0 if there is none. */
  readonly event: number
  /**
   * The oldest deposits that wait for a person's decision, at most `openMax`; `openCount` is the
   * number of all of them.
   */
  readonly open: readonly DatabaseRow[]
  readonly openCount: number
}

/**
 * `reserve`: stores every address of a range that the database lacks, as an address of no user.
 * After a restore, addresses that were issued after the copy was made must not be issued again.
 * Payments to addresses below `TRON_FIRST_INDEX`, which the service never issues, are recorded only
 * if these addresses are reserved. `TRON_XPUB` must be the key from which the stored addresses are
 * derived. Prints which blocks must be read again, because they were read without these addresses.
 */
export function reserve(options: Options): Work {
  const to = readIndex(options, 'to')
  const range = { from: options.from === undefined ? null : readIndex(options, 'from'), to }
  if (range.from !== null && range.from > to) throw new OptionError('--from must not be above --to')
  return async ({ place, values, varsFile }) => {
    const key = parseExtendedPublicKey(String(values.TRON_XPUB ?? ''))
    if (!key.ok)
      throw new ToolError(
        `TRON_XPUB: ${key.error}`,
        `put the key of this database into ${varsFile}, or into the environment`,
      )
    const stored = await readStoredRange(place, key.value)
    const { first, last, height } = stored
    const missing = missingIndices(range, first, last)
    const firstIndex = Number(values.TRON_FIRST_INDEX)
    if (last === null && to + 1 < firstIndex) {
      const why = `TRON_FIRST_INDEX is ${firstIndex}: used indices above ${to} would be issued`
      throw new ToolError(why, `reserve from above: --to ${firstIndex - 1} comes first`)
    }
    if (missing.length === 0) {
      throw new ToolError(
        'the database has all of them',
        `nothing has to be reserved there; the newest index is ${last}`,
      )
    }
    if (missing.length > reservedMax) {
      const first = last === null ? 'the highest ones' : 'those beside the stored ones'
      const next = `reserve them in calls of at most ${reservedMax}, ${first} first`
      throw new ToolError(`${missing.length} indices are more than ${reservedMax}`, next)
    }
    let finalized = 0
    for (let i = 0; i < missing.length; i += rowsMax) {
      const sql = reserveSql(key.value, missing.slice(i, i + rowsMax), height)
      const done = await queryDatabase(place, sql, 'SELECT finalized FROM scan')
      if (!done.ok) {
        const { why, next } = done.error
        throw new ToolError(`${why}; ${i} addresses are reserved`, `${next}; then the same command goes on`)
      }
      const [, [scan] = []] = done.value
      finalized = Number(scan?.finalized ?? 0)
    }
    const next = Math.max(to, last ?? 0) + 1
    const text = `${missing.length} addresses are reserved, up to index ${to}: the next one is that of ${next}.`
    return [text, ...adviseRescan(place, height ?? finalized, finalized), ...adviseOpen(stored)].join('\n')
  }
}

/**
 * Reads the stored addresses. Throws a `ToolError` if the database has stored another key than
 * `key`, or no key yet.
 */
async function readStoredRange(place: Place, key: ExtendedPublicKey): Promise<StoredRange> {
  const stored = await readDatabase(
    place,
    `SELECT value FROM stored_setting WHERE name = 'TRON_XPUB'`,
    `SELECT min(derivation_index) AS first, max(derivation_index) AS last, (${newestHeight}) AS height,
      coalesce((SELECT id FROM last_event), 0) AS event, (SELECT count(*) ${openDeposits}) AS open FROM address`,
    `SELECT txid, position ${openDeposits} ORDER BY id LIMIT ${openMax}`,
  )
  const [[setting] = [], [row] = [], open = []] = orRefuse(stored)
  if (setting === undefined) {
    const next = 'start the service with it once (or deploy it), so that it stores its key'
    throw new ToolError('the database has no key yet: the service has not run with it', next)
  }
  const configured = keySetting(deriveAddress(key, 0)).value
  if (configured !== setting.value) {
    throw new ToolError(
      `TRON_XPUB is another key (${configured}) than the stored one (${setting.value})`,
      'set TRON_XPUB to the key of this database, or name the right database in wrangler.toml',
    )
  }
  const numberOrNull = (value: unknown) => (typeof value === 'number' ? value : null)
  const [last, height] = [numberOrNull(row?.last), numberOrNull(row?.height)]
  return { first: Number(row?.first ?? 0), last, height, event: Number(row?.event), open, openCount: Number(row?.open) }
}

/**
 * Advice for a restored copy. The copy lacks what happened after it was made: decisions about held
 * deposits, and questions of users about TRX that a contract had sent them. Such TRX is credited
 * only after its user has asked. Only the events that a webhook endpoint has kept still tell of
 * these decisions and credits.
 */
function adviseOpen({ event, open, openCount }: StoredRange): readonly string[] {
  if (event === 0) return []
  const keys = open.map(({ txid, position }) => `  ${txid} ${formatPosition(Number(position))}`)
  const more = openCount > open.length ? [`  and ${openCount - open.length} more`] : []
  return [
    `${openCount} deposits wait for a decision${openCount === 0 ? '.' : ', also those that were decided after the copy:'}`,
    ...keys,
    ...more,
    `The newest event of this database is ${event}. If it is a restored copy, look at the later ones that your endpoint has kept:`,
    '  deposit.credited or deposit.refused with a key from this list: decide it in the same way again',
    '  deposit.credited with a position i<number>: ask for its txid again (/tron/recharge?txid=, as its user)',
  ]
}

/**
 * Advice to read the blocks above `height` again, up to `finalized`: the scan has read them without
 * the reserved addresses. `finalized` may be above the last block that the scan has read, but a
 * tick that is running may have looked up addresses before these were reserved.
 */
export function adviseRescan(place: Place, height: number, finalized: number): readonly string[] {
  if (finalized <= height) return []
  const option = environmentOption(place)
  const range = `--from ${height + 1} --to ${finalized}`
  return [
    'Payments to them in blocks that were read before are not recorded yet. Have those blocks read again:',
    `  npm run operate -- rescan ${range} --reason "restored"${option}`,
    `It is refused until the scan has reached block ${finalized}: repeat it then.`,
  ]
}

function readIndex(options: Options, name: 'from' | 'to'): number {
  const index = Number(readOption(options, name, /^\d{1,10}$/, 'an index'))
  if (index > indexMax) throw new OptionError(`--${name}: an index`)
  return index
}

/**
 * The indices to store, in the only order that the database accepts: each of them next to an index
 * that is stored already.
 */
function missingIndices({ from, to }: ReservedRange, first: number, last: number | null): readonly number[] {
  if (last === null) {
    if (from === null) throw new ToolError('the database has no address', 'name the first index, too (--from)')
    // The highest index first: then the service issues addresses only above it, even if this
    // command ends too early.
    return Array.from({ length: to - from + 1 }, (_, i) => to - i)
  }
  if (from === null && to <= last) {
    throw new ToolError(`index ${to} is stored already; the newest is ${last}`, 'name an index above it, or none')
  }
  if (from !== null && (from > last + 1 || to < first - 1)) {
    throw new ToolError(
      `stored are ${first} to ${last}`,
      'name indices that follow these or come before them, without a gap',
    )
  }
  const below = Array.from({ length: Math.max(0, first - (from ?? first)) }, (_, i) => first - 1 - i)
  const above = Array.from({ length: Math.max(0, to - last) }, (_, i) => last + 1 + i)
  return [...below, ...above]
}

const openDeposits = "FROM transfer WHERE state = 'held' AND review = 'open'"

/**
 * The finalized height when the newest stored address was issued. An address that was issued later
 * had received nothing in the blocks up to that height.
 */
const newestHeight = 'SELECT issued_height FROM address ORDER BY derivation_index DESC LIMIT 1'

/**
 * The statement that stores these addresses. They were issued after the newest stored address, at a
 * time that the database does not know, so they get the height of that address, `height`. If
 * `height` is null, no address is stored, and they get the present finalized height.
 */
function reserveSql(key: ExtendedPublicKey, indices: readonly number[], height: number | null): string {
  const issuedHeight = height ?? 'coalesce((SELECT finalized FROM scan), 0)'
  const rows = indices.map((index) => {
    return `(${index + 1}, ${reservedUid}, unhex('${deriveAddress(key, index)}'), ${issuedHeight}, ${databaseNow})`
  })
  return `INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES ${rows.join(', ')}`
}
