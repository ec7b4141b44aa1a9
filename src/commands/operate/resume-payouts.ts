import { stopRules } from '../../worker/payouts/leaving.ts'
import { databaseNow, queryDatabase, quoted } from '../database.ts'
import { orRefuse, ToolError } from '../tool-error.ts'
import { type Options, readOption, type Work } from './options.ts'
import { readReason } from './repair.ts'

/**
 * `payouts resume`: excuses a transaction that stops payouts, because no payout names it or because
 * it succeeded after its payout had moved on. The reason is stored with the transaction. Prints
 * what still stops payouts. A trigger refuses every other transaction.
 */
export function resumePayouts(options: Options): Work {
  const reason = readReason(options)
  const txid = readOption(options, 'txid', /^[0-9a-f]{64}$/, 'a txid, 64 lower-case hex digits')
  const sql =
    `UPDATE payout_transaction SET version = version + 1, excused = ${quoted(reason)}, changed_at = ${databaseNow} ` +
    `WHERE txid = ${quoted(txid)} AND ended IN ('unknown', 'late') AND excused IS NULL RETURNING ended`
  const left =
    "SELECT txid FROM payout_transaction WHERE ended IN ('unknown', 'late') AND excused IS NULL ORDER BY id LIMIT 20"
  const scan = 'SELECT halted, restored_at FROM scan'
  return async ({ place }) => {
    const [[done] = [], others = [], [state] = []] = orRefuse(await queryDatabase(place, sql, left, scan))
    const more = others.map((row) => `  ${row.txid}`)
    if (done === undefined) {
      const next = more.length === 0 ? 'nothing: no transaction stops them' : `name one that does:\n${more.join('\n')}`
      throw new ToolError('this transaction does not stop payouts', next)
    }
    if (more.length > 0) return ['Payouts are still stopped, by:', ...more].join('\n')
    const stops = [
      ...(state?.halted == null ? [] : [stopRules.forked.why]),
      ...(state?.restored_at == null ? [] : [stopRules.restored.why]),
    ]
    return stops.length === 0
      ? 'No other transaction stops payouts: they are offered to the signer again.'
      : ['No other transaction stops payouts, but they are still stopped:', ...stops.map((why) => `  ${why}`)].join(
          '\n',
        )
  }
}
