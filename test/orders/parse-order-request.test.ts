import { describe, expect, it } from 'vitest'
import { type CurrencyId, reservedUid } from '../../src/worker/common/ids.ts'
import { indexCurrencies } from '../../src/worker/ledger/currencies.ts'
import {
  ordersMax,
  parseOrderCancellation,
  parseOrderRequest,
  returnCharsMax,
} from '../../src/worker/orders/parse-order-request.ts'
import { trx, usdt } from '../support/currencies.ts'

const coarse = { ...trx, cuy: 3 as CurrencyId, symbol: 'COARSE', scale: 2 }
const currencies = indexCurrencies([trx, usdt, coarse])
const tea = { uid: 7, cuy: 2, amt: '25', order: 'tea 1042' }
const parse = (...orders: unknown[]) => parseOrderRequest(orders, currencies)
const parsedTea = {
  ...{ uid: 7, cuy: 2, order: 'tea 1042', amount: 25_000_000n, atLeast: 25_000_000n },
  ...{ until: null, takes: false, returnUrl: null, mark: '' },
}
const badOrder = (order: number, member: string, why: unknown) => {
  return { ok: false, error: { kind: 'bad-input', order, member, why } }
}

describe('a request for orders', () => {
  it('asks for the whole amount where it says no less, and for nothing else that it does not say', () => {
    expect(parse(tea)).toEqual({ ok: true, value: [parsedTea] })
  })

  it('can say everything', () => {
    const { value } = parse({
      ...tea,
      ...{ atLeast: '24.50', until: '2026-12-01T08:00:00+08:00', take: true, mark: 'a pot' },
      return: 'https://shop.example/orders/1042?paid#top',
    }) as { value: unknown }
    expect(value).toEqual([
      {
        ...parsedTea,
        ...{ atLeast: 24_500_000n, until: Date.UTC(2026, 11, 1), takes: true, mark: 'a pot' },
        returnUrl: 'https://shop.example/orders/1042?paid#top',
      },
    ])
  })

  it.each([
    'https://shop.example',
    'http://localhost:8790/orders/1',
    'http://127.0.0.1/',
    'http://[::1]:5000/x',
    `https://shop.example/${'x'.repeat(returnCharsMax - 21)}`,
  ])('can lead back to %s', (address) => {
    expect(parse({ ...tea, return: address })).toMatchObject({ ok: true, value: [{ returnUrl: address }] })
  })

  const members =
    'an object with uid, cuy, amt, order and optionally atLeast, until, take, return and mark, and nothing else'
  it.each([
    ['uid', undefined, /1 to 9007199254740990/],
    ['uid', 0, /1 to/],
    ['uid', '7', /1 to/],
    ['uid', 7.5, /1 to/],
    ['uid', reservedUid, 'a whole number from 1 to 9007199254740990'],
    ['cuy', undefined, 'a whole number from 1'],
    ['cuy', 9, 'one of 1 (TRX), 2 (USDT), 3 (COARSE)'],
    ['amt', undefined, /decimal/],
    ['amt', 25, /decimal/],
    ['amt', '', /decimal/],
    ['amt', '1e3', /decimal/],
    ['amt', '+1', /decimal/],
    ['amt', '-25', 'more than zero'],
    ['amt', '0.00', 'more than zero'],
    ['amt', '0.0000001', 'at most 6 decimals in USDT'],
    ['amt', '9007199254.740992', 'at most 9007199254.740991 USDT'],
    ['order', undefined, '1 to 200 printable ASCII characters'],
    ['order', '', '1 to 200 printable ASCII characters'],
    ['order', 'x'.repeat(201), '1 to 200 printable ASCII characters'],
    ['order', 'Tee\u200b', '1 to 200 printable ASCII characters'],
    ['order', 1042, '1 to 200 printable ASCII characters'],
    ['atLeast', 24, /^a decimal/],
    ['atLeast', '0', 'more than zero'],
    ['atLeast', '-1', 'more than zero'],
    ['atLeast', '25.000001', 'at most amt, 25'],
    ['atLeast', '24.0000001', 'at most 6 decimals in USDT'],
    ['until', 1_796_083_200, /^an ISO 8601 instant/],
    ['until', '2026-12-01', /^an ISO 8601 instant/],
    ['until', '2026-12-01T00:00:00', /^an ISO 8601 instant/],
    ['until', '2026-11-31T00:00:00Z', /^an ISO 8601 instant/],
    ['take', 'true', 'true or false'],
    ['take', 1, 'true or false'],
    ['return', '', /^an https URL/],
    ['return', '/orders/1', /^an https URL/],
    ['return', 'http://shop.example/', /^an https URL/],
    ['return', 'javascript:alert(1)', /^an https URL/],
    ['return', 'https://bank.example@shop.example/', /^an https URL/],
    ['return', 'https://shop.example/a b', /^an https URL/],
    ['return', 'https://shop.example/\u202e', /^an https URL/],
    ['return', ' https://shop.example/', /^an https URL/],
    ['return', `https://shop.example/${'x'.repeat(returnCharsMax)}`, /^an https URL/],
    ['mark', 'x'.repeat(201), /^at most 200 characters/],
    ['mark', 'two\ncups', /^at most 200 characters/],
    ['mark', 7, /^at most 200 characters/],
  ])('is refused with %s %j', (member, value, why) => {
    const refused = badOrder(2, member, typeof why === 'string' ? why : expect.stringMatching(why))
    expect(parse({ ...tea, order: 'first' }, { ...tea, [member]: value })).toEqual(refused)
  })

  it.each([['by'], ['id'], ['at_least'], ['atleast'], ['address'], ['type'], ['osn']])(
    'is refused with the unknown member %s',
    (member) => {
      expect(parse({ ...tea, [member]: '1' })).toEqual(badOrder(1, 'order', members))
    },
  )

  it('has as many decimals as the currency keeps, without zeros at the end', () => {
    expect(parse({ ...tea, cuy: 3, amt: '2.500', atLeast: '2.400' })).toMatchObject({
      value: [{ amount: 250n, atLeast: 240n }],
    })
    expect(parse({ ...tea, cuy: 3, amt: '2.5', atLeast: '2.401' })).toEqual(
      badOrder(1, 'atLeast', 'at most 2 decimals in COARSE'),
    )
  })

  it('has each order of a user once, in whatever currency, and may have it for two users', () => {
    const twice = badOrder(2, 'order', 'another one for each order of a user')
    expect(parse(tea, { ...tea, cuy: 1 })).toEqual(twice)
    expect(parse(tea, { ...tea, uid: 8 })).toMatchObject({ ok: true })
  })

  it('is a list of 1 to 20 orders', () => {
    const list = {
      ok: false,
      error: { kind: 'bad-input', member: 'orders', why: `an array of 1 to ${ordersMax} orders` },
    }
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...tea, order: `tea ${i}` }))
    expect(parse(...many(20))).toMatchObject({ ok: true })
    for (const wrong of [[], many(21), tea, undefined, null, 'tea', { orders: [tea] }]) {
      expect(parseOrderRequest(wrong, currencies)).toEqual(list)
    }
    for (const wrong of [null, 7, 'tea', [tea]]) expect(parse(tea, wrong)).toEqual(badOrder(2, 'order', members))
  })
})

describe('a cancellation of orders', () => {
  const key = { uid: 7, order: 'tea 1042' }

  it('has their keys, and may have a reason', () => {
    expect(parseOrderCancellation({ orders: [key] })).toEqual({ ok: true, value: { orders: [key], why: '' } })
    const both = { orders: [key, { ...key, uid: 8 }], why: 'sold out' }
    expect(parseOrderCancellation(both)).toEqual({ ok: true, value: both })
  })

  const body = 'an object with orders and optionally why, and nothing else'
  const list = `an array of 1 to ${ordersMax} orders`
  it.each([
    ['a list', [key], 'body', body],
    ['null', null, 'body', body],
    ['another member', { orders: [key], by: 'me' }, 'body', body],
    ['no orders', {}, 'orders', list],
    ['an empty list', { orders: [] }, 'orders', list],
    ['21 orders', { orders: Array.from({ length: 21 }, (_, i) => ({ uid: 7, order: String(i) })) }, 'orders', list],
    ['an empty reason', { orders: [key], why: '' }, 'why', /^1 to 200 characters that can be read/],
    ['a reason that nobody can read', { orders: [key], why: ' \u2800' }, 'why', /^1 to 200 characters/],
    ['a long reason', { orders: [key], why: 'x'.repeat(201) }, 'why', /^1 to 200 characters/],
  ])('is refused where it is or has %s', (_, sent, member, why) => {
    const error = { kind: 'bad-input', member, why: typeof why === 'string' ? why : expect.stringMatching(why) }
    expect(parseOrderCancellation(sent)).toEqual({ ok: false, error })
  })

  it.each([
    [{ uid: reservedUid, order: 'a' }, 'uid', 'a whole number from 1 to 9007199254740990'],
    [{ order: 'a' }, 'uid', /^a whole number/],
    [{ uid: 7, order: '' }, 'order', '1 to 200 printable ASCII characters'],
    [{ uid: 7 }, 'order', '1 to 200 printable ASCII characters'],
    [{ uid: 7, order: 'a', cuy: 2 }, 'order', 'an object with uid and order, and nothing else'],
    [7, 'order', 'an object with uid and order, and nothing else'],
    [key, 'order', 'another one for each order of a user'],
  ])('is refused with %j as its second order', (second, member, why) => {
    const refused = badOrder(2, member, typeof why === 'string' ? why : expect.stringMatching(why))
    expect(parseOrderCancellation({ orders: [key, second] })).toEqual(refused)
  })
})
