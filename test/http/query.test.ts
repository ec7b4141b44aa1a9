import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { CurrencyId } from '../../src/worker/common/ids.ts'
import { choiceParam, idParam, paramCharsMax, wholeNumber } from '../../src/worker/http/query.ts'
import { parseUrl } from '../support/parse-url.ts'

const bad = (field: string, why: string) => ({ ok: false, error: { kind: 'bad-input', field, why } })

/** Values that are no whole number from 1 on. In a query `+` means a space, and `%2B` the sign. */
const notWhole: [string, string][] = [
  ['empty', ''],
  ['zero', '0'],
  ['with a leading zero', '01'],
  ['with a sign', '%2B1'],
  ['preceded by a space', '+1'],
  ['followed by a space', '1+'],
  ['negative', '-1'],
  ['with an exponent', '1e1'],
  ['with a decimal point', '1.0'],
  ['in hex', '0x1'],
  ['with a comma', '1,0'],
  ['with an underscore', '1_0'],
  ['an Arabic digit', '%D9%A1'],
  ['a full-width digit', '%EF%BC%91'],
  ['a look-alike letter', 'l'],
  ['a word', 'NaN'],
  ['with a line end', '1%0A'],
  ['with a NUL', '1%00'],
  ['with an invalid percent encoding', '%zz'],
  ['2^53', '9007199254740992'],
  ['too long', '1'.repeat(paramCharsMax + 1)],
]

describe('a whole number', () => {
  const schema = z.object({ id: z.optional(wholeNumber()), limit: z.optional(wholeNumber(100)) })
  const takes = 'a whole number from 1 to 9007199254740991'

  test.each([
    ['?id=1', 1],
    ['?id=9007199254740991', Number.MAX_SAFE_INTEGER],
    ['?id=%31', 1],
    ['', undefined],
    ['?', undefined],
  ])('of "%s" is %s', (query, id) => {
    expect(parseUrl(schema, query)).toEqual({ ok: true, value: id === undefined ? {} : { id } })
  })

  test.each(notWhole)('is refused where it is %s', (_what, value) => {
    expect(parseUrl(schema, `?id=${value}`)).toEqual(bad('id', takes))
  })

  test('is refused past its maximum', () => {
    expect(parseUrl(schema, `?limit=100`)).toMatchObject({ ok: true })
    expect(parseUrl(schema, `?limit=101`)).toEqual(bad('limit', 'a whole number from 1 to 100'))
  })
})

describe('a parameter', () => {
  const schema = z.object({ fresh: z.optional(choiceParam(['0', '1'])) })
  const takes = 'one of 0, 1'

  test.each(['other=1&other=2', 'FRESH=2', 'fresh[]=2', '__proto__=1', '=', '&&'])(
    'that the route does not have is ignored: %s',
    (query) => {
      expect(parseUrl(schema, `?${query}`)).toEqual({ ok: true, value: {} })
    },
  )

  test.each(['fresh=', 'fresh', 'fresh=2', 'fresh=true', 'fresh=01', 'fresh=1+', 'fresh=toString'])(
    'with another value is refused: %s',
    (query) => {
      expect(parseUrl(schema, `?${query}`)).toEqual(bad('fresh', takes))
    },
  )

  test.each(['fresh=1&fresh=1', 'fresh=0&fresh=1', 'fresh=&fresh=1', 'fresh=1&%66resh=1'])(
    'that is given twice is refused: %s',
    (query) => {
      expect(parseUrl(schema, `?${query}`)).toEqual(bad('fresh', `${takes}, given once`))
    },
  )
})

describe('a currency', () => {
  const schema = z.object({ cuy: z.optional(idParam<CurrencyId>()) })
  const takes = 'one of 1 (TRX), 2 (FINE), given at most once'

  test('is one that is configured', () => {
    expect(parseUrl(schema, '?cuy=2')).toEqual({ ok: true, value: { cuy: 2 } })
    expect(parseUrl(schema, '?cuy=3')).toEqual(bad('cuy', takes))
  })

  test.each([
    ['empty', ''],
    ['a symbol', 'TRX'],
    ['given twice', '1&cuy=1'],
  ])('is refused with the list of currencies where it is %s', (_what, value) => {
    expect(parseUrl(schema, `?cuy=${value}`)).toEqual(bad('cuy', takes))
  })
})
