import { type SQL, sql } from 'drizzle-orm'
import * as z from 'zod/mini'
import type { Txid } from '../chain/block.ts'
import type { DeciderName, PayoutId } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import { isRefusedBy, madeOnce, openTables, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payouts, payoutTransactions, transactionsMax, whyCharsMax } from '../d1/payout-tables.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { isRemark } from '../ledger/parse-post.ts'
import type { Clock } from '../platform/clock.ts'
import type { PayoutFailure } from './failure.ts'
import { askedMax } from './parse-asking.ts'
import { byLimits, type Moved, type Payout, payoutColumns, readMoved, sayMoved } from './payout.ts'
import { findStop, isStoppedForUnknown } from './stopped.ts'

// What people decide: a payout is approved, or its money goes back. Triggers allow no other step, and post the money.

const idsTake = `an array of 1 to ${askedMax} ids of payouts, each once`
const movedTakes = 'true, or absent'
const attemptsTakes = 'a whole number from 0, or absent'
const whyTakes = `1 to ${whyCharsMax} characters, without control characters, invisible ones and those that turn the direction of text`

const ids = z
  .array(z.int(idsTake).check(z.minimum(1, idsTake), z.maximum(Number.MAX_SAFE_INTEGER, idsTake)), idsTake)
  .check(
    z.minLength(1, idsTake),
    z.maxLength(askedMax, idsTake),
    z.refine((list) => new Set(list).size === list.length, idsTake),
  )
const moved = z.optional(z.literal(true, movedTakes))
const attempts = z.optional(z.int(attemptsTakes).check(z.minimum(0, attemptsTakes)))

/**
 * What an approval names. `moved`: what has left for them is known. `attempts`: how many each stuck one of them shows, so that a request
 * that is sent again approves none that is stuck anew.
 */
const approval = z.strictObject(
  { ids, moved, attempts },
  'an object with ids and optionally moved and attempts, and nothing else',
)
/** What a cancellation names. */
const cancellation = z.strictObject(
  {
    ids,
    why: z.string(whyTakes).check(z.refine((text) => text !== '' && isRemark(text), whyTakes)),
    moved,
  },
  'an object with ids, why and optionally moved, and nothing else',
)

/** Reads the body of a step. */
export function parseStep<T>(schema: z.ZodMiniType<T>, body: unknown): Result<T, PayoutFailure> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return ok(parsed.data)
  const [issue] = parsed.error.issues
  return err({ kind: 'bad-input', member: String(issue?.path[0] ?? 'body'), why: issue?.message ?? '' })
}

/** What a step needs. */
export interface StepContext {
  readonly db: WriteDatabase
  readonly currencies: Currencies
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Approves payouts: all or none. `by` must be another name than has asked. A stuck one may have three more transactions then.
 */
export async function approvePayouts(
  { db, currencies, clock }: StepContext,
  body: unknown,
  by: DeciderName,
): Promise<Result<readonly Payout[], PayoutFailure>> {
  const step = parseStep(approval, body)
  if (!step.ok) return step
  const { ids, moved: isKnown = false, attempts: shown } = step.value
  const { state, posted_by, approved_at, attempts, attempts_max } = payouts
  const isFrom = sql`${state} IN ('waiting', 'stuck')`
  const isSince = shown === undefined ? sql`0` : sql`${attempts} <> ${shown}`
  const isRefused = sql`${posted_by} = ${by} OR ${by} = ${byLimits} OR ${state} = 'cancelled'
    OR (${isFrom} AND ${hasLeft(isKnown)}) OR (${state} = 'stuck' AND ${isSince})`
  const at = clock.now()
  const changes = {
    state: 'approved' as const,
    approved_by: by,
    changed_at: at,
    approved_at: sql`coalesce(${approved_at}, ${at})`,
    attempts_max: sql`iif(${state} = 'stuck', ${attempts} + ${transactionsMax}, ${attempts_max})`,
    reason: null,
    moved: null,
  }
  const found = await takeStep(db, ids, changes, isFrom, isRefused)
  return inOrder(ids, found, (payout) => {
    if (by === byLimits) return { kind: 'forbidden', why: `${byLimits} is the name of what approves by itself` }
    if (payout.posted_by === by) {
      return { kind: 'forbidden', why: `payout ${payout.id}: another name must approve it than has asked for it` }
    }
    if (payout.state === 'cancelled') return notNow(payout, 'it is cancelled')
    if (payout.state !== 'waiting' && payout.state !== 'stuck') return null
    return refuseLeft(payout, isKnown, currencies) ?? refuseSince(payout, shown)
  })
}

/**
 * What cancelling needs. `isRestored` asks the scanner whether the database is an older copy. `mayApprove`: whether who asks has the
 * right to approve.
 */
export interface CancelContext extends StepContext {
  readonly isRestored: () => Promise<boolean>
  readonly mayApprove: boolean
}

/**
 * Cancels payouts: all or none. The money of each is back in its wallet then. Where money has left for one already, that is lost, so it
 * takes what an approval takes. None while payouts are stopped: a transaction that the database does not have, or that no payout names,
 * can be that of one of them.
 */
export async function cancelPayouts(
  { db, currencies, clock, isRestored, mayApprove }: CancelContext,
  body: unknown,
  by: DeciderName,
): Promise<Result<readonly Payout[], PayoutFailure>> {
  const step = parseStep(cancellation, body)
  if (!step.ok) return step
  const { ids, why, moved: isKnown = false } = step.value
  const { state, posted_by } = payouts
  const isOlder = await isRestored()
  const isStopped = isOlder ? sql`1` : isStoppedForUnknown
  const isForbidden = mayApprove ? sql`(${posted_by} = ${by} AND ${hasLeft(false)})` : hasLeft(false)
  const isRefused = sql`${state} IN ('signed', 'paid') OR (${state} <> 'cancelled' AND (${hasLeft(isKnown)} OR ${isForbidden} OR ${isStopped}))`
  const changes = {
    state: 'cancelled',
    cancelled_by: by,
    why,
    changed_at: clock.now(),
    reason: null,
    moved: null,
  } as const
  try {
    const found = await takeStep(db, ids, changes, sql`${state} IN ('waiting', 'approved', 'stuck')`, isRefused)
    const answer = inOrder(ids, found, (payout) => {
      if (payout.state === 'cancelled') return null
      if (payout.state === 'signed') return notNow(payout, 'it is signed: its transaction can be mined')
      if (payout.state === 'paid') return notNow(payout, 'it is paid')
      const isAllowed = mayApprove && payout.posted_by !== by
      return refuseLeft(payout, isKnown, currencies) ?? (isAllowed ? null : forbidLoss(payout, currencies))
    })
    const isUntaken = answer.ok && answer.value.some((payout) => payout.state !== 'cancelled')
    return isUntaken ? err(await findStop(db)) : answer
  } catch (cause) {
    if (!isRefusedBy('flow_balance', cause)) throw cause
    return err({ kind: 'refused', reason: 'wallet-full', why: 'a wallet has no room for what would return to it' })
  }
}

/** A payout, and a transaction besides its newest one that has paid something for it. */
type FoundPayout = Payout & { readonly left: string | null }
/** That transaction, as JSON. */
interface Left {
  readonly txid: Txid
  readonly moved: readonly Moved[]
}

/**
 * A transaction besides its newest one that has cost what a payout pays: one of its own that has succeeded although it went on, or one
 * that no payout names, excused or not, and that pays exactly this.
 */
const selectLeft = madeOnce(sql`coalesce(
  (SELECT json_object('txid', own.txid, 'moved', json(own.moved)) FROM ${payoutTransactions} AS own INDEXED BY payout_transaction_payout
    WHERE own.payout_id = ${payouts.id} AND own.ended = 'late' AND own.moved <> '[]' LIMIT 1),
  (SELECT json_object('txid', other.txid, 'moved', json(other.moved))
    FROM ${payoutTransactions} AS other INDEXED BY payout_transaction_payout
    WHERE other.payout_id IS NULL AND EXISTS (SELECT 1 FROM json_each(other.moved) AS one
      WHERE one.value ->> 'contract' = ${payouts.contract} AND one.value ->> 'to' = ${payouts.to_address}
        AND one.value ->> 'raw' = ${payouts.raw}) LIMIT 1))`)

/** Whether money has left the address for a payout, and the request does not say that it is known. */
function hasLeft(isKnown: boolean): SQL {
  return isKnown
    ? sql`0`
    : sql`((${payouts.moved} IS NOT NULL AND ${payouts.moved} <> '[]') OR ${selectLeft} IS NOT NULL)`
}

/** What has left for a payout as a part of a sentence, or null. */
function sayLeft({ moved, left }: FoundPayout, currencies: Currencies): string | null {
  const own = moved === null ? [] : readMoved(moved)
  if (own.length > 0) return `its transaction has moved ${sayMoved(own, currencies)}: decide who pays for it`
  if (left === null) return null
  const other = JSON.parse(left) as Left // safe: `selectLeft` has made it
  const what = `${sayMoved(other.moved, currencies)} in ${other.txid}`
  return `another transaction of the payout address has moved ${what}: find out whether that was this payout`
}

function refuseLeft(payout: FoundPayout, isKnown: boolean, currencies: Currencies): PayoutFailure | null {
  const left = isKnown ? null : sayLeft(payout, currencies)
  if (left === null) return null
  const why = `payout ${payout.id}: ${left}, and send moved: true`
  return { kind: 'conflict', reason: 'money-moved', why }
}

/** Where money has left for it, its refund is a loss: a backend must not decide that of what it has asked for itself. */
function forbidLoss(payout: FoundPayout, currencies: Currencies): PayoutFailure | null {
  if (sayLeft(payout, currencies) === null) return null
  const takes = 'cancelling it takes the scope ledger:approve, and another name than has asked for it'
  return { kind: 'forbidden', why: `payout ${payout.id}: money has left for it: ${takes}` }
}

/** Where it may have got stuck since the request was made: an approval that is sent again is no new one. */
function refuseSince({ id, state, attempts }: Payout, shown: number | undefined): PayoutFailure | null {
  if (state !== 'stuck' || shown === undefined || shown === attempts) return null
  const why = `payout ${id}: it is stuck since it had ${shown} attempts: to approve it once more, send attempts: ${attempts}`
  return { kind: 'conflict', reason: 'stuck-since', why }
}

const notNow = ({ id }: Payout, why: string): PayoutFailure => {
  return { kind: 'conflict', reason: 'not-in-this-state', why: `payout ${id}: ${why}` }
}

type PayoutChanges = Parameters<ReturnType<ReturnType<typeof openTables>['update']>['set']>[0]

/** Changes the payouts that `isFrom`, if all of them exist and none is refused. Returns all that exist, as they are then. */
async function takeStep(
  db: WriteDatabase,
  ids: readonly number[],
  changes: PayoutChanges,
  isFrom: SQL,
  isRefused: SQL,
): Promise<readonly FoundPayout[]> {
  const list = JSON.stringify(ids)
  const isListed = sql`${payouts.id} IN (SELECT value FROM json_each(${list}))`
  const isWhole = sql`NOT EXISTS (SELECT 1 FROM json_each(${list}) LEFT JOIN ${payouts} ON ${payouts.id} = value
    WHERE ${payouts.id} IS NULL OR ${isRefused})`
  const [, found] = await db.batch<FoundPayout>([
    toStatement(db, openTables(db).update(payouts).set(changes).where(sql`${isListed} AND ${isFrom} AND ${isWhole}`)),
    toStatement(
      db,
      sql`SELECT ${sql.join(payoutColumns, sql`, `)}, ${selectLeft} AS "left" FROM ${payouts} WHERE ${isListed}`,
    ),
  ])
  return found?.results ?? []
}

/** The payouts in the order of the ids, or why nothing was changed. */
function inOrder(
  ids: readonly number[],
  found: readonly FoundPayout[],
  whyNot: (payout: FoundPayout) => PayoutFailure | null,
): Result<readonly Payout[], PayoutFailure> {
  const byId = new Map(found.map((payout) => [payout.id, payout]))
  const list: Payout[] = []
  for (const id of ids) {
    const payout = byId.get(id as PayoutId) // safe: an id that exists
    if (payout === undefined) return err({ kind: 'unknown-payout', why: `there is no payout ${id}` })
    const failure = whyNot(payout)
    if (failure !== null) return err(failure)
    list.push(payout)
  }
  return ok(list)
}
