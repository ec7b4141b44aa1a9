import { type SQL, sql } from 'drizzle-orm'
import * as z from 'zod/mini'
import type { BackendName, PayoutId } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { isRefusedBy, openTables, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payouts, transactionsMax, whyCharsMax } from '../d1/payout-tables.ts'
import { isRemark } from '../ledger/parse-post.ts'
import type { PayoutFailure } from './failure.ts'
import { askedMax } from './parse-asking.ts'
import { byLimits, type Payout, payoutColumns, readMoved } from './payout.ts'
import { findStop, isStoppedForUnknown } from './stopped.ts'

// What people decide: a payout is approved, or its money goes back. Triggers allow no other step, and post the money.

const idsTake = `an array of 1 to ${askedMax} ids of payouts, each once`
const movedTakes = 'true, or absent'
const whyTakes = `1 to ${whyCharsMax} characters, without control characters, invisible ones and those that turn the direction of text`

const ids = z
  .array(z.int(idsTake).check(z.minimum(1, idsTake), z.maximum(Number.MAX_SAFE_INTEGER, idsTake)), idsTake)
  .check(
    z.minLength(1, idsTake),
    z.maxLength(askedMax, idsTake),
    z.refine((list) => new Set(list).size === list.length, idsTake),
  )
const moved = z.optional(z.literal(true, movedTakes))

/** What an approval names. `moved`: what has left the address in a stuck one is known. */
const approval = z.strictObject({ ids, moved }, 'an object with ids and optionally moved, and nothing else')
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

/** Approves payouts: all or none. `by` must be another name than has asked. A stuck one may have three more transactions then. */
export async function approvePayouts(
  db: WriteDatabase,
  body: unknown,
  by: BackendName,
  at: UnixMs,
): Promise<Result<readonly Payout[], PayoutFailure>> {
  const step = parseStep(approval, body)
  if (!step.ok) return step
  const { ids, moved: isKnown = false } = step.value
  const { state, posted_by, approved_at, attempts, attempts_max } = payouts
  const isRefused = sql`${posted_by} = ${by} OR ${by} = ${byLimits} OR ${state} = 'cancelled' OR ${hasMoved(isKnown)}`
  const changes = {
    ...({ state: 'approved', approved_by: by, changed_at: at } as const),
    approved_at: sql`coalesce(${approved_at}, ${at})`,
    attempts_max: sql`iif(${state} = 'stuck', ${attempts} + ${transactionsMax}, ${attempts_max})`,
    ...{ reason: null, moved: null },
  }
  const found = await takeStep(db, ids, changes, sql`${state} IN ('waiting', 'stuck')`, isRefused)
  return inOrder(ids, found, (payout) => {
    if (by === byLimits) return { kind: 'forbidden', why: `${byLimits} is the name of what approves by itself` }
    if (payout.posted_by === by) {
      return { kind: 'forbidden', why: `payout ${payout.id}: another name must approve it than has asked for it` }
    }
    if (payout.state === 'cancelled') return notNow(payout, 'it is cancelled')
    return refuseMoved(payout, isKnown)
  })
}

/** What cancelling needs. `isRestored` asks the scanner whether the database is an older copy. */
export interface CancelContext {
  readonly db: WriteDatabase
  readonly isRestored: () => Promise<boolean>
}

/**
 * Cancels payouts: all or none. The money of each is back in its wallet then. None while payouts are stopped: a transaction that the
 * database does not have, or that no payout names, can be that of one of them.
 */
export async function cancelPayouts(
  { db, isRestored }: CancelContext,
  body: unknown,
  by: BackendName,
  at: UnixMs,
): Promise<Result<readonly Payout[], PayoutFailure>> {
  const step = parseStep(cancellation, body)
  if (!step.ok) return step
  const { ids, why, moved: isKnown = false } = step.value
  const { state } = payouts
  const isOlder = await isRestored()
  const isStopped = isOlder ? sql`1` : isStoppedForUnknown
  const isRefused = sql`${state} IN ('signed', 'paid') OR ${hasMoved(isKnown)} OR (${state} <> 'cancelled' AND ${isStopped})`
  const changes = { state: 'cancelled', cancelled_by: by, why, changed_at: at, reason: null, moved: null } as const
  try {
    const found = await takeStep(db, ids, changes, sql`${state} IN ('waiting', 'approved', 'stuck')`, isRefused)
    const answer = inOrder(ids, found, (payout) => {
      if (payout.state === 'signed') return notNow(payout, 'it is signed: its transaction can be mined')
      return payout.state === 'paid' ? notNow(payout, 'it is paid') : refuseMoved(payout, isKnown)
    })
    const isLeft = answer.ok && answer.value.some((payout) => payout.state !== 'cancelled')
    return isLeft ? err(await findStop(db)) : answer
  } catch (cause) {
    if (!isRefusedBy('flow_balance', cause)) throw cause
    return err({ kind: 'refused', reason: 'wallet-full', why: 'a wallet has no room for what would return to it' })
  }
}

/** What of a stuck payout has left the address, and the request does not say that it is known. */
function hasMoved(isKnown: boolean): SQL {
  return isKnown ? sql`0` : sql`(${payouts.moved} IS NOT NULL AND ${payouts.moved} <> '[]')`
}

function refuseMoved(payout: Payout, isKnown: boolean): PayoutFailure | null {
  const left = payout.moved === null || isKnown ? [] : readMoved(payout.moved)
  if (left.length === 0) return null
  const why = 'its transaction has moved money: look at moved, decide who pays for it, and send moved: true'
  return { kind: 'conflict', reason: 'money-moved', why: `payout ${payout.id}: ${why}` }
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
): Promise<readonly Payout[]> {
  const list = JSON.stringify(ids)
  const isListed = sql`${payouts.id} IN (SELECT value FROM json_each(${list}))`
  const isWhole = sql`NOT EXISTS (SELECT 1 FROM json_each(${list}) LEFT JOIN ${payouts} ON ${payouts.id} = value
    WHERE ${payouts.id} IS NULL OR ${isRefused})`
  const [, found] = await db.batch<Payout>([
    toStatement(db, openTables(db).update(payouts).set(changes).where(sql`${isListed} AND ${isFrom} AND ${isWhole}`)),
    toStatement(db, sql`SELECT ${sql.join(payoutColumns, sql`, `)} FROM ${payouts} WHERE ${isListed}`),
  ])
  return found?.results ?? []
}

/** The payouts in the order of the ids, or why nothing was changed. */
function inOrder(
  ids: readonly number[],
  found: readonly Payout[],
  whyNot: (payout: Payout) => PayoutFailure | null,
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
