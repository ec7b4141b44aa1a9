import { describe, expect, it } from 'vitest'
import { fragmentOf, parseQuestion, partAt, questionAt } from '../../src/pages/desk/place.ts'
import { payAddress, txidOf } from './story.ts'

const parse = (text: string) => parseQuestion(text, ['TRX', 'USDT', 'T2'])
const user = (uid: number) => ({ kind: 'user', uid })
const order = (osn: string, uid: number | null = null) => ({ kind: 'order', uid, osn })
const part = (begin: string, end = '') => ({ kind: 'part', begin, end })
const amount = (of: string, symbol = '') => ({ kind: 'amount', amount: of, symbol })

describe('the box takes', () => {
  it.each([
    ['7', user(7)],
    ['#7', user(7)],
    [' user 7 ', user(7)],
    ['User #7', user(7)],
    ['uid 7', user(7)],
    ['用户 7', user(7)],
    ['用户7', user(7)],
    ['007', order('007')],
    ['7 order-1001', order('order-1001', 7)],
    ['#7 order-1001', order('order-1001', 7)],
    ['user 7 two words', order('two words', 7)],
    ['order-1001', order('order-1001')],
    ['#117-b', order('#117-b')],
    ['osn 7', order('7')],
    ['61 TRX', amount('61', 'TRX')],
    ['61trx', amount('61', 'TRX')],
    ['USDT 1,000.5', amount('1000.5', 'USDT')],
    ['0.25', amount('0.25')],
    ['2,000,000 usdt', amount('2000000', 'USDT')],
    ['61 EUR', order('EUR', 61)],
    ['trx', order('trx')],
    ['5t2', amount('5', 'T2')],
    ['1.2.3', order('1.2.3')],
    ['25,00 USDT', amount('25.00', 'USDT')],
    ['25,5', amount('25.5')],
    ['1.000,50 USDT', amount('1000.50', 'USDT')],
    ['1 000,50 usdt', amount('1000.50', 'USDT')],
    ['1\u00a0000\u00a0000 TRX', amount('1000000', 'TRX')],
    ["1'000.5 TRX", amount('1000.5', 'TRX')],
    ['1.000.000 TRX', amount('1000000', 'TRX')],
    ['1,000 TRX', amount('1000', 'TRX')],
    ['25,00,00 TRX', order('25,00,00 TRX')],
    ['TWer2Y…GZmaL6', part('TWer2Y', 'GZmaL6')],
    ['TWer2Y...GZmaL6', part('TWer2Y', 'GZmaL6')],
    ['TWer2Y .. GZmaL6', part('TWer2Y', 'GZmaL6')],
    ['TWer2Y GZmaL6', part('TWer2Y', 'GZmaL6')],
    ['TWer2Y…', part('TWer2Y')],
    ['CCF493…938420', part('ccf493', '938420')],
    ['0xccf493…938420', part('ccf493', '938420')],
    ['ccf493 938420', part('ccf493', '938420')],
    ['123456…938420', part('123456', '938420')],
    ['123456 938420', order('938420', 123456)],
    ['TWer2Y', order('TWer2Y')],
    ['payout 12', { kind: 'payout', number: 12 }],
    [`see ${payAddress}, please`, { kind: 'address', address: payAddress }],
    [`https://tronscan.org/#/transaction/${txidOf(8)}`, { kind: 'tx', txid: txidOf(8) }],
  ])('%s', (text, question) => {
    expect(parse(text)).toEqual(question)
  })
})

it.each([
  ['TWer2Y', part('TWer2Y')],
  ['0xCCF493', part('ccf493')],
  [' ccf493 ', part('ccf493')],
  ['TWer2', null],
  ['ccf49', null],
  ['order-1001', null],
  [payAddress, null],
])('%s begins an address or a txid', (text, question) => {
  expect(partAt(text)).toEqual(question)
})

it.each([
  '7',
  '7 order-1001',
  'order-1001',
  'osn 7',
  'osn #117',
  'payout 12',
  'gap 5',
  'TWer2Y…mZaL6',
  payAddress,
  txidOf(8),
])('the address of the story of %s asks the same', (text) => {
  const question = parse(text)
  expect(parse(questionAt(fragmentOf(question)) ?? '')).toEqual(question)
})
