import { sql } from 'drizzle-orm'
import type { BlockHeight, Txid } from '../../chain/block.ts'
import type { SendingReply, TransactionCost } from '../../chain/chain.ts'
import type { CurrencyId, PayoutId, PayoutTransactionId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  columnName,
  fixedStatement,
  isRefusedBy,
  member,
  type ReadDatabase,
  resultRows,
  type WriteDatabase,
} from '../../d1/database.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { scans } from '../../d1/state-tables.ts'
import { type NodeAnswer, noteAnswer, readAnswers, takenCodes } from '../answers.ts'
import type { Pair, PayoutRow, TransactionRow } from '../lifecycle.ts'
import { isAwaited } from './facts.ts'
import { isPayoutOvertaken, pairStatements, selectByTxids } from './rows.ts'

// Transactions of payouts after they were handed in: sent, seen in a block, ended, and what a
// failed one has cost.

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
 * Claims due transactions: new ones first, then those that were sent once, then those that have
 * waited longest. A claimed transaction counts as sent, even if the call dies before it sends the
 * transaction. It is due again after a pause, which depends on the number of its broadcasts.
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
    // Something that stops sending has become known since the caller looked: a later call sends
    // what may be sent then.
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

/**
 * Stores the answers of nodes to broadcasts: for people, and so that the next broadcast goes to
 * another node. No payout changes its state by them.
 */
export async function storeAnswers(db: WriteDatabase, sent: readonly Answered[]): Promise<void> {
  const rows = sent.map(({ id, answers, reply, at }) => {
    return { id, answers: JSON.stringify(noteAnswer(answers, reply, at)) }
  })
  if (rows.length > 0) await updateAnswers(db, { rows: JSON.stringify(rows) }).run()
}

/**
 * An open transaction that no node seems to have taken, with the answers of the nodes that have
 * answered.
 */
export interface Untaken {
  readonly payout: PayoutId
  readonly answers: readonly NodeAnswer[]
}

export interface UntakenQuery {
  /** A transaction that was sent after this time is not looked at. */
  readonly sentBefore: UnixMs
  /**
   * A transaction is in a block this many milliseconds after it was sent, if a node has passed it
   * on.
   */
  readonly minedMs: number
  readonly max: number
}

/**
 * Reads the open transactions that no node says to have taken, or that a node says to have taken
 * and no final block contains. At most `max`, the oldest first.
 */
export async function selectUntaken(db: ReadDatabase, query: UntakenQuery): Promise<readonly Untaken[]> {
  const values = { ...query, taken: JSON.stringify(takenCodes) }
  const { results } = await selectUntakenRows(db, values).all<{ payout: PayoutId; answers: string | null }>()
  return results.map(({ payout, answers }) => ({ payout, answers: readAnswers(answers) }))
}

/**
 * Reads the stored transactions with these txids, each with its payout, and the transactions whose
 * expiration is at or before `passedAt` but for which no block past it is stored yet: open ones,
 * and expired ones if a correction has taken that block back.
 */
export async function selectConcerned(
  db: ReadDatabase,
  txids: readonly Txid[],
  passedAt: UnixMs,
): Promise<{ readonly found: ReadonlyMap<Txid, Pair>; readonly passing: readonly TransactionRow[] }> {
  const list = { txids: JSON.stringify(txids) }
  const [transactions, named, passing] = await db.batch([
    selectByTxids(db, list),
    selectPayoutsOf(db, list),
    selectPassing(db, { at: passedAt }),
  ])
  const byId = new Map(resultRows<PayoutRow>(named).map((payout) => [payout.id, payout]))
  const rows = resultRows<TransactionRow>(transactions)
  return {
    found: new Map(rows.map((row) => [row.txid, { transaction: readTransaction(row), payout: payoutOf(row, byId) }])),
    passing: resultRows<TransactionRow>(passing).map(readTransaction),
  }
}

/** SQLite has no booleans, so `succeeded` comes as 0 or 1. */
const readTransaction = (row: TransactionRow): TransactionRow => {
  return { ...row, succeeded: row.succeeded === null ? null : Boolean(row.succeeded) }
}

function payoutOf({ payout_id }: TransactionRow, byId: ReadonlyMap<PayoutRow['id'], PayoutRow>): PayoutRow | null {
  return payout_id === null ? null : (byId.get(payout_id) ?? null)
}

/**
 * Reads at most `max` open transactions that no block can contain any more, with their payouts: in
 * one batch, so that both are of one moment.
 */
export async function selectExpired(
  db: ReadDatabase,
  max: number,
): Promise<readonly { readonly transaction: TransactionRow; readonly payout: PayoutRow }[]> {
  const [over, named] = await db.batch([selectOver(db, { max }), selectPayoutsOfOver(db, { max })])
  const byId = new Map(resultRows<PayoutRow>(named).map((payout) => [payout.id, payout]))
  const rows = resultRows<TransactionRow>(over)
  return rows.flatMap((row) => {
    const payout = payoutOf(row, byId)
    return payout === null ? [] : [{ transaction: readTransaction(row), payout }]
  })
}

/**
 * Stores ends of transactions, with their payouts. If a row has changed since the decision, nothing
 * is stored: a later tick decides again.
 */
export async function storeEnds(db: WriteDatabase, pairs: readonly Pair[]): Promise<void> {
  try {
    await db.batch([...pairStatements(db, [pairs])])
  } catch (cause) {
    if (!isPayoutOvertaken(cause)) throw cause
  }
}

/**
 * The statement that stores at which heights transactions were seen in blocks that are not final
 * yet. A transaction that was not seen before is not sent again until `until`.
 */
export function seenAt(
  db: WriteDatabase,
  seen: readonly { readonly txid: Txid; readonly height: BlockHeight }[],
  until: UnixMs,
): D1PreparedStatement {
  return noteSeen(db, { seen: JSON.stringify(seen), until })
}

/** A failed transaction whose cost is not stored yet. */
export interface Uncosted {
  readonly id: PayoutTransactionId
  readonly txid: Txid
  readonly height: BlockHeight
}

/**
 * Reads the failed transactions without a cost of the newest `among` stuck payouts that have ended
 * after `since`, at most `max`.
 */
export async function selectUncosted(
  db: ReadDatabase,
  since: number,
  among: number,
  max: number,
): Promise<readonly Uncosted[]> {
  const { results } = await uncosted(db, { since, among, max }).all<Uncosted>()
  return results
}

/**
 * Stores what a failed transaction has cost. It does nothing if the transaction is not failed any
 * more.
 */
export async function storeCost(
  db: WriteDatabase,
  { id: transaction }: Uncosted,
  cost: TransactionCost,
): Promise<void> {
  await updateCost(db, { transaction, burnt: cost.burnt, energy: cost.energy }).run()
}

const t = payoutTransactions
const open = sql`${t} INDEXED BY payout_transaction_open`
const [now, pauses] = [sql.placeholder('now'), sql.placeholder('pauses')]

/**
 * SQL that is true if an earlier transaction of the payout of `due` may be in a block after all: a
 * correction has taken back blocks that have ended it, and these are not read again yet.
 */
const isEarlierUnread = sql`EXISTS (SELECT 1 FROM unread_transaction
  WHERE unread_transaction.payout_id = due.payout_id AND unread_transaction.ended = 'expired')`

/**
 * Excludes what is held back, because another transaction has paid the same payout, and payouts
 * that another one may have paid: sending again would pay twice. A `next_send` further ahead than
 * any pause comes from a clock that has stepped back, so it counts as due.
 */
const claim = fixedStatement<'now' | 'stopped' | 'underway' | 'latest' | 'max' | 'pauses' | 'longest' | 'horizon'>(sql`
UPDATE ${t} SET ${columnName(t.sends)} = ${t.sends} + 1, ${columnName(t.sent_at)} = coalesce(${t.sent_at}, ${now}),
  ${columnName(t.next_send)} = ${now} + coalesce(${pauses} ->> ('$[' || ${t.sends} || ']'),
    ${sql.placeholder('longest')})
WHERE ${t.id} IN (
  SELECT due.id FROM ${t} AS due INDEXED BY payout_transaction_open WHERE due.ended IS NULL
    AND due.next_send NOT BETWEEN ${now} + 1 AND ${sql.placeholder('horizon')}
      AND due.expires_at > ${sql.placeholder('latest')}
    AND due.id NOT IN (SELECT value FROM json_each(${sql.placeholder('underway')}))
    AND NOT EXISTS (SELECT 1 FROM ${payouts} WHERE ${payouts.id} = due.payout_id
      AND ${payouts.cuy} IN (SELECT value FROM json_each(${sql.placeholder('stopped')})))
    AND NOT due.held_back
    AND NOT ${isEarlierUnread}
  ORDER BY min(due.sends, 2), due.next_send LIMIT ${sql.placeholder('max')})
RETURNING ${columnName(t.id)}, ${columnName(t.bytes)}, ${columnName(t.sends)}, ${columnName(t.answers)}`)

const updateAnswers = fixedStatement<'rows'>(sql`
UPDATE ${t} SET ${columnName(t.answers)} = told.value ->> 'answers'
FROM json_each(${sql.placeholder('rows')}) AS told WHERE ${t.id} = told.value ->> 'id'`)

/**
 * If the scan has read every final block: the time of the newest one. Else null, and nothing is
 * known to be in no block.
 */
const readTo = sql`(SELECT ${scans.finalized_time} FROM ${scans} WHERE ${scans.height} = ${scans.finalized}
  AND ${scans.halted} IS NULL)`
const selectUntakenRows = fixedStatement<'sentBefore' | 'minedMs' | 'max' | 'taken'>(sql`
SELECT ${t.payout_id} AS payout, ${t.answers} FROM ${open} WHERE ${t.ended} IS NULL
  AND ${t.sent_at} <= ${sql.placeholder('sentBefore')}
  AND (NOT EXISTS (SELECT 1 FROM json_each(coalesce(${t.answers}, '[]')) AS said
      WHERE said.value ->> 'answer' IN (SELECT value FROM json_each(${sql.placeholder('taken')})))
    OR (${t.sent_at} + ${sql.placeholder('minedMs')} <= ${readTo}
      AND coalesce(${t.seen_height}, -1) <= (SELECT ${scans.height} FROM ${scans})))
ORDER BY ${t.id} LIMIT ${sql.placeholder('max')}`)

const txids = sql`(SELECT value FROM json_each(${sql.placeholder('txids')}))`

const selectPayoutsOf = fixedStatement<'txids'>(sql`
SELECT * FROM ${payouts} WHERE ${payouts.id} IN (SELECT ${t.payout_id} FROM ${t} WHERE ${t.txid} IN ${txids})`)

const selectPassing = fixedStatement<'at'>(sql`
SELECT * FROM ${t} INDEXED BY payout_transaction_payer WHERE ${isAwaited}
  AND ${t.past_height} IS NULL AND ${t.expires_at} <= ${sql.placeholder('at')}`)

/**
 * A transaction is over when every block from the one after its reference block to the first one
 * past its expiration was read, and the scan is not halted. The blocks of earlier transactions of
 * its payout must be read, too, because a correction can take back what they have shown.
 */
const over = sql`FROM ${open} WHERE ${t.ended} IS NULL
  AND ${t.past_height} <= (SELECT ${scans.height} FROM ${scans} WHERE ${scans.halted} IS NULL)
  AND NOT EXISTS (SELECT 1 FROM unread_transaction WHERE unread_transaction.payout_id = ${t.payout_id})
ORDER BY ${t.id} LIMIT ${sql.placeholder('max')}`

const selectOver = fixedStatement<'max'>(sql`SELECT * ${over}`)

const selectPayoutsOfOver = fixedStatement<'max'>(sql`
SELECT * FROM ${payouts} WHERE ${payouts.id} IN (SELECT ${t.payout_id} ${over})`)

const fact = (column: Parameters<typeof member>[0]) => sql`fact.${member(column)}`
const noteSeen = fixedStatement<'seen' | 'until'>(sql`
UPDATE ${t} SET ${columnName(t.seen_height)} = ${fact(t.height)},
  ${columnName(t.next_send)} = iif(${t.seen_height} IS NULL, max(${t.next_send}, ${sql.placeholder('until')}),
    ${t.next_send})
FROM json_each(${sql.placeholder('seen')}) AS fact WHERE ${t.txid} = ${fact(t.txid)} AND ${t.ended} IS NULL`)

const uncosted = fixedStatement<'since' | 'among' | 'max'>(sql`
SELECT ${t.id}, ${t.txid}, ${t.height} FROM (
  SELECT ${payouts.txid} AS txid FROM ${payouts} INDEXED BY payout_state WHERE ${payouts.state} = 'stuck'
    AND ${payouts.reason} = 'failed'
  ORDER BY ${payouts.id} DESC LIMIT ${sql.placeholder('among')}) AS stuck
CROSS JOIN ${t} ON ${t.txid} = stuck.txid WHERE ${t.burnt} IS NULL AND ${t.height} IS NOT NULL
  AND ${t.changed_at} > ${sql.placeholder('since')} LIMIT ${sql.placeholder('max')}`)

const updateCost = fixedStatement<'transaction' | 'burnt' | 'energy'>(sql`
UPDATE ${t} SET ${columnName(t.burnt)} = ${sql.placeholder('burnt')},
  ${columnName(t.energy)} = ${sql.placeholder('energy')}
WHERE ${t.id} = ${sql.placeholder('transaction')} AND ${t.succeeded} = 0`)
