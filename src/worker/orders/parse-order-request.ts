import * as z from 'zod/mini'
import { type Amount, formatUnits, noAmount } from '../common/amount.ts'
import { type CurrencyId, reservedUid, type Uid } from '../common/ids.ts'
import { isReadableRemark, remarkCharsMax } from '../common/remark.ts'
import { err, ok, type Result } from '../common/result.ts'
import { isSafeUrl } from '../common/safe-url.ts'
import { instantForm, parseInstant, type UnixMs } from '../common/time.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import { currencyExpected, postEntriesMax, postedEntry, readAmountText } from '../ledger/parse-post.ts'
import type { OrderFailure } from './failure.ts'

/** Identifies an order: a user has at most one with the same reference. */
export interface OrderKey {
  readonly uid: Uid
  /** The reference that the backend has given to the order. */
  readonly order: string
}

/** An order that is asked for, after parsing and not yet stored. */
export interface NewOrder extends OrderKey {
  readonly cuy: CurrencyId
  /** Ledger units, positive. */
  readonly amount: Amount
  /** From how much on the order is paid: ledger units, positive and at most `amount`. */
  readonly atLeast: Amount
  /** When it expires; null if the request does not say it. Not compared with the clock. */
  readonly until: UnixMs | null
  /** Whether the money is taken from the wallet as soon as the order is paid. */
  readonly takes: boolean
  /** Where the page leads its reader after the payment; null: nowhere. */
  readonly returnUrl: string | null
  readonly mark: string
}

/** Orders to cancel, and the reason; an empty text if the request has none. */
export interface OrderCancellation {
  readonly orders: readonly OrderKey[]
  readonly why: string
}

/** Most orders in one request. */
export const ordersMax = postEntriesMax
/** Longest `return` of an order, in characters. */
export const returnCharsMax = 500
/** Printable ASCII characters without spaces. */
const returnForm = /^[\x21-\x7e]+$/

const uidExpected = `a whole number from 1 to ${reservedUid - 1}`
const atLeastExpected = 'a decimal such as "24", without exponent or plus sign'
const untilExpected = 'an ISO 8601 instant such as 2026-11-01T00:00:00Z'
const takeExpected = 'true or false'
const returnExpected = `an https URL of at most ${returnCharsMax} ASCII characters, without user and password (http only for a loopback host)`
const orderExpected =
  'an object with uid, cuy, amt, order and optionally atLeast, until, take, return and mark, and nothing else'
const keyExpected = 'an object with uid and order, and nothing else'
const ordersExpected = `an array of 1 to ${ordersMax} orders`
const whyExpected = `1 to ${remarkCharsMax} characters that can be read, without control characters, invisible ones and those that turn the direction of text`
const cancellationExpected = 'an object with orders and optionally why, and nothing else'

/** A URL as the page may show it: no user or password that could look like a host. */
function isReturn(text: string): boolean {
  const url = URL.parse(text)
  return isSafeUrl(text) && url?.username === '' && url.password === ''
}

const { cuy, osn, amt, mark } = postedEntry.shape
/** The members of an order's key. Nobody can ask the owner of reserved addresses to pay. */
const key = {
  uid: z.int(uidExpected).check(z.minimum(1, uidExpected), z.maximum(reservedUid - 1, uidExpected)),
  order: osn.clone(), // the document describes it in other words than that of an entry
}

/** One order of a request as the backend sends it; amounts are decimal texts of whole units. */
export const requestedOrder = z.strictObject(
  {
    uid: key.uid,
    cuy,
    amt,
    order: key.order,
    atLeast: z.optional(z.string(atLeastExpected)),
    until: z.optional(z.string(untilExpected).check(z.regex(instantForm, untilExpected))),
    take: z.optional(z.boolean(takeExpected)),
    return: z.optional(
      z
        .string(returnExpected)
        .check(
          z.maxLength(returnCharsMax, returnExpected),
          z.regex(returnForm, returnExpected),
          z.refine(isReturn, returnExpected),
        ),
    ),
    mark,
  },
  orderExpected,
)

const listOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.array(item, ordersExpected).check(z.minLength(1, ordersExpected), z.maxLength(ordersMax, ordersExpected))

const orderRequest = listOf(requestedOrder)

/** One order of a cancellation as the backend sends it. */
export const orderToCancel = z.strictObject(key, keyExpected)

/** The reason for a cancellation. */
export const cancellationWhy = z.string(whyExpected).check(z.refine(isReadableRemark, whyExpected))

/** The body of a cancellation. */
export const orderCancellation = z.strictObject(
  { orders: listOf(orderToCancel), why: z.optional(cancellationWhy) },
  cancellationExpected,
)

/**
 * Parses the orders of a request, and checks each alone and against the others. Neither stored data
 * nor the clock is read.
 */
export function parseOrderRequest(list: unknown, currencies: Currencies): Result<readonly NewOrder[], OrderFailure> {
  const parsed = orderRequest.safeParse(list)
  if (!parsed.success) return err(faultOf(parsed.error.issues[0]?.path, parsed.error.issues[0]?.message))
  const orders: NewOrder[] = []
  for (const [
    i,
    { uid, cuy, amt, order, atLeast = amt, until, take = false, mark = '', ...rest },
  ] of parsed.data.entries()) {
    const currency = currencies.byId.get(cuy as CurrencyId)
    if (currency === undefined) return err(fault(i, 'cuy', currencyExpected(currencies)))
    const amount = readPositive(amt, currency)
    if (!amount.ok) return err(fault(i, 'amt', amount.error))
    const least = readPositive(atLeast, currency)
    if (!least.ok) return err(fault(i, 'atLeast', least.error))
    if (least.value > amount.value) {
      return err(fault(i, 'atLeast', `at most amt, ${formatUnits(amount.value, currency.scale)}`))
    }
    if (orders.some((other) => other.uid === uid && other.order === order)) return err(fault(i, 'order', otherOrder))
    orders.push({
      uid: uid as Uid, // safe: checked by the schema
      cuy: currency.cuy,
      order,
      amount: amount.value,
      atLeast: least.value,
      until: until === undefined ? null : parseInstant(until),
      takes: take,
      returnUrl: rest.return ?? null,
      mark,
    })
  }
  return ok(orders)
}

/** Parses the body of a cancellation. Stored data is not read. */
export function parseOrderCancellation(body: unknown): Result<OrderCancellation, OrderFailure> {
  const parsed = orderCancellation.safeParse(body)
  if (!parsed.success) {
    const { path: [member, ...path] = [], message } = parsed.error.issues[0] ?? {}
    if (member === 'orders') return err(faultOf(path, message))
    return err({ kind: 'bad-input', member: String(member ?? 'body'), why: String(message) })
  }
  const { orders, why = '' } = parsed.data
  const twice = orders.findIndex(({ uid, order }, i) =>
    orders.slice(0, i).some((other) => other.uid === uid && other.order === order),
  )
  if (twice >= 0) return err(fault(twice, 'order', otherOrder))
  // safe: checked by the schema
  return ok({ orders: orders.map(({ uid, order }) => ({ uid: uid as Uid, order })), why })
}

const otherOrder = 'another one for each order of a user'

function readPositive(text: string, currency: Currency): Result<Amount, string> {
  const amount = readAmountText(text, currency)
  return amount.ok && amount.value <= noAmount ? err('more than zero') : amount
}

/** The failure that a schema of a list of orders has found at a path. */
function faultOf([index, member]: readonly PropertyKey[] = [], message = ordersExpected): OrderFailure {
  if (index === undefined) return { kind: 'bad-input', member: 'orders', why: message }
  return fault(Number(index), String(member ?? 'order'), message)
}

function fault(index: number, member: string, why: string): OrderFailure {
  return { kind: 'bad-input', order: index + 1, member, why }
}
