import { sql } from 'drizzle-orm'
import type { SendingReply } from '../../chain/chain.ts'
import type { CurrencyId, PayoutTransactionId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { columnName, fixedStatement, isRefusedBy, type ReadDatabase, type WriteDatabase } from '../../d1/database.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { type NodeAnswer, noteAnswer, readAnswers } from '../answers.ts'
import { isUnresolved } from './facts.ts'

export interface DueTransaction {
  readonly id: PayoutTransactionId
  readonly bytes: string
  /** How often the transaction was sent before. */
  readonly sends: number
  readonly answers: readonly NodeAnswer[]
}

export interface DueQuery {
  readonly now: UnixMs
  /** Currencies in which nothing is sent now. */
  readonly stopped: readonly CurrencyId[]
  /** A transaction that expires within this time is not sent. */
  readonly marginMs: number
  readonly max: number
}

/**
 * Claims due transactions: new ones first, then those that have waited longest. A claimed transaction counts as sent, even if the call dies before it sends
 * the transaction. It is due again after a pause, which depends on the number of its broadcasts.
 */
export async function claimDue(
  db: WriteDatabase,
  { now, stopped, marginMs, max }: DueQuery,
  pausesMs: readonly number[],
): Promise<readonly DueTransaction[]> {
  const values = { now, stopped: JSON.stringify(stopped), latest: now + marginMs, max }
  const pauses = { pauses: JSON.stringify(pausesMs), longest: pausesMs.at(-1) ?? 0 }
  const claimed = claim(db, { ...values, ...pauses, horizon: now + Math.max(...pausesMs) }).all<ClaimedRow>()
  const { results } = await claimed.catch((cause: unknown) => {
    // Something that stops sending has become known since the caller looked: a later call sends what may be sent then.
    if (isRefusedBy('payout_transaction: it may not be sent now', cause)) return { results: [] }
    throw cause
  })
  return results.map((row) => ({ ...row, sends: row.sends - 1, answers: readAnswers(row.answers) }))
}

type ClaimedRow = Omit<DueTransaction, 'answers'> & { readonly answers: string | null }

/** Stores the answers of nodes to broadcasts, for people to see. The service decides nothing by these answers. */
export async function storeAnswers(
  db: WriteDatabase,
  sent: readonly (DueTransaction & { readonly answer: SendingReply | null })[],
  at: UnixMs,
): Promise<void> {
  const rows = sent.flatMap(({ id, answers, answer }) => {
    return answer === null ? [] : [{ id, answers: JSON.stringify(noteAnswer(answers, answer, at)) }]
  })
  if (rows.length > 0) await updateAnswers(db, { rows: JSON.stringify(rows) }).run()
}

/** Reads the open transactions that were sent at least once, with the answers of nodes: at most `max`, the oldest first. */
export async function selectAnswered(
  db: ReadDatabase,
  max: number,
): Promise<readonly { readonly payout: number; readonly answers: readonly NodeAnswer[] }[]> {
  const { results } = await selectOpenAnswers(db, { max }).all<{ payout: number; answers: string | null }>()
  return results.map(({ payout, answers }) => ({ payout, answers: readAnswers(answers) }))
}

const t = payoutTransactions
const open = sql`${t} INDEXED BY payout_transaction_open`
const [now, pauses] = [sql.placeholder('now'), sql.placeholder('pauses')]

/**
 * Excludes payouts that another transaction has paid: sending again would pay twice. A `next_send` further ahead than any pause comes from a clock that has
 * stepped back, so it counts as due.
 */
const claim = fixedStatement<'now' | 'stopped' | 'latest' | 'max' | 'pauses' | 'longest' | 'horizon'>(sql`
UPDATE ${t} SET ${columnName(t.sends)} = ${t.sends} + 1,
  ${columnName(t.next_send)} = ${now} + coalesce(${pauses} ->> ('$[' || ${t.sends} || ']'), ${sql.placeholder('longest')})
WHERE ${t.id} IN (
  SELECT due.id FROM ${t} AS due INDEXED BY payout_transaction_open WHERE due.ended IS NULL
    AND due.next_send NOT BETWEEN ${now} + 1 AND ${sql.placeholder('horizon')} AND due.expires_at > ${sql.placeholder('latest')}
    AND NOT EXISTS (SELECT 1 FROM ${payouts} WHERE ${payouts.id} = due.payout_id
      AND ${payouts.cuy} IN (SELECT value FROM json_each(${sql.placeholder('stopped')})))
    AND NOT EXISTS (SELECT 1 FROM ${t} INDEXED BY payout_transaction_payout
      WHERE ${t.payout_id} = due.payout_id AND ${isUnresolved})
  ORDER BY due.sends > 0, due.next_send LIMIT ${sql.placeholder('max')})
RETURNING ${columnName(t.id)}, ${columnName(t.bytes)}, ${columnName(t.sends)}, ${columnName(t.answers)}`)

const updateAnswers = fixedStatement<'rows'>(sql`
UPDATE ${t} SET ${columnName(t.answers)} = told.value ->> 'answers'
FROM json_each(${sql.placeholder('rows')}) AS told WHERE ${t.id} = told.value ->> 'id'`)

const selectOpenAnswers = fixedStatement<'max'>(sql`
SELECT ${t.payout_id} AS payout, ${t.answers} FROM ${open} WHERE ${t.ended} IS NULL AND ${t.answers} IS NOT NULL
ORDER BY ${t.id} LIMIT ${sql.placeholder('max')}`)
