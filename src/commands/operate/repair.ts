import { isReadable } from '../../worker/common/remark.ts'
import { reasonMax } from '../../worker/d1/state-tables.ts'
import { type DatabaseRow, databaseNow, queryDatabase, quoted, readDatabase, timeOf } from '../database.ts'
import { OptionError, orRefuse, ToolError } from '../tool-error.ts'
import { environmentOption, type Options, readOption, type Work } from './options.ts'

// Each repair is one statement. Triggers of the database apply it, or refuse it. The stored time is
// that of the database's clock.

/** Most credited deposits that are printed. */
const creditedMax = 100
/** Printable characters: the reason is shown in terminals. */
const reasonForm = /^[^\p{C}]+$/u
const gapSql =
  'SELECT next_height AS from_height, to_height, why, attempts, next_try, created_at FROM rescan ' +
  "WHERE finished_at IS NULL AND (kind = 'gap' OR attempts > 0) ORDER BY next_height"

/** `rescan`: has a range of blocks read again, both ends included. */
export function rescan(options: Options): Work {
  const reason = readReason(options)
  const [from, to] = [readBlock(options, 'from'), readBlock(options, 'to')]
  if (from > to) throw new OptionError('--from must not be above --to')
  return async ({ place }) => {
    orRefuse(await queryDatabase(place, rescanSql(from, to, reason)))
    return `The next ticks read the blocks ${from} to ${to} again.`
  }
}

/**
 * The statement that has these blocks read again, both ends included. A trigger refuses blocks that
 * the scan has not reached.
 */
export function rescanSql(from: number, to: number, reason: string): string {
  return (
    'INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try) ' +
    `VALUES ('request', ${from}, ${to}, ${from}, ${quoted(reason)}, ${databaseNow}, 0)`
  )
}

/**
 * `correct`: lowers the finalized height, from which the scan then continues. Prints the credited
 * deposits above this height, which stay credited.
 */
export function correct(options: Options): Work {
  const reason = readReason(options)
  const height = readBlock(options, 'finalized')
  const creditedSql =
    "SELECT height, txid, position, uid, cuy FROM transfer WHERE state = 'credited' AND sought = 1 " +
    `AND height > ${height} ORDER BY height, txid, position LIMIT ${creditedMax + 1}`
  return async ({ place }) => {
    const [, credited = [], gaps = []] = orRefuse(
      await queryDatabase(place, correctionSql(height, reason), creditedSql, gapSql),
    )
    const text = `The finalized height is ${height} now. The scan goes on from there with the next tick.`
    return [text, ...describeCredited(credited), ...describeGaps(gaps)].join('\n')
  }
}

/**
 * The statement that lowers the finalized height. A trigger refuses a height that is not below the
 * stored one.
 */
export function correctionSql(height: number, reason: string): string {
  const values = `${height}, ${quoted(reason)}, ${databaseNow}`
  return `INSERT INTO correction (finalized, reason, created_at) VALUES (${values})`
}

/**
 * `gap list`: prints the open gaps. A gap is a range of blocks that the scan could not read and has
 * passed over.
 */
export const listGaps =
  (): Work =>
  async ({ place }) => {
    const [gaps = []] = orRefuse(await readDatabase(place, gapSql))
    return describeGaps(gaps).join('\n')
  }

/** `gap close`: the scan gives up reading the gap (unread blocks) that begins at a block. */
export function closeGap(options: Options): Work {
  const reason = readReason(options)
  const from = readBlock(options, 'from')
  const sql =
    `UPDATE rescan SET closed = ${quoted(reason)}, finished_at = ${databaseNow} ` +
    `WHERE finished_at IS NULL AND (kind = 'gap' OR attempts > 0) AND next_height = ${from} RETURNING to_height`
  return async ({ place }) => {
    const [[gap] = []] = orRefuse(await queryDatabase(place, sql))
    if (gap === undefined) {
      const next = `"npm run operate -- gap list${environmentOption(place)}" shows the open gaps, each with its first block`
      throw new ToolError(`no open gap begins at block ${from}`, next)
    }
    return `The gap from block ${from} to ${gap.to_height} is closed. ?txid= still works for what is in it.`
  }
}

/**
 * Reads `--reason`, which is stored with the change. Throws an `OptionError` unless it is 1 to
 * `reasonMax` printable characters.
 */
export function readReason({ reason = '' }: Options): string {
  if (!isReadable(reason)) throw new OptionError('--reason is required: it is stored with the repair')
  if (reasonForm.test(reason) && [...reason].length <= reasonMax) return reason
  throw new OptionError(`--reason: at most ${reasonMax} printable characters`)
}

function readBlock(options: Options, name: 'from' | 'to' | 'finalized'): number {
  if (options[name] === undefined) throw new OptionError(`--${name} is required`)
  return Number(readOption(options, name, /^\d{1,15}$/, 'a block number'))
}

function describeCredited(rows: readonly DatabaseRow[]): readonly string[] {
  if (rows.length === 0) return ['No deposit above it is credited.']
  const advice = 'They stay: compare them with the chain, and post an adjustment for each that is not there:'
  const lines = rows.slice(0, creditedMax).map(({ height, txid, position, uid, cuy }) => {
    return `  block ${height}  ${txid}  position ${position}  currency ${cuy}  user ${uid}`
  })
  return [`Credited above it. ${advice}`, ...lines, ...(rows.length > creditedMax ? ['  and more'] : [])]
}

function describeGaps(rows: readonly DatabaseRow[]): readonly string[] {
  if (rows.length === 0) return ['No gap is open.']
  return rows.map(({ from_height: from, to_height: to, why, attempts, created_at: since, next_try: next }) => {
    const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`
    return `Open gap: ${blocks} since ${timeOf(since)}, tries: ${attempts}, next one ${timeOf(next)}: ${why}`
  })
}
