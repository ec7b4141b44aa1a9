import { formatUnits } from '../../worker/common/amount.ts'
import { type DatabaseRow, databaseNow, queryDatabase, quoted, readDatabase, timeOf } from '../database.ts'
import { orRefuse, ToolError } from '../tool-error.ts'
import { environmentOption, type Options, readOption, type Work } from './options.ts'
import { readReason } from './repair.ts'

// Only the newest fee of a token counts, so each later fee needs a confirmation of its own.

const newest = `SELECT *, row_number() OVER (PARTITION BY cuy
  ORDER BY height DESC, place DESC, position DESC) AS newness
  FROM issuer_act WHERE kind = 'fee-set'`
const listSql = `SELECT cuy, txid, basis_points, raw, confirmed_at, confirmation FROM (${newest})
  WHERE newness = 1 AND (basis_points <> '0' OR raw <> '0') ORDER BY cuy`

/** `fee list`: prints the fees that issuers take. */
export const listFees =
  (): Work =>
  async ({ place }) => {
    const [fees = []] = orRefuse(await readDatabase(place, listSql))
    return fees.length === 0 ? 'No issuer takes a fee.' : fees.map(describeFee).join('\n')
  }

/**
 * `fee confirm`: confirms the fee that a transaction has set, so that payouts no longer wait
 * because of it.
 */
export function confirmFee(options: Options): Work {
  const reason = readReason(options)
  const txid = readOption(
    options,
    'txid',
    /^(?:0x)?[0-9a-f]{64}$/i,
    'the transaction that has set the fee, 64 hex digits',
  )
    .toLowerCase()
    .replace(/^0x/, '')
  const sql = confirmFeeSql(txid, reason)
  return async ({ place }) => {
    const [[fee] = []] = orRefuse(await queryDatabase(place, sql))
    if (fee === undefined) {
      const next = `"npm run operate -- fee list${environmentOption(place)}" shows the fees, each with its transaction`
      throw new ToolError('no fee that waits was set by this transaction', next)
    }
    return describeFee(fee)
  }
}

/** The statement that confirms the newest fee of a token, if this transaction has set it. */
export function confirmFeeSql(txid: string, reason: string): string {
  return (
    `UPDATE issuer_act SET confirmed_at = ${databaseNow}, confirmation = ${quoted(reason)} ` +
    `WHERE confirmed_at IS NULL AND (txid, position) IN (SELECT txid, position FROM (${newest}) WHERE newness = 1 AND txid = ${quoted(txid)}) ` +
    'RETURNING cuy, txid, basis_points, raw, confirmed_at, confirmation'
  )
}

function describeFee({ cuy, txid, basis_points, raw, confirmed_at, confirmation }: DatabaseRow): string {
  const percent = formatUnits(BigInt(basis_points ?? 0), 2)
  const state = confirmed_at === null ? 'not confirmed' : `confirmed ${timeOf(confirmed_at)}: ${confirmation}`
  return `Currency ${cuy}: ${percent} % of each transfer, at most ${raw} of its smallest units, set by ${txid}, ${state}`
}
