import { describe, expect, it } from 'vitest'
import { type CurrencyId, reservedUid } from '../../src/worker/common/ids.ts'
import { isReadableRemark, remarkCharsMax } from '../../src/worker/common/remark.ts'
import { indexCurrencies } from '../../src/worker/ledger/currencies.ts'
import { osnCharsMax } from '../../src/worker/ledger/entry.ts'
import { parsePost, postEntriesMax } from '../../src/worker/ledger/parse-post.ts'
import { trx } from '../support/currencies.ts'

const old = { ...trx, cuy: 3 as CurrencyId, symbol: 'OLD', scale: 2, retired: true }
const currencies = indexCurrencies([trx, { ...trx, cuy: 2 as CurrencyId, symbol: 'USDT' }, old])

const payment = { uid: 7, cuy: 1, type: 4, osn: 'order 1', amt: '-2.5' }
/**
 * Characters without a visible form, and line ends: at least one of each kind that posts refuse.
 */
const invisible = [
  ...[0xad, 0x34f, 0x115f, 0x17b4, 0x180e, 0x200b, 0x2028, 0x2029, 0x2060, 0x2064, 0x3164, 0xfeff, 0xffa0],
  ...[0xe0001, 0xe0041, 0xe007f],
]
/** The characters that turn the direction of text (Unicode's bidirectional controls). */
const turning = [
  ...[0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2066, 0x2067, 0x2068, 0x2069],
]
const parse = (...entries: unknown[]) => parsePost(entries, currencies)
const transfer = (uid: number, amt: string, changes = {}) => ({ ...payment, uid, type: 3, amt, ...changes })

describe('the reason for an action', () => {
  const blank = [0x20, 0xa0, 0x1680, 0x2003, 0x200d, 0x202f, 0x205f, 0x2800, 0x3000, 0xfe0f, 0x13441, 0x13442, 0x1d159]

  it.each(['x', '-', '7', '查', '🍵', ' a\u2800', 'e\u0301'])('can be read: %j', (text) => {
    expect(isReadableRemark(text)).toBe(true)
  })

  it.each([...invisible, ...turning, ...blank, 0x301])('is not U+%s alone, once or often', (code) => {
    const text = String.fromCodePoint(code)
    expect([text, text.repeat(3), ` ${text}`].filter(isReadableRemark)).toEqual([])
  })

  it('is not empty, and not longer than a remark', () => {
    expect(['', 'x'.repeat(remarkCharsMax + 1), 'a\nb'].filter(isReadableRemark)).toEqual([])
  })
})

describe('a post', () => {
  it('has amounts in smallest units and empty marks where none are given', () => {
    expect(parse(payment, { ...payment, type: 5, amt: '2.50', mark: 'back' })).toEqual({
      ok: true,
      value: [
        { uid: 7, cuy: 1, type: 4, osn: 'order 1', amount: -2_500_000n, mark: '' },
        { uid: 7, cuy: 1, type: 5, osn: 'order 1', amount: 2_500_000n, mark: 'back' },
      ],
    })
  })

  it.each([
    ['a withdrawal', [{ ...payment, type: 2 }]],
    ['an adjustment up', [{ ...payment, type: 9, amt: '1' }]],
    ['an adjustment down', [{ ...payment, type: 9 }]],
    ['a transfer', [transfer(7, '-5'), transfer(8, '5')]],
    ['a transfer to several', [transfer(7, '-5'), transfer(8, '2'), transfer(9, '3')]],
    [
      'a transfer in two currencies',
      [transfer(7, '-5'), transfer(8, '5'), transfer(7, '0.01', { cuy: 3 }), transfer(8, '-0.01', { cuy: 3 })],
    ],
    ['a transfer beside a payment', [transfer(7, '-5'), payment, transfer(8, '5')]],
    ['a retired currency', [{ ...payment, cuy: 3, amt: '-0.01' }]],
    ['one order in two wallets', [payment, { ...payment, uid: 8 }, { ...payment, cuy: 2 }]],
    ['the longest osn', [{ ...payment, osn: '~'.repeat(osnCharsMax) }]],
    ['the longest mark, of characters outside the basic plane', [{ ...payment, mark: '🍵'.repeat(remarkCharsMax) }]],
    ['the largest uid', [{ ...payment, uid: reservedUid - 1 }]],
    ['a transfer from the reserved uid', [transfer(reservedUid, '-5'), transfer(8, '5')]],
    ['a mark in a script from right to left', [{ ...payment, mark: 'القهوة 2' }]],
    ['a mark with what joins letters and emoji', [{ ...payment, mark: 'می\u200cخواهم 👩\u200d🍳 ❤\ufe0f' }]],
    ['as many entries as allowed', Array.from({ length: postEntriesMax }, (_, i) => ({ ...payment, osn: `${i}` }))],
  ])('can be %s', (_, entries) => {
    expect(parse(...entries)).toMatchObject({ ok: true, value: { length: entries.length } })
  })

  const uid = 'a whole number from 1 to 9007199254740991'
  const reserved = '9007199254740991 is reserved: it only gives, in transfers (type 3) with a negative amt'
  const cuy = 'one of 1 (TRX), 2 (USDT), 3 (OLD)'
  const type = 'one of 2, 3, 4, 5, 9; only the chain makes entries of type 1'
  const osn = '1 to 200 printable ASCII characters'
  const amt = 'a decimal such as "-2.5", without exponent or plus sign'
  const mark =
    'at most 200 characters, without control characters, invisible ones and those that turn the direction of text'

  it.each<[string, object, string, string]>([
    ['without a uid', { uid: undefined }, 'uid', uid],
    ['of uid 0', { uid: 0 }, 'uid', uid],
    ['of uid 2^53', { uid: 2 ** 53 }, 'uid', uid],
    ['of uid 2^53−1, which is reserved,', { uid: reservedUid }, 'uid', reserved],
    ['of an adjustment of the reserved uid', { uid: reservedUid, type: 9 }, 'uid', reserved],
    ['of a withdrawal of the reserved uid', { uid: reservedUid, type: 2 }, 'uid', reserved],
    ['of a refund to the reserved uid', { uid: reservedUid, type: 5, amt: '1' }, 'uid', reserved],
    ['of a transfer to the reserved uid', { uid: reservedUid, type: 3, amt: '1' }, 'uid', reserved],
    ['of a uid with a fraction', { uid: 1.5 }, 'uid', uid],
    ['of a uid as text', { uid: '7' }, 'uid', uid],
    ['of an unknown currency', { cuy: 9 }, 'cuy', cuy],
    ['of a currency by its symbol', { cuy: 'TRX' }, 'cuy', 'a whole number from 1'],
    ['of type 1', { type: 1 }, 'type', type],
    ['of an unknown type', { type: 6 }, 'type', type],
    ['of a type as text', { type: '4' }, 'type', type],
    ['of a type with the name of a prototype', { type: 'constructor' }, 'type', type],
    ['with an empty osn', { osn: '' }, 'osn', osn],
    ['with an osn that is too long', { osn: 'x'.repeat(osnCharsMax + 1) }, 'osn', osn],
    ['with a control character in its osn', { osn: 'a\nb' }, 'osn', osn],
    ['with another letter in its osn', { osn: 'é' }, 'osn', osn],
    ['with a number for an osn', { osn: 7 }, 'osn', osn],
    ['with a number for an amount', { amt: -2.5 }, 'amt', amt],
    ['with an exponent', { amt: '-25e-1' }, 'amt', amt],
    ['with a plus sign', { type: 5, amt: '+1' }, 'amt', amt],
    ['with too many decimals', { amt: '-0.0000001' }, 'amt', 'at most 6 decimals in TRX'],
    ['with too many decimals of another currency', { cuy: 3, amt: '-0.001' }, 'amt', 'at most 2 decimals in OLD'],
    ['with an amount of 2^53 units', { amt: '-9007199254.740992' }, 'amt', 'at most 9007199254.740991 TRX'],
    ['with the amount 0', { amt: '0' }, 'amt', 'not zero'],
    ['with the amount −0', { amt: '-0.0' }, 'amt', 'not zero'],
    ['of a positive payment', { amt: '2.5' }, 'amt', 'negative for type 4'],
    ['of a positive withdrawal', { type: 2, amt: '2.5' }, 'amt', 'negative for type 2'],
    ['of a negative refund', { type: 5 }, 'amt', 'positive for type 5'],
    ['with a mark that is too long', { mark: 'x'.repeat(remarkCharsMax + 1) }, 'mark', mark],
    ['with a line end in its mark', { mark: 'a\nb' }, 'mark', mark],
    ['with a NUL in its mark', { mark: 'a\0b' }, 'mark', mark],
    ['with a C1 control character in its mark', { mark: 'a\u0085b' }, 'mark', mark],
    ['with half a character in its mark', { mark: '\ud83c' }, 'mark', mark],
    ['with null for a mark', { mark: null }, 'mark', mark],
    ...invisible.map((code): [string, object, string, string] => [
      `with U+${code.toString(16)}, which nobody sees, in its mark`,
      { mark: `paid${String.fromCodePoint(code)}` },
      'mark',
      mark,
    ]),
    ...turning.map((code): [string, object, string, string] => [
      `with U+${code.toString(16)}, which turns the direction of text, in its mark`,
      { mark: `paid${String.fromCodePoint(code)}001` },
      'mark',
      mark,
    ]),
  ])('%s is refused', (_, changes, member, why) => {
    const refusal = { ok: false, error: { kind: 'bad-input', entry: 2, member, why } }
    expect(parse({ ...payment, osn: 'first' }, { ...payment, ...changes })).toEqual(refusal)
  })

  const entry = 'an object with uid, cuy, type, osn, amt and optionally mark, and nothing else'

  it.each([
    ['null', null],
    ['a text', 'payment'],
    ['an array', [payment]],
    ['one with another member', { ...payment, memo: 'x' }],
    ['one with the member __proto__', JSON.parse('{"uid":7,"cuy":1,"type":4,"osn":"o","amt":"-1","__proto__":{}}')],
    ['one with the member constructor', { ...payment, constructor: 1 }],
  ])('with %s for an entry is refused', (_, value) => {
    expect(parse(value)).toEqual({ ok: false, error: { kind: 'bad-input', entry: 1, member: 'entry', why: entry } })
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an object', { 0: payment, length: 1 }],
    ['no entry', []],
    ['too many entries', Array.from({ length: postEntriesMax + 1 }, (_, i) => ({ ...payment, osn: `${i}` }))],
  ])('of %s is refused', (_, value) => {
    const why = 'an array of 1 to 20 entries'
    expect(parsePost(value, currencies)).toEqual({ ok: false, error: { kind: 'bad-input', member: 'entries', why } })
  })

  it.each<[string, object[], number, string, string]>([
    ['a key twice', [payment, { ...payment, amt: '-1' }], 2, 'osn', 'the same uid, cuy, osn and type as entry 1'],
    ['a transfer with one side', [transfer(7, '-5')], 1, 'amt', 'the transfers of a post sum to zero, in TRX to -5'],
    [
      'a transfer that creates money',
      [transfer(7, '-5'), payment, transfer(8, '5.000001')],
      3,
      'amt',
      'the transfers of a post sum to zero, in TRX to 0.000001',
    ],
    [
      'a transfer to another currency',
      [transfer(7, '-5'), transfer(8, '5', { cuy: 2 })],
      1,
      'amt',
      'the transfers of a post sum to zero, in TRX to -5',
    ],
    [
      'a transfer under two osns',
      [transfer(7, '-5'), transfer(8, '5', { osn: 'order 2' })],
      2,
      'osn',
      'the same for all transfers (type 3) of a post',
    ],
  ])('with %s is refused', (_, entries, number, member, why) => {
    expect(parse(...entries)).toEqual({ ok: false, error: { kind: 'bad-input', entry: number, member, why } })
  })
})
