import { describe, expect, it } from 'vitest'
import { readOrderClaim } from '../../src/pages/deposit/claim.ts'
import { type PayerOrder, readPayerOrder } from '../../src/pages/deposit/data.ts'
import { backOf, progressOf } from '../../src/pages/deposit/order.ts'
import { parseExact } from '../../src/pages/kit/read.ts'
import { exact } from './scripted-service.ts'
import { order, standing, type ToldOrder, transfer } from './story.ts'

const shop = 'https://shop.example'
const back = `${shop}/orders/1041?paid=1`
const ownAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'
const usdt = {
  cuy: 2,
  symbol: 'USDT',
  name: '',
  decimals: 6,
  minDeposit: null,
  contract: 'T',
  retired: false,
  scale: 6,
  open: true,
}
const listOf = (...orders: object[]) =>
  parseExact(JSON.stringify({ list: orders, count: orders.length }).replaceAll(/"#(-?[\d.]+)#"/g, '$1'))
/** An order as the page reads it, where these are the user's transfers. */
const read = (members: Partial<ToldOrder>, transfers: object[] = []): PayerOrder => {
  const found = readPayerOrder(listOf(standing(order(members), transfers as { id: number }[]))) // safe: made by `transfer`
  if (found === null) throw new Error('no order was read')
  return found
}

describe('the claim of an order', () => {
  it.each<[string, object | null, string | null]>([
    ['a text', { order: 'A-1041' }, 'A-1041'],
    ['a number', { order: 1041 }, '1041'],
    ['the longest text', { order: 'x'.repeat(200) }, 'x'.repeat(200)],
    ['no order', { sub: '7' }, null],
    ['no token', null, null],
  ])('is read: %s', (_what, given, reference) => {
    expect(readOrderClaim(given as Record<string, unknown> | null)).toEqual({ order: reference, fault: null })
  })

  it.each<[string, object, string]>([
    ...['', 'x'.repeat(201), 'a\nb', '订单', null, {}, 1.5, true, ['1041']].map((one): [string, object, string] => [
      JSON.stringify(one),
      { order: one },
      'the claim `order` is no text of 1 to 200 ASCII characters',
    ]),
    ['the claim of before', { deposit: { cuy: 2, amt: '25' } }, 'POST /ledger/orders'],
    ['the claim of before beside an order', { order: '1041', deposit: null }, 'name it in the claim `order`'],
  ])('of another form is named, and asks for nothing: %s', (_what, given, fault) => {
    expect(readOrderClaim(given as Record<string, unknown>)).toEqual({
      order: null,
      fault: expect.stringContaining(fault),
    })
  })
})

describe('an order', () => {
  it('is read digit by digit, and is null where the user has none', () => {
    expect(read({ amt: '9007199254.740993' }).amt).toBe('9007199254.740993')
    expect(readPayerOrder(listOf())).toBeNull()
  })

  it.each([
    'http://shop.example/',
    'https://shop.example.evil.example/',
    'https://other.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//shop.example/',
    '/orders',
    'https://shop.example@evil.example/',
    'http://localhost:3001/orders',
    'http://localhost.example:3000/orders',
    'http://10.0.0.1:3000/orders',
  ])('leads back to no other place than an https page of PAGE_ORIGINS, or one of this machine: %s', (url) => {
    const origins = [shop, 'http://localhost:3000', 'http://localhost.example:3000', 'http://10.0.0.1:3000']
    expect(backOf(read({ return: url }), origins)).toBeNull()
  })

  it.each([back, 'http://localhost:3000/orders', 'http://127.0.0.1:8791/orders/1', 'http://[::1]:8080/'])(
    'leads back to a page of PAGE_ORIGINS, and to one of this machine without https: %s',
    (url) => {
      expect(backOf(read({ return: url }), [new URL(url).origin])).toBe(url)
    },
  )

  const before = Date.parse('2098-12-31T23:59:59.999Z')
  it.each<[string, [string, string, object?][], Partial<ToldOrder>, string]>([
    ['nothing', [], {}, 'waiting, 25 missing'],
    ['a part', [['credited', '20']], {}, 'partly, 5 missing, 20 credited'],
    [
      'a part, and another one on its way',
      [
        ['credited', '20'],
        ['seen', '3'],
      ],
      {},
      'partly, 2 missing, 20 credited, 3 seen',
    ],
    ['all of it on its way', [['seen', '25']], {}, 'coming, 25 seen'],
    ['all of it held', [['held', '25']], {}, 'coming, 25 seen, held'],
    [
      'all of it',
      [
        ['credited', '20'],
        ['credited', '5'],
      ],
      {},
      'paid, 25 credited',
    ],
    [
      'more',
      [
        ['credited', '20'],
        ['credited', '5.000001'],
      ],
      {},
      'paid, 25.000001 credited, 0.000001 over',
    ],
    [
      'too little by the smallest unit',
      [['credited', '24.999999']],
      {},
      'partly, 0.000001 missing, 24.999999 credited',
    ],
    ['as much as is enough', [['credited', '24']], { at_least: '24' }, 'paid, 1 missing, 24 credited'],
    ['as much as is enough, on its way', [['seen', '24']], { at_least: '24' }, 'coming, 1 missing, 24 seen'],
    ['less than is enough', [['credited', '23.9']], { at_least: '24' }, 'partly, 1.1 missing, 23.9 credited'],
    [
      'what brought nothing',
      [
        ['refused', '25'],
        ['dropped', '25'],
      ],
      {},
      'waiting, 25 missing',
    ],
    ['another currency', [['credited', '25', { cuy: 1 }]], {}, 'waiting, 25 missing'],
    ['another address', [['credited', '25', { address: ownAddress }]], {}, 'waiting, 25 missing'],
    ['nothing until it ends', [], { until: new Date(before).toISOString() }, 'ended, 25 missing'],
    ['a part until it ends', [['credited', '20']], { state: 'expired' }, 'ended, 5 missing, 20 credited'],
    ['all of it on its way when it ends', [['seen', '25']], { state: 'expired' }, 'coming, 25 seen'],
    ['all of it after it has ended', [['credited', '25']], { state: 'expired' }, 'paid, 25 credited'],
    ['money for a cancelled one', [['credited', '25']], { state: 'cancelled' }, 'cancelled, 25 missing'],
  ])('counts %s', (_what, transfers, members, expected) => {
    const all = transfers.map(([state, amount, more], n) => transfer(n, state, { amt: exact(amount), ...more }))
    const { phase, credited, seen, missing, over, isHeld } = progressOf(read(members, all), usdt, before)
    const parts = { missing, credited, seen, over }
    const named = Object.entries(parts).flatMap(([name, amount]) => (amount === '0' ? [] : [`${amount} ${name}`]))
    expect([phase, ...named, ...(isHeld ? ['held'] : [])].join(', ')).toBe(expected)
  })

  it('counts nothing that is on its way while its currency is closed', () => {
    const seen = [transfer(4, 'seen')]
    expect(progressOf(read({}, seen), { ...usdt, open: false }, before).phase).toBe('waiting')
  })
})
