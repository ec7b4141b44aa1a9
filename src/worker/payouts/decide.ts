import * as z from 'zod/mini'
import type { Address } from '../chain/address.ts'
import { type DeciderName, isSameName, type PayoutId } from '../common/ids.ts'
import { isReadableRemark } from '../common/remark.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { whyCharsMax } from '../d1/payout-tables.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import type { PayoutFailure } from './failure.ts'
import { findLeavingStop, refuseStopped } from './leaving.ts'
import { approve, cancel, type PayoutRow } from './lifecycle.ts'
import { type Outflow, sayOutflows } from './outflow.ts'
import { requestedMax } from './parse-payout-request.ts'
import { byLimits, type Payout } from './payout.ts'
import { readLeavingFacts } from './store/facts.ts'
import { type PayoutWithOutflows, selectWithOutflows, storeDecided } from './store/rows.ts'

// A person's decisions: to approve payouts, or to cancel them. `lifecycle.ts` decides whether they
// are possible.

/**
 * How often a request reads and decides anew if concurrent requests change the same payouts. After
 * the last attempt it gives up.
 */
const triesMax = 5

const idsExpected = `an array of 1 to ${requestedMax} ids of payouts, each once`
const movedExpected = 'true, or absent'
const attemptsExpected = 'a whole number from 0, or absent'
const whyExpected = `1 to ${whyCharsMax} characters that can be read, without control characters, invisible ones and those that turn the direction of text`

const ids = z
  .array(
    z.int(idsExpected).check(z.minimum(1, idsExpected), z.maximum(Number.MAX_SAFE_INTEGER, idsExpected)),
    idsExpected,
  )
  .check(
    z.minLength(1, idsExpected),
    z.maxLength(requestedMax, idsExpected),
    z.refine((list) => new Set(list).size === list.length, idsExpected),
  )
const moved = z.optional(z.literal(true, movedExpected))
const attempts = z.optional(z.int(attemptsExpected).check(z.minimum(0, attemptsExpected)))

/** The body of an approval. */
export const approval = z.strictObject(
  {
    ids,
    /**
     * Confirms that the caller knows money has already left for these payouts. Without it, the
     * request is refused if money has left for one of them.
     */
    moved,
    /**
     * The number that the stuck payouts showed to the caller. With it, a repeated request does not
     * approve a payout that got stuck again since.
     */
    attempts,
  },
  'an object with ids and optionally moved and attempts, and nothing else',
)
/** The body of a cancellation. */
export const cancellation = z.strictObject(
  {
    ids,
    why: z.string(whyExpected).check(z.refine(isReadableRemark, whyExpected)),
    moved,
  },
  'an object with ids, why and optionally moved, and nothing else',
)

/** Parses the body of a request. The failure names the first member that is wrong. */
export function parsePayoutBody<T>(schema: z.ZodMiniType<T>, body: unknown): Result<T, PayoutFailure> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return ok(parsed.data)
  const [issue] = parsed.error.issues
  return err({ kind: 'bad-input', member: String(issue?.path[0] ?? 'body'), why: issue?.message ?? '' })
}

/** `address` is the payout address. */
export interface DecisionContext {
  readonly db: WriteDatabase
  readonly currencies: Currencies
  readonly clock: Pick<Clock, 'now'>
  readonly address: Address
  /** Whether the database is a restored older copy (`readLeavingFacts`). */
  readonly isRestored: () => Promise<boolean>
}

/**
 * Approves payouts: all or none. `by` must not be the name that asked for them. After its approval,
 * a stuck payout may have three more transactions.
 */
export async function approvePayouts(
  context: DecisionContext,
  body: unknown,
  by: DeciderName,
): Promise<Result<readonly Payout[], PayoutFailure>> {
  const request = parsePayoutBody(approval, body)
  if (!request.ok) return request
  if (isSameName(by, byLimits))
    return err({ kind: 'forbidden', why: `${byLimits} is the name of what approves by itself` })
  const { ids, moved: isOutflowKnown = false, attempts } = request.value
  const step = { by, at: context.clock.now(), isOutflowKnown, attempts }
  const say = sayIn(context.currencies)
  return await decideAll(context, 'approve', ids, ({ payout, outflows }) => approve(payout, outflows, step, say))
}

/** `mayApprove`: whether the caller has the right to approve. */
export interface CancelContext extends DecisionContext {
  readonly mayApprove: boolean
}

/**
 * Cancels payouts: all or none. The money of each returns to its wallet. While a fact stops
 * `cancel` (`ledger/stops.ts`) none is cancelled: a transaction that the database lacks, or that no
 * payout names, for example, may have paid one of them.
 */
export async function cancelPayouts(
  context: CancelContext,
  body: unknown,
  by: DeciderName,
): Promise<Result<readonly Payout[], PayoutFailure>> {
  const request = parsePayoutBody(cancellation, body)
  if (!request.ok) return request
  const { currencies, clock, mayApprove } = context
  const { ids, why, moved: isOutflowKnown = false } = request.value
  const step = { by, at: clock.now(), isOutflowKnown, why, mayApprove }
  const say = sayIn(currencies)
  return await decideAll(context, 'cancel', ids, ({ payout, outflows }) => cancel(payout, outflows, step, say))
}

const sayIn = (currencies: Currencies) => (moved: readonly Outflow[]) => sayOutflows(moved, currencies)

/** Why this step of one of these payouts is stopped now; null if it is not. */
async function whyStopped(
  { db, currencies, clock, address, isRestored }: DecisionContext,
  step: 'approve' | 'cancel',
  payouts: readonly PayoutRow[],
): Promise<PayoutFailure | null> {
  const facts = await readLeavingFacts(db, address, isRestored, clock.now())
  for (const { cuy } of payouts) {
    const stop = findLeavingStop(facts, currencies.byId.get(cuy), step)
    if (stop !== null) return refuseStopped(stop)
  }
  return null
}

/**
 * Reads the payouts, decides about each in the order of the ids, and stores the changes: all or
 * none. What is known to be wrong is read only if there are changes, after the payouts. If
 * something has changed meanwhile, it reads and decides about all of them again.
 */
async function decideAll(
  context: DecisionContext,
  step: 'approve' | 'cancel',
  ids: readonly number[],
  decide: (found: PayoutWithOutflows) => Result<PayoutRow, PayoutFailure>,
): Promise<Result<readonly Payout[], PayoutFailure>> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const found = await selectWithOutflows(context.db, ids)
    const next: PayoutRow[] = []
    for (const id of ids) {
      const withOutflows = found.get(id as PayoutId) // safe: an id that does not exist finds nothing
      if (withOutflows === undefined) return err({ kind: 'unknown-payout', why: `there is no payout ${id}` })
      const decided = decide(withOutflows)
      if (!decided.ok) return decided
      next.push(decided.value)
    }
    const changed = next.filter((payout) => found.get(payout.id)?.payout !== payout)
    const failure = changed.length === 0 ? null : await whyStopped(context, step, changed)
    if (failure !== null) return err(failure)
    const result = await storeDecided(context.db, changed)
    if (result === 'stored') return ok(next)
    if (result === 'wallet-full') {
      return err({ kind: 'refused', reason: 'wallet-full', why: 'a wallet has no room for what would return to it' })
    }
  }
  throw new Error('payouts change faster than they are decided about')
}
