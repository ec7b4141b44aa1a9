import { issueForOrders } from '../addresses/store/address-book.ts'
import type { ScannerCalls } from '../chain/chain.ts'
import type { BackendName, Uid } from '../common/ids.ts'
import { orderHoldMs, ordersHeldMax } from '../common/order-states.ts'
import { err, ok, type Result } from '../common/result.ts'
import { dayMs, type UnixMs } from '../common/time.ts'
import type { WriteContext } from '../ledger/context.ts'
import { decimalsFact } from '../ledger/stops.ts'
import type { OrderFailure } from './failure.ts'
import type { OrderRow } from './lifecycle.ts'
import { readInOrder } from './list.ts'
import type { Order } from './order.ts'
import { type NewOrder, parseOrderRequest } from './parse-order-request.ts'
import {
  type InsertedOrder,
  insertOrders,
  type OrderRequestFacts,
  selectOrderAddresses,
  selectRequestFacts,
} from './store/rows.ts'

/** Attempts before giving up, when concurrent requests take the same addresses. */
const triesMax = 10
/** How long an order is open if the request does not say it. */
const openMs = dayMs
/** How far ahead `until` may be. */
const openMsMax = 30 * dayMs

/** The orders as they are now, in the order of the request. */
export interface OrderRequestAnswer {
  readonly orders: readonly Order[]
  /** True if the same request was stored before, so that nothing was stored now. */
  readonly replayed: boolean
}

export type OrderRequestContext = Pick<
  WriteContext,
  'db' | 'currencies' | 'addressAt' | 'firstIndex' | 'issuesAddresses' | 'payouts'
> & { readonly scanner: Pick<ScannerCalls, 'prepareIssue'> }

/**
 * Stores orders: all or none. `list` is the body's `orders` as the backend sent it. Repeating a
 * request with the same content from the same backend returns the orders as they are now. Issues
 * addresses for orders where the user has none that is free.
 */
export async function askOrders(
  context: OrderRequestContext,
  list: unknown,
  by: BackendName,
  at: UnixMs,
): Promise<Result<OrderRequestAnswer, OrderFailure>> {
  const parsed = parseOrderRequest(list, context.currencies)
  if (!parsed.ok) return parsed
  const requested = parsed.value
  const lookups = requested.map(({ uid, order, cuy, takes }) => ({ uid, order, cuy, take: takes }))
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const facts = await selectRequestFacts(context.db, lookups)
    if (facts.storedOrders.length > 0) {
      const failure = whyNotReplayed(requested, facts.storedOrders, by)
      if (failure !== null) return err(failure)
      return ok({ orders: await readInOrder(context.db, requested, context.currencies), replayed: true })
    }
    const refusal = findRefusal(requested, facts, context, at)
    if (refusal !== null) return err(refusal)
    const addresses = await findAddresses(context, requested, at)
    if (!addresses.ok) return addresses
    const rows = requested.map((order, i) => rowOf(order, addresses.value[i] ?? 0, by, at))
    if ((await insertOrders(context.db, rows)) === 'overtaken') continue
    return ok({ orders: await readInOrder(context.db, requested, context.currencies), replayed: false })
  }
  throw new Error('orders change faster than they are decided about')
}

function rowOf(order: NewOrder, addressId: number, by: BackendName, at: UnixMs): InsertedOrder {
  const until = order.until ?? ((at + openMs) as UnixMs) // safe: a later time
  return {
    ...{ uid: order.uid, cuy: order.cuy, reference: order.order, address_id: addressId, until, take: order.takes },
    amount: Number(order.amount),
    at_least: Number(order.atLeast),
    ...{ return_to: order.returnUrl, mark: order.mark, posted_by: by, created_at: at },
    held_until: (until + orderHoldMs) as UnixMs, // safe: a later time
  }
}

/** Why the request is refused, with the number of its first faulty order; null if it is not. */
function findRefusal(
  requested: readonly NewOrder[],
  { obstacles, isForked, decimals }: OrderRequestFacts,
  { currencies }: OrderRequestContext,
  at: UnixMs,
): OrderFailure | null {
  for (const [i, { cuy, until }] of requested.entries()) {
    const order = i + 1
    if (until !== null && (until <= at || until > at + openMsMax)) {
      return {
        kind: 'bad-input',
        order,
        member: 'until',
        why: `a time to come, at most ${openMsMax / openMs} days ahead`,
      }
    }
    const currency = currencies.byId.get(cuy)
    const retired = currency === undefined || currency.retired ? 'retired' : null
    const stop = isForked
      ? 'chain-forked'
      : (retired ?? (currency === undefined ? null : decimalsFact(currency, decimals)))
    if (stop !== null) {
      return { kind: 'conflict', order, reason: stop, why: `nothing can be paid in it now: ${whyClosed[stop]}` }
    }
    if (obstacles[i] === true) {
      const why = 'an entry or a payout has its uid, cuy and order as osn, and the type 4 that it needs itself'
      return { kind: 'conflict', order, reason: 'key-in-use', why }
    }
  }
  return null
}

const whyClosed = {
  'chain-forked': 'the nodes show another chain than the stored one',
  retired: 'the currency takes no deposits any more',
  'decimals-unknown': 'nodes have not agreed on the decimals of its contract yet',
  'decimals-differ': 'the decimals of its contract are not the configured ones',
} as const

/** The ids of the addresses for the orders, in their order. Issues those that are missing. */
async function findAddresses(
  context: OrderRequestContext,
  requested: readonly NewOrder[],
  at: UnixMs,
): Promise<Result<readonly number[], OrderFailure>> {
  const found = new Map<Uid, number[]>()
  for (const [uid, orders] of Map.groupBy(requested, (order) => order.uid)) {
    const known = await selectOrderAddresses(context.db, uid, orders.length, at)
    if (known.held + orders.length > ordersHeldMax) {
      const last = orders[Math.max(0, ordersHeldMax - known.held)] ?? orders[0]
      const order = last === undefined ? 1 : requested.indexOf(last) + 1
      const why = `${known.held} orders of its user hold an address, and ${ordersHeldMax} may`
      return err({ kind: 'conflict', order, reason: 'too-many-orders', why })
    }
    const missing = orders.length - known.free.length
    if (missing > 0) {
      const issued = await issueMissing(context, uid, missing)
      if (!issued.ok) return issued
    }
    const { free } = missing > 0 ? await selectOrderAddresses(context.db, uid, orders.length, at) : known
    found.set(uid, [...free])
  }
  // An address that another request has taken meanwhile is missing: a trigger refuses its order,
  // and everything is read again.
  return ok(requested.map(({ uid }) => found.get(uid)?.shift() ?? 0))
}

async function issueMissing(
  { db, addressAt, firstIndex, issuesAddresses, payouts, scanner }: OrderRequestContext,
  uid: Uid,
  count: number,
): Promise<Result<null, OrderFailure>> {
  if (!issuesAddresses) return err({ kind: 'issuing-off' })
  const prepared = await scanner.prepareIssue(uid, firstIndex)
  if (!prepared.ok) return prepared as Result<never, OrderFailure>
  const next = { addressAt, firstIndex: firstIndex ?? 0, payoutAddress: payouts?.address ?? null }
  const issued = await issueForOrders(db, uid, next, count)
  return issued === 'issued' ? ok(null) : err({ kind: 'cannot-issue', reason: 'configuration-differs' })
}

/**
 * Why a request with stored orders is not a repetition of the one that stored them; null if it is.
 */
function whyNotReplayed(
  requested: readonly NewOrder[],
  stored: readonly OrderRow[],
  by: BackendName,
): OrderFailure | null {
  for (const [i, order] of requested.entries()) {
    const one = stored.find(({ uid, reference }) => uid === order.uid && reference === order.order)
    const refuse = (reason: 'partly-known' | 'backend-differs' | 'content-differs', why: string): OrderFailure => {
      return { kind: 'conflict', order: i + 1, reason, why }
    }
    if (one === undefined) {
      return refuse('partly-known', 'new, while other orders of the request are known: nothing was stored')
    }
    if (one.posted_by !== by) return refuse('backend-differs', 'another backend has asked for it')
    if (!isSame(one, order)) return refuse('content-differs', 'its uid and order are known with another content')
  }
  return null
}

/** A request that does not say `until` asks for an order that is open for `openMs`. */
function isSame(stored: OrderRow, { cuy, amount, atLeast, until, takes, returnUrl, mark }: NewOrder): boolean {
  const isOfMoney = stored.cuy === cuy && BigInt(stored.amount) === amount && BigInt(stored.at_least) === atLeast
  const asked = until ?? stored.created_at + openMs
  return (
    isOfMoney &&
    stored.until === asked &&
    stored.take === takes &&
    stored.return_to === returnUrl &&
    stored.mark === mark
  )
}
