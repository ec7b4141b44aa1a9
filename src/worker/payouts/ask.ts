import type { Address } from '../chain/address.ts'
import type { BackendName, CurrencyId, Uid } from '../common/ids.ts'
import type { PayoutReason } from '../common/reasons.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { PayoutRules } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { findShortfall } from '../ledger/post-entries.ts'
import type { PayoutFailure } from './failure.ts'
import { findLeavingStop, type LeavingFacts, refuseStopped } from './leaving.ts'
import { isWithinLimits, nothingUsed, type PayoutRow, transactionsMax } from './lifecycle.ts'
import { type NewPayout, parsePayoutRequest, whyNotTo } from './parse-payout-request.ts'
import type { Payout } from './payout.ts'
import { sameProof } from './proof.ts'
import { readLeavingFacts } from './store/facts.ts'
import {
  type InsertedPayout,
  insertPayouts,
  type PayoutRequestFacts,
  selectPayoutRequestFacts,
  usedKey,
} from './store/payout-requests.ts'

/**
 * Attempts before giving up, when concurrent requests take the same money or the same share of a
 * limit.
 */
const triesMax = 10

/** The requested payouts as they are now, in the order of the request. */
export interface PayoutRequestAnswer {
  readonly payouts: readonly Payout[]
  /** True if the same request was stored before, so that nothing was stored now. */
  readonly replayed: boolean
}

export interface PayoutRequestContext {
  readonly db: WriteDatabase
  readonly currencies: Currencies
  readonly payouts: PayoutRules
  readonly payoutAddresses: ReadonlySet<Address>
  /** Whether the database is a restored older copy (`readLeavingFacts`). */
  readonly isRestored: () => Promise<boolean>
}

/**
 * Stores requested payouts: all or none. `list` is the body as the backend sent it. The statement
 * that stores a payout also takes its money from the wallet and, within the limits, approves it.
 * Repeating a request with the same content from the same backend returns the payouts as they are
 * now.
 */
export async function askPayouts(
  context: PayoutRequestContext,
  list: unknown,
  by: BackendName,
  at: UnixMs,
): Promise<Result<PayoutRequestAnswer, PayoutFailure>> {
  const requested = parsePayoutRequest(list, context.currencies)
  if (!requested.ok) return requested
  const rows = requested.value.map((payout) => rowOf(payout, context.payouts, by, at))
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const facts = await selectPayoutRequestFacts(context.db, rows, at)
    if (facts.storedPayouts.length > 0) return replay(requested.value, facts.storedPayouts, by)
    const leaving = await readLeavingFacts(context.db, context.payouts.address, context.isRestored, at)
    const refusal = findRefusal(requested.value, facts, leaving, context)
    if (refusal !== null) return err(refusal)
    const stored = await insertPayouts(context.db, approveByRule(rows, facts, leaving, context, at))
    if (stored === 'overtaken') continue
    const { storedPayouts: payouts } = await selectPayoutRequestFacts(context.db, rows, at)
    const result = replay(requested.value, payouts, by)
    return result.ok ? ok({ ...result.value, replayed: false }) : result
  }
  throw new Error('payouts change faster than they are decided about')
}

/** The row to store, in state `waiting`. `approveByRule` may change that to `approved`. */
function rowOf(payout: NewPayout, { limits }: PayoutRules, by: BackendName, at: UnixMs): InsertedPayout {
  const { uid, cuy, osn, to, contract, mark, proof } = payout
  const limit = limits.get(cuy) ?? null
  return {
    ...{ uid, cuy, osn, to_address: to, contract, mark, proof },
    amount: Number(payout.amount),
    fee: Number(payout.fee),
    raw: payout.raw.toString(),
    posted_by: by,
    limit_each: limit === null ? null : Number(limit.each),
    limit_least: limit === null ? null : Number(limit.least),
    limit_day: limit === null ? null : Number(limit.perDay),
    limit_count: limit === null ? null : limit.countPerDay,
    limit_user: limit === null || limit.perUserPerDay === null ? null : Number(limit.perUserPerDay),
    ...{ state: 'waiting', approved_by: null, approved_at: null, counted: false },
    ...{ attempts_max: transactionsMax, created_at: at, changed_at: at },
  }
}

/**
 * Approves each row whose payment nothing stops now and that, with the rows before it, fits into
 * the limits of a day. Other rows stay `waiting`.
 */
function approveByRule(
  rows: readonly InsertedPayout[],
  facts: PayoutRequestFacts,
  leaving: LeavingFacts,
  { payouts: { limits }, currencies }: PayoutRequestContext,
  at: UnixMs,
): readonly InsertedPayout[] {
  const used = new Map(facts.used)
  const add = (uid: Uid | 0, cuy: CurrencyId, amount: bigint) => {
    const before = used.get(usedKey(uid, cuy)) ?? nothingUsed
    used.set(usedKey(uid, cuy), { amount: before.amount + amount, count: before.count + 1 })
  }
  return rows.map((row) => {
    const { uid, cuy } = row
    const amount = BigInt(row.amount)
    const [ofAll, ofUser] = [used.get(usedKey(0, cuy)) ?? nothingUsed, used.get(usedKey(uid, cuy)) ?? nothingUsed]
    const mayLeave = findLeavingStop(leaving, currencies.byId.get(cuy), 'rule') === null
    if (!mayLeave || !isWithinLimits(limits.get(cuy) ?? null, amount, ofAll, ofUser)) return row
    for (const owner of [0, uid] as const) add(owner, cuy, amount)
    return { ...row, state: 'approved', approved_by: '', approved_at: at, counted: true }
  })
}

/**
 * Why the request is refused, with the number of its first faulty payout; null if it is not
 * refused.
 */
function findRefusal(
  requested: readonly NewPayout[],
  { obstacles, balances }: PayoutRequestFacts,
  leaving: LeavingFacts,
  { payoutAddresses, currencies }: PayoutRequestContext,
): PayoutFailure | null {
  for (const [i, { to, cuy }] of requested.entries()) {
    const why = whyNotTo(to, currencies, payoutAddresses)
    if (why !== null) return { kind: 'refused', payout: i + 1, ...why }
    const stop = findLeavingStop(leaving, currencies.byId.get(cuy), 'ask')
    if (stop !== null) return refuseStopped(stop, i + 1)
  }
  for (const [i, { hasEntry, isUsers }] of obstacles.entries()) {
    if (isUsers) {
      const why = 'to is the address of a user here: post a transfer (type 3) between the two instead'
      return { kind: 'refused', payout: i + 1, reason: 'to-user', why }
    }
    if (hasEntry) {
      const why = 'an entry or an order has its uid, cuy and osn, and a type that it needs itself'
      return { kind: 'conflict', payout: i + 1, reason: 'key-in-use', why }
    }
  }
  // safe: a signed amount
  const taken = requested.map((payout) => ({ ...payout, amount: -(payout.amount + payout.fee) as NewPayout['amount'] }))
  const shortfall = findShortfall(balances, taken, currencies)
  if (shortfall === null) return null
  return { kind: 'refused', payout: shortfall.entry, reason: shortfall.kind, why: shortfall.why }
}

/**
 * The stored payouts in the order of the request, or a conflict if the request differs from what is
 * stored.
 */
function replay(
  requested: readonly NewPayout[],
  storedPayouts: readonly PayoutRow[],
  by: BackendName,
): Result<PayoutRequestAnswer, PayoutFailure> {
  const byKey = new Map(storedPayouts.map((payout) => [keyOf(payout), payout]))
  const inOrder: PayoutRow[] = []
  for (const [i, payout] of requested.entries()) {
    const stored = byKey.get(keyOf(payout))
    if (stored === undefined) {
      return conflict(i, 'partly-known', 'new, while other payouts of the request are known: nothing was stored')
    }
    if (stored.posted_by !== by) return conflict(i, 'backend-differs', 'another backend has asked for it')
    if (!isSame(stored, payout)) {
      return conflict(i, 'content-differs', 'its uid, cuy and osn are known with another amt, fee, to, mark or proof')
    }
    inOrder.push(stored)
  }
  return ok({ payouts: inOrder, replayed: true })
}

function conflict(index: number, reason: PayoutReason, why: string): Result<never, PayoutFailure> {
  return err({ kind: 'conflict', payout: index + 1, reason, why })
}

const keyOf = ({ uid, cuy, osn }: Pick<NewPayout, 'uid' | 'cuy' | 'osn'>) => `${uid} ${cuy} ${osn}`

function isSame(stored: PayoutRow, { amount, fee, to, mark, proof }: NewPayout): boolean {
  const isOfMoney = BigInt(stored.amount) === amount && BigInt(stored.fee) === fee && stored.to_address === to
  return isOfMoney && stored.mark === mark && sameProof(stored.proof, proof)
}
