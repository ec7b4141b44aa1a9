import { err, ok, type Result } from '../../common/result.ts'
import { reasonMax } from '../../d1/state-tables.ts'
import { type DatabaseRow, databaseNow, queryDatabase, quoted, readDatabase, timeOf } from '../database.ts'

/** A repair that an operator can request, with the reason that is stored. Heights are block numbers. */
export type Repair =
  /** The blocks `from` to `to` are read again; both ends are included. */
  | { readonly kind: 'rescan'; readonly from: number; readonly to: number; readonly reason: string }
  /** The finalized height is lowered to `height`; the scan goes on from there. */
  | { readonly kind: 'correction'; readonly height: number; readonly reason: string }
  /** The gap that begins at `from` is read no more. */
  | { readonly kind: 'close'; readonly from: number; readonly reason: string }

/** Values of the command's options, as typed. */
export type RepairOptions = Readonly<Partial<Record<'from' | 'to' | 'finalized' | 'reason', string | undefined>>>

/** Credited deposits that are printed. */
const creditedMax = 100
/** Printable characters: the reason is shown in terminals. */
const reasonForm = /^[^\p{C}]+$/u
const gapSql =
  'SELECT next_height AS from_height, to_height, reason, attempts, next_try, created_at FROM rescan ' +
  "WHERE kind = 'gap' AND finished_at IS NULL ORDER BY next_height"

/** The repair of this kind that the options ask for, or one sentence: what is wrong with them. */
export function parseRepair(kind: Repair['kind'], { reason, ...options }: RepairOptions): Result<Repair, string> {
  if (reason === undefined || reason.trim() === '') return err('--reason is required: it is stored with the repair')
  if (!reasonForm.test(reason) || [...reason].length > reasonMax) {
    return err(`--reason: at most ${reasonMax} printable characters`)
  }
  const needed = { rescan: ['from', 'to'], correction: ['finalized'], close: ['from'] } as const
  for (const name of needed[kind]) if (options[name] === undefined) return err(`--${name} is required`)
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !/^\d{1,15}$/.test(value)) return err(`--${name}: a block number`)
  }
  const [from, to, height] = [Number(options.from), Number(options.to), Number(options.finalized)]
  if (kind === 'correction') return ok({ kind, height, reason })
  if (kind === 'close') return ok({ kind, from, reason })
  return from > to ? err('--from must not be above --to') : ok({ kind, from, to, reason })
}

/**
 * The statement that stores the repair. Triggers of the database apply it, and refuse one that is not possible. The time is the
 * database's own.
 */
export function repairSql(repair: Repair): string {
  const reason = quoted(repair.reason)
  switch (repair.kind) {
    case 'correction':
      return `INSERT INTO correction (finalized, reason, created_at) VALUES (${repair.height}, ${reason}, ${databaseNow})`
    case 'rescan':
      return (
        'INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try) ' +
        `VALUES ('request', ${repair.from}, ${repair.to}, ${repair.from}, ${reason}, ${databaseNow}, 0)`
      )
    case 'close':
      return (
        `UPDATE rescan SET closed = ${reason}, finished_at = ${databaseNow} ` +
        `WHERE kind = 'gap' AND finished_at IS NULL AND next_height = ${repair.from} RETURNING to_height`
      )
  }
}

/** Stores a repair, and returns what to print: for a correction also what it cannot take back. */
export async function applyRepair(repair: Repair, env: string | undefined): Promise<Result<string, string>> {
  const creditedSql =
    "SELECT height, txid, position, uid, cuy FROM transfer WHERE state = 'credited' " +
    `AND height > ${repair.kind === 'correction' ? repair.height : 0} ORDER BY height, txid, position LIMIT ${creditedMax + 1}`
  const shown = repair.kind === 'correction' ? [creditedSql, gapSql] : []
  const done = await queryDatabase(env, repairSql(repair), ...shown)
  if (!done.ok) return done
  const [[gap] = [], credited = [], gaps = []] = done.value
  switch (repair.kind) {
    case 'correction': {
      const text = `The finalized height is ${repair.height} now. The scan goes on from there with the next tick.`
      return ok([text, ...describeCredited(credited), ...describeGaps(gaps)].join('\n'))
    }
    case 'rescan':
      return ok(`The next ticks read the blocks ${repair.from} to ${repair.to} again.`)
    case 'close':
      if (gap === undefined) return err(`no open gap begins at block ${repair.from}: "gap list" shows them`)
      return ok(
        `The gap from block ${repair.from} to ${gap.to_height} is closed. ?txid= still works for what is in it.`,
      )
  }
}

/** The open gaps, in lines. */
export async function listGaps(env: string | undefined): Promise<Result<string, string>> {
  const gaps = await readDatabase(env, gapSql)
  return gaps.ok ? ok(describeGaps(gaps.value[0] ?? []).join('\n')) : gaps
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
  return rows.map(({ from_height: from, to_height: to, reason, attempts, created_at: since, next_try: next }) => {
    const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`
    return `Open gap: ${blocks} since ${timeOf(since)}, tries: ${attempts}, next one ${timeOf(next)}: ${reason}`
  })
}
