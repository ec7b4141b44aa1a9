import { sql } from 'drizzle-orm'
import type { SendingReply } from '../../chain/chain.ts'
import type { CurrencyId, PayoutId, PayoutTransactionId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { columnName, fixedStatement, isRefusedBy, type ReadDatabase, type WriteDatabase } from '../../d1/database.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { scans } from '../../d1/state-tables.ts'
import { type NodeAnswer, noteAnswer, readAnswers, takenCodes } from '../answers.ts'
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
  /** Transactions that are being sent now. */
  readonly underway: readonly PayoutTransactionId[]
  /** A transaction that expires within this time is not sent. */
  readonly marginMs: number
  readonly max: number
}

/**
 * Claims due transactions: new ones first, then those that were sent once, then those that have waited longest. A claimed transaction counts as sent, even if the call dies before it sends
 * the transaction. It is due again after a pause, which depends on the number of its broadcasts.
 */
export async function claimDue(
  db: WriteDatabase,
  { now, stopped, underway, marginMs, max }: DueQuery,
  pausesMs: readonly number[],
): Promise<readonly DueTransaction[]> {
  const values = {
    now,
    stopped: JSON.stringify(stopped),
    underway: JSON.stringify(underway),
    latest: now + marginMs,
    max,
  }
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

/** A claimed transaction that was sent, with the reply of the node that got it. */
export interface Answered extends DueTransaction {
  readonly reply: SendingReply
  readonly at: UnixMs
}

/** Stores the answers of nodes to broadcasts: for people, and so that the next broadcast goes to another node. No payout changes its state by them. */
export async function storeAnswers(db: WriteDatabase, sent: readonly Answered[]): Promise<void> {
  const rows = sent.map(({ id, answers, reply, at }) => {
    return { id, answers: JSON.stringify(noteAnswer(answers, reply, at)) }
  })
  if (rows.length > 0) await updateAnswers(db, { rows: JSON.stringify(rows) }).run()
}

/** An open transaction that no node seems to have taken, with the answers of the nodes that have answered. */
export interface Untaken {
  readonly payout: PayoutId
  readonly answers: readonly NodeAnswer[]
}

export interface UntakenQuery {
  /** A transaction that was sent after this time is not looked at. */
  readonly sentBefore: UnixMs
  /** A transaction is in a block this many milliseconds after it was sent, if a node has passed it on. */
  readonly minedMs: number
  readonly max: number
}

/**
 * Reads the open transactions that no node says to have taken, or that a node says to have taken and no final block contains. At most `max`, the oldest first.
 */
export async function selectUntaken(db: ReadDatabase, query: UntakenQuery): Promise<readonly Untaken[]> {
  const values = { ...query, taken: JSON.stringify(takenCodes) }
  const { results } = await selectUntakenRows(db, values).all<{ payout: PayoutId; answers: string | null }>()
  return results.map(({ payout, answers }) => ({ payout, answers: readAnswers(answers) }))
}

const t = payoutTransactions
const open = sql`${t} INDEXED BY payout_transaction_open`
const [now, pauses] = [sql.placeholder('now'), sql.placeholder('pauses')]

/**
 * Excludes payouts that another transaction has paid: sending again would pay twice. A `next_send` further ahead than any pause comes from a clock that has
 * stepped back, so it counts as due.
 */
const claim = fixedStatement<'now' | 'stopped' | 'underway' | 'latest' | 'max' | 'pauses' | 'longest' | 'horizon'>(sql`
UPDATE ${t} SET ${columnName(t.sends)} = ${t.sends} + 1, ${columnName(t.sent_at)} = coalesce(${t.sent_at}, ${now}),
  ${columnName(t.next_send)} = ${now} + coalesce(${pauses} ->> ('$[' || ${t.sends} || ']'), ${sql.placeholder('longest')})
WHERE ${t.id} IN (
  SELECT due.id FROM ${t} AS due INDEXED BY payout_transaction_open WHERE due.ended IS NULL
    AND due.next_send NOT BETWEEN ${now} + 1 AND ${sql.placeholder('horizon')} AND due.expires_at > ${sql.placeholder('latest')}
    AND due.id NOT IN (SELECT value FROM json_each(${sql.placeholder('underway')}))
    AND NOT EXISTS (SELECT 1 FROM ${payouts} WHERE ${payouts.id} = due.payout_id
      AND ${payouts.cuy} IN (SELECT value FROM json_each(${sql.placeholder('stopped')})))
    AND NOT EXISTS (SELECT 1 FROM ${t} INDEXED BY payout_transaction_payout
      WHERE ${t.payout_id} = due.payout_id AND ${isUnresolved})
  ORDER BY min(due.sends, 2), due.next_send LIMIT ${sql.placeholder('max')})
RETURNING ${columnName(t.id)}, ${columnName(t.bytes)}, ${columnName(t.sends)}, ${columnName(t.answers)}`)

const updateAnswers = fixedStatement<'rows'>(sql`
UPDATE ${t} SET ${columnName(t.answers)} = told.value ->> 'answers'
FROM json_each(${sql.placeholder('rows')}) AS told WHERE ${t.id} = told.value ->> 'id'`)

/** If the scan has read every final block: the time of the newest one. Else null, and nothing is known to be in no block. */
const readTo = sql`(SELECT ${scans.finalized_time} FROM ${scans} WHERE ${scans.height} = ${scans.finalized} AND ${scans.halted} IS NULL)`
const selectUntakenRows = fixedStatement<'sentBefore' | 'minedMs' | 'max' | 'taken'>(sql`
SELECT ${t.payout_id} AS payout, ${t.answers} FROM ${open} WHERE ${t.ended} IS NULL AND ${t.sent_at} <= ${sql.placeholder('sentBefore')}
  AND (NOT EXISTS (SELECT 1 FROM json_each(coalesce(${t.answers}, '[]')) AS said
      WHERE said.value ->> 'answer' IN (SELECT value FROM json_each(${sql.placeholder('taken')})))
    OR (${t.sent_at} + ${sql.placeholder('minedMs')} <= ${readTo}
      AND coalesce(${t.seen_height}, -1) <= (SELECT ${scans.height} FROM ${scans})))
ORDER BY ${t.id} LIMIT ${sql.placeholder('max')}`)
