import { describe, expect, it, test } from 'vitest'
import { isRemark } from '../../../src/worker/common/remark.ts'
import { createDocument, documentedOperations } from '../../../src/worker/http/openapi/document.ts'

interface Schema {
  readonly oneOf?: readonly Schema[]
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

const document = JSON.parse(JSON.stringify(createDocument('0.0.0'))) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters: readonly Named[] } }>>
}
type Named = { readonly name?: string; readonly schema?: Schema }

const parametersOf = (path: string) => document.paths[path]?.get?.parameters ?? []
const named = (name: string): Schema => document.components.schemas[name] ?? {}
const resolved = ({ $ref = '' }: Schema = {}) => named($ref.replace(/.*\//, ''))
const member = (schema: Schema, name: string): Schema => schema.properties?.[name] ?? {}
const formOf = (schema: Schema) => new RegExp(schema.pattern ?? 'none', 'u')
const fits = (schema: Schema, text: string) =>
  formOf(schema).test(text) && text.length <= (schema.maxLength ?? Number.POSITIVE_INFINITY)
const textOf = (schema?: Schema) => resolved(resolved(schema).oneOf?.[0])

describe('an entry to post', () => {
  const [take = {}, transfer = {}, give = {}] = (named('EntryToPost').oneOf ?? []).map(resolved)

  it('is one that takes, a transfer that does, also from the owner of reserved addresses, or one that gives', () => {
    const shown = [take, transfer, give].map(({ properties: { type, uid } = {} }) => [
      resolved(type).enum ?? [type?.minimum, type?.maximum],
      uid?.maximum,
    ])
    expect(shown).toEqual([
      [[2, 4, 9], Number.MAX_SAFE_INTEGER - 1],
      [[3, 3], Number.MAX_SAFE_INTEGER],
      [[3, 5, 9], Number.MAX_SAFE_INTEGER - 1],
    ])
  })

  test.each([
    ['takes', textOf(take.properties?.amt), ['-2.5', '-25', '-0.000001', '-1.0000000000'], ['2.5', '-0', '-0.00']],
    [
      'gives',
      textOf(give.properties?.amt),
      ['2.5', '25', '007', '9007199254740991', '00.10', '0.00000001000'],
      ['-2.5', '0', '0.00', '', '0.000000001'],
    ],
    ['is moved', textOf(transfer.properties?.amt), ['-2.5'], ['2.5']],
  ])('that %s has an amount of its sign', (_, amt, good, bad) => {
    const never = ['', '-', '1e3', '+1', '.5', '1.', '1.123456789', '12345678901234567', `1.1${'0'.repeat(80)}`]
    expect(good.filter((text) => !fits(amt, text))).toEqual([])
    expect([...bad, ...never].filter((text) => fits(amt, text))).toEqual([])
  })
})

it('has a payout with a positive amount, and a fee that can be 0', () => {
  const { amt, fee } = named('PayoutToAsk').properties ?? {}
  expect(['2.5', '0', '0.0', '-2.5'].filter((text) => fits(textOf(amt), text))).toEqual(['2.5'])
  expect(['2.5', '0', '0.0', '-2.5'].filter((text) => fits(textOf(fee), text))).toEqual(['2.5', '0', '0.0'])
})

describe('a remark', () => {
  const remarks = {
    'the mark of an entry': [member(named('EntryToTake'), 'mark'), 0],
    'the mark of a payout': [member(named('PayoutToAsk'), 'mark'), 0],
    'the reason of a decision': [member(named('DecisionToMake'), 'why'), 1],
    'the mark of an order': [member(named('OrderToAsk'), 'mark'), 0],
    'the reason of a cancellation': [member(named('CancelPayoutsRequest'), 'why'), 1],
    'the reason for cancelling an order': [member(named('CancelOrdersRequest'), 'why'), 1],
  } as const

  test.each(Object.entries(remarks))(
    '%s takes each character that the service takes, and none of one byte that it does not',
    (_, [schema, least]) => {
      const form = formOf(schema)
      const refused: string[] = []
      const taken: string[] = []
      for (let code = 0; code <= 0x10ffff; code += 1) {
        const isSurrogate = code >= 0xd800 && code <= 0xdfff // half of a pair: no character, and not possible in UTF-8
        const text = String.fromCodePoint(code)
        if (isSurrogate || form.test(text) === isRemark(text)) continue
        const differing = isRemark(text) ? refused : taken
        differing.push(code.toString(16))
      }
      expect([refused, taken.filter((code) => code.length < 3)]).toEqual([[], []])
      expect(schema.description).toMatch(/Without control characters, invisible ones and those that turn the direction/)
      expect([schema.minLength ?? 0, schema.maxLength]).toEqual([least, 200])
    },
  )
})

it('has an order with positive amounts, an instant with a zone, and a URL of printable characters', () => {
  const { amt, atLeast, until = {}, return: back = {} } = named('OrderToAsk').properties ?? {}
  for (const amount of [amt, atLeast])
    expect(['2.5', '0', '-2.5'].filter((text) => fits(textOf(amount), text))).toEqual(['2.5'])
  expect(['2026-12-01T00:00:00Z', '2026-12-01', '1796083200'].filter((text) => fits(until, text))).toHaveLength(1)
  expect(['https://a.example/x', 'https://a.example/ x', ''].filter((text) => fits(back, text))).toHaveLength(1)
})

it('says of a list in a request that it has no item twice', () => {
  const lists = documentedOperations().flatMap(
    // the items of `/signed` are answered one by one
    ({ operation: { body }, path }) => (body === undefined || path.endsWith('/signed') ? [] : [path]),
  )
  const bodies = [
    'PostEntriesRequest',
    'AskPayoutsRequest',
    'DecideDepositsRequest',
    'ApprovePayoutsRequest',
    'CancelPayoutsRequest',
    'AskOrdersRequest',
    'CancelOrdersRequest',
  ]
  const list = (name: string) => Object.values(named(name).properties ?? {}).find(({ items }) => items !== undefined)
  expect(bodies).toHaveLength(lists.length)
  for (const name of bodies)
    expect([name, list(name)?.description]).toEqual([name, expect.stringMatching(/Each once\.$/)])
})

it('has instants of days that exist', () => {
  const from = parametersOf('/wallet/flow/list').find(({ name }) => name === 'from')?.schema ?? {}
  const good = ['2026-11-01T00:00Z', '2024-02-29T23:59:59.999+08:00', '2000-02-29T00:00:00Z']
  const bad = ['2026-04-31T00:00Z', '2026-02-29T00:00Z', '1900-02-29T00:00Z', '2026-13-01T00:00Z', '2026-11-01T24:00Z']
  expect([...good, ...bad].filter((text) => fits(from, text))).toEqual(good)
})
