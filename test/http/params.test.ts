import { describe, expect, test } from 'vitest'
import { formatBase58 } from '../../src/addresses/address.ts'
import {
  osnCharsMax,
  pageRowsDefault,
  pageRowsMax,
  paramCharsMax,
  parseBalanceQuery,
  parseFlowListQuery,
  parseGenerateQuery,
  parseRechargeQuery,
} from '../../src/http/params.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import { fine, trx } from './app-harness.ts'

const currencies = indexCurrencies([fine, trx])
const base = 'https://wallet.example/x?'
const generate = (query: string) => parseGenerateQuery(base + query)
const balance = (query: string) => parseBalanceQuery(base + query, currencies)
const recharge = (query: string) => parseRechargeQuery(base + query)
const flows = (query: string) => parseFlowListQuery(base + query, currencies)

const address = 'aa'.repeat(20)
const written = formatBase58(address as Parameters<typeof formatBase58>[0])
const txid = 'ab'.repeat(32)
const refused = (field: string, why: string) => ({ ok: false, error: { kind: 'bad-input', field, why } })

/** What no whole number from 1 is, whatever its bound. `+` is a space once decoded, `%2B` is the sign. */
const notWhole: [string, string][] = [
  ['empty', ''],
  ['zero', '0'],
  ['a leading zero', '01'],
  ['a sign', '%2B1'],
  ['a space in front', '+1'],
  ['a space behind', '1+'],
  ['a minus', '-1'],
  ['an exponent', '1e1'],
  ['a decimal point', '1.0'],
  ['hex', '0x1'],
  ['a comma', '1,0'],
  ['an underscore', '1_0'],
  ['an Arabic digit', '%D9%A1'],
  ['a full-width digit', '%EF%BC%91'],
  ['a look-alike letter', 'l'],
  ['a word', 'NaN'],
  ['a line end', '1%0A'],
  ['a NUL', '1%00'],
  ['broken percent coding', '%zz'],
  ['2^53', '9007199254740992'],
  ['too long', '1'.repeat(paramCharsMax + 1)],
]

describe('fresh and format', () => {
  test.each([
    ['', { fresh: false, format: 'base58' }],
    ['fresh=0', { fresh: false, format: 'base58' }],
    ['fresh=1', { fresh: true, format: 'base58' }],
    ['format=number', { fresh: false, format: 'number' }],
    ['format=hex&fresh=1', { fresh: true, format: 'hex' }],
    ['format=base58&other=1&other=2', { fresh: false, format: 'base58' }],
    ['FRESH=1&Format=hex', { fresh: false, format: 'base58' }],
  ])('takes "%s"', (query, value) => {
    expect(generate(query)).toEqual({ ok: true, value })
  })

  test.each(['fresh=', 'fresh', 'fresh=2', 'fresh=true', 'fresh=01', 'fresh=1+', 'fresh=%D9%A1'])(
    'refuses "%s"',
    (query) => {
      expect(generate(query)).toEqual(refused('fresh', 'one of 0, 1'))
    },
  )

  test.each(['format=', 'format=HEX', 'format=base64', 'format=hex,number', 'format=toString'])(
    'refuses "%s"',
    (query) => {
      expect(generate(query)).toEqual(refused('format', 'one of base58, number, hex'))
    },
  )

  test.each(['fresh=1&fresh=1', 'fresh=0&fresh=1', 'fresh=&fresh=1'])('refuses "%s": given twice', (query) => {
    expect(generate(query)).toEqual(refused('fresh', 'one of 0, 1, given once'))
  })
})

describe('cuy and address of a balance', () => {
  test('are TRX and all of the caller’s addresses where not given', () => {
    expect(balance('')).toEqual({ ok: true, value: { currency: trx, address: null } })
  })

  test('are a configured currency and one address', () => {
    expect(balance(`cuy=2&address=${written}`)).toEqual({ ok: true, value: { currency: fine, address } })
  })

  test.each([...notWhole, ['a currency that is not configured', '3'], ['a symbol', 'TRX']])(
    'refuses a cuy with %s',
    (_what, value) => {
      expect(balance(`cuy=${value}`)).toEqual(refused('cuy', 'one of 1 (TRX), 2 (FINE), given at most once'))
    },
  )

  test('refuses cuy given twice', () => {
    expect(balance('cuy=1&cuy=1')).toEqual(refused('cuy', 'one of 1 (TRX), 2 (FINE), given at most once'))
  })

  test('asks for a cuy where currency 1 is not configured', () => {
    expect(parseBalanceQuery(base, indexCurrencies([fine]))).toEqual(
      refused('cuy', 'one of 2 (FINE), given at most once'),
    )
  })

  test.each([
    ['empty', ''],
    ['one character changed', `${written.slice(0, -1)}${written.endsWith('z') ? 'y' : 'z'}`],
    ['a look-alike letter', written.replace(/.$/, 'l')],
    ['hex', `41${address}`],
    ['lower case', written.toLowerCase()],
    ['a space behind', `${written}+`],
    ['two in one', `${written},${written}`],
    ['too long', 'T'.repeat(paramCharsMax + 1)],
  ])('refuses an address with %s', (_what, value) => {
    expect(balance(`address=${value}`)).toEqual(refused('address', 'an address of 34 characters, T first'))
  })
})

describe('txid', () => {
  test.each([
    ['', null],
    [`txid=${txid}`, txid],
    [`txid=0x${txid}`, txid],
    [`txid=0X${txid.toUpperCase()}`, txid],
  ])('takes "%s"', (query, value) => {
    expect(recharge(query)).toEqual({ ok: true, value })
  })

  test.each([
    ['empty', ''],
    ['63 digits', txid.slice(1)],
    ['65 digits', `${txid}a`],
    ['a look-alike letter', `${txid.slice(1)}O`],
    ['0x alone', '0x'],
    ['0x twice', `0x0x${txid}`],
    ['a space behind', `${txid}+`],
    ['a position', `${txid}:0`],
    ['far too many', 'a'.repeat(100_000)],
  ])('refuses one with %s', (_what, value) => {
    expect(recharge(`txid=${value}`)).toEqual(refused('txid', '64 hex digits, 0x allowed in front'))
  })

  test('refuses it given twice, even if both are the same', () => {
    expect(recharge(`txid=${txid}&txid=${txid}`)).toEqual(
      refused('txid', '64 hex digits, 0x allowed in front, given once'),
    )
  })
})

describe('the ledger list', () => {
  const noFilter = { cuy: null, wid: null, type: null, osn: null, from: null, to: null }

  test('is the first page of all entries where nothing is given', () => {
    const value = { filter: noFilter, page: { kind: 'number', page: 1, limit: pageRowsDefault } }
    expect(flows('')).toEqual({ ok: true, value })
    expect(flows('Limit=1&limit[]=2&unknown=')).toEqual({ ok: true, value })
  })

  test('takes everything at once', () => {
    const from = '2026-11-01T00:00:00Z'
    const to = '2026-11-02T00:00:00.001%2B02:00'
    expect(flows(`before=9&limit=${pageRowsMax}&cuy=2&wid=3&type=9&osn=${txid}:1&from=${from}&to=${to}`)).toEqual({
      ok: true,
      value: {
        filter: {
          cuy: 2,
          wid: 3,
          type: 9,
          osn: `${txid}:1`,
          from: Date.UTC(2026, 10, 1),
          to: Date.UTC(2026, 10, 1, 22, 0, 0, 1),
        },
        page: { kind: 'before', before: 9, limit: pageRowsMax },
      },
    })
  })

  test.each([
    ['page', 'a whole number from 1 to 9007199254740991'],
    ['before', 'a whole number from 1 to 9007199254740991'],
    ['wid', 'a whole number from 1 to 9007199254740991'],
    ['limit', `a whole number from 1 to ${pageRowsMax}`],
    ['type', 'one of 1, 2, 3, 4, 5, 9'],
    ['cuy', 'one of 1 (TRX), 2 (FINE), given at most once'],
  ])('refuses a bad %s and says what it takes', (name, takes) => {
    for (const [, value] of notWhole) expect(flows(`${name}=${value}`)).toEqual(refused(name, takes))
    const twice = name === 'cuy' ? takes : `${takes}, given once`
    expect(flows(`${name}=1&${name}=1`)).toEqual(refused(name, twice))
    expect(flows(`${name}=1&${name}=`)).toEqual(refused(name, twice))
  })

  test.each(['6', '7', '8', '10', 'recharge'])('refuses type %s', (type) => {
    expect(flows(`type=${type}`)).toEqual(refused('type', 'one of 1, 2, 3, 4, 5, 9'))
  })

  test(`refuses a limit past ${pageRowsMax}`, () => {
    expect(flows(`limit=${pageRowsMax + 1}`)).toEqual(refused('limit', `a whole number from 1 to ${pageRowsMax}`))
  })

  test.each(['page', 'before', 'wid'])('takes a %s of 2^53−1', (name) => {
    expect(flows(`${name}=9007199254740991`)).toMatchObject({ ok: true })
  })

  test('never asks for a page whose first row has a number past 2^53', () => {
    const farPage = flows(`page=9007199254740991&limit=${pageRowsMax}`)
    if (!farPage.ok || farPage.value.page.kind !== 'number') throw new Error('a page by number was expected')
    expect(farPage.value.page.page * farPage.value.page.limit).toBeLessThan(Number.MAX_SAFE_INTEGER)
  })

  test('refuses page and before together', () => {
    expect(flows('page=1&before=9')).toEqual(refused('page', 'not together with before'))
  })

  test.each([
    [txid, txid],
    [txid.toUpperCase(), txid],
    [`0x${txid}`, txid],
    [`${txid}:0`, `${txid}:0`],
    ['order%207', 'order 7'],
    ['x'.repeat(osnCharsMax), 'x'.repeat(osnCharsMax)],
  ])('looks for the osn %s', (given, osn) => {
    expect(flows(`osn=${given}`)).toMatchObject({ ok: true, value: { filter: { osn } } })
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(osnCharsMax + 1)],
    ['with a NUL', 'a%00b'],
    ['with a line end', 'a%0Ab'],
    ['with other letters', '%C3%A9'],
  ])('refuses an osn that is %s', (_what, given) => {
    const why = `a serial reference or txid of at most ${osnCharsMax} plain characters`
    expect(flows(`osn=${given}`)).toEqual(refused('osn', why))
  })

  test.each([
    ['2026-11-01T00:00:00Z', Date.UTC(2026, 10, 1)],
    ['2026-11-01T00:00Z', Date.UTC(2026, 10, 1)],
    ['2026-11-01T00:00:00.5Z', Date.UTC(2026, 10, 1, 0, 0, 0, 500)],
    ['2026-11-01T00:00:00.123-03:30', Date.UTC(2026, 10, 1, 3, 30, 0, 123)],
    ['2028-02-29T23:59:59.999Z', Date.UTC(2028, 1, 29, 23, 59, 59, 999)],
    ['0000-01-01T00:00:00Z', Date.parse('0000-01-01T00:00:00Z')],
  ])('reads the instant %s', (given, from) => {
    expect(flows(`from=${given}`)).toMatchObject({ ok: true, value: { filter: { from, to: null } } })
  })

  test.each([
    ['empty', ''],
    ['a date alone', '2026-11-01'],
    ['no zone', '2026-11-01T00:00:00'],
    ['a bare + (a space, decoded)', '2026-11-01T00:00:00+02:00'],
    ['a day that is not there', '2026-04-31T00:00:00Z'],
    ['29 February of an odd year', '2026-02-29T00:00:00Z'],
    ['month 13', '2026-13-01T00:00:00Z'],
    ['day 0', '2026-11-00T00:00:00Z'],
    ['hour 24', '2026-11-01T24:00:00Z'],
    ['minute 60', '2026-11-01T00:60:00Z'],
    ['a leap second', '2026-12-31T23:59:60Z'],
    ['zone 24:00', '2026-11-01T00:00:00%2B24:00'],
    ['microseconds', '2026-11-01T00:00:00.000001Z'],
    ['small letters', '2026-11-01t00:00:00z'],
    ['a space for T', '2026-11-01%2000:00:00Z'],
    ['five digits of year', '12026-11-01T00:00:00Z'],
    ['a number', '1790000000000'],
    ['words', 'yesterday'],
    ['too much', `${'0'.repeat(paramCharsMax)}2026-11-01T00:00:00Z`],
  ])('refuses an instant with %s', (_what, given) => {
    const why = 'an instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'
    expect(flows(`from=${given}`)).toEqual(refused('from', why))
    expect(flows(`to=${given}`)).toEqual(refused('to', why))
  })
})
