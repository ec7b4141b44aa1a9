import { err, ok, type Result } from '../../common/result.ts'
import { type DatabaseRow, queryDatabase, timeOf } from '../deploy/database.ts'
import { type Repair, repairSql } from './repair-sql.ts'

/** Credited deposits that are printed. */
const creditedMax = 100

const gapSql =
  'SELECT from_height, to_height, reason, attempts, next_try, created_at FROM rescan ' +
  "WHERE kind = 'gap' AND finished_at IS NULL ORDER BY from_height"

/** Stores a repair, and returns what to print: for a correction also what it cannot take back. */
export async function applyRepair(repair: Repair, env: string | undefined): Promise<Result<string, string>> {
  const sql = repairSql(repair)
  if (repair.kind === 'correction') {
    const creditedSql =
      "SELECT height, txid, position, uid, cuy FROM transfer WHERE state = 'credited' " +
      `AND height > ${repair.height} ORDER BY height, txid, position LIMIT ${creditedMax + 1}`
    const done = await queryDatabase(env, sql, creditedSql, gapSql)
    if (!done.ok) return done
    const [, credited = [], gaps = []] = done.value
    const text = `The finalized height is ${repair.height} now. The scan goes on from there with the next tick.`
    return ok([text, ...describeCredited(credited), ...describeGaps(gaps)].join('\n'))
  }
  const done = await queryDatabase(env, sql)
  if (!done.ok) return done
  if (repair.kind === 'rescan') return ok(`The next ticks read the blocks ${repair.from} to ${repair.to} again.`)
  const [[gap] = []] = done.value
  if (gap === undefined) return err(`no open gap begins at block ${repair.from}: "gap list" shows them`)
  return ok(`The gap from block ${repair.from} to ${gap.to_height} is closed. ?txid= still works for what is in it.`)
}

/** The open gaps, in lines. */
export async function listGaps(env: string | undefined): Promise<Result<string, string>> {
  const gaps = await queryDatabase(env, gapSql)
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
