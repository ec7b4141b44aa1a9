import * as z from 'zod/mini'
import { internalPositionForm } from '../../chain/block.ts'
import { amountCharsMax, amountMax } from '../../common/amount.ts'
import { reasons } from '../../common/reasons.ts'
import { remarkCharsMax } from '../../ledger/parse-post.ts'
import { successMsg } from '../envelope.ts'
import type { Problem } from '../errors.ts'

// Building blocks of the routes' documentation. Only `openapi/` calls functions that use them, so the Worker's bundle has none of them (decision note 18).

/** The state of the service and the chain before the request of an example. The test that replays the examples sets up each of these states. */
export type Situation =
  | 'a new caller'
  | 'no token'
  | 'a token without a scope'
  | 'a token that only reads'
  | 'an address'
  | 'a reserved address'
  | 'twenty addresses without a deposit'
  | 'no issue of addresses'
  | 'two deposits, not scanned yet'
  | 'two deposits, credited'
  | 'two deposits and a payment'
  | 'a deposit that is held for review'
  | 'a deposit that is held for review, of a sender that is an operator by now'
  | 'a deposit that was looked at'
  | 'two deposits that are not final'
  | 'two deposits that are not final, late'
  | 'a transaction of each kind'
  | 'a deposit that was credited to somebody else'
  | 'nodes that disagree'
  | 'a chain that has forked'
  | 'nodes that do not respond'
  | 'an address and nodes that do not respond'
  | 'no requests to nodes'
  | 'an address and no requests to nodes'
  | 'no requests for callers'
  | 'an address and no requests for callers'
  | 'no requests for this caller'
  | 'an address and no requests for this caller'
  | 'token signing keys that cannot be fetched'
  | 'no configuration'
  | 'a configuration that differs'
  | 'a scanner whose configuration differs'
  | 'a deployment'
  | 'a key that was used'
  | 'a start that is not final'
  | 'no database'
  | 'a database that is away'
  | 'a rate limit that is reached'
  | 'no scan for four minutes'
  | 'three databases'
  | 'a payment by another backend'
  | 'a payout that waits and an approved one'
  | 'a cancelled payout'
  | 'a signed payout'
  | 'a stuck payout that has moved money'
  | 'a transaction of the payout address that no payout names'

/** A request of an example, the state before it, and a name for the case that it shows. */
export interface Sent {
  readonly name: string
  readonly given: Situation
  /** Including the question mark; empty if there is no query. */
  readonly query?: string
  /** The body of the request, for POST; JSON unless it is text. */
  readonly request?: unknown
  /** The name of the backend that sends the request, if it is not `shop`. */
  readonly by?: string
  /** Headers of the request in addition to its token. */
  readonly requestHeaders?: Readonly<Record<string, string>>
}

/** A request that succeeds, with the whole body of its response. */
export interface Example extends Sent {
  readonly body: unknown
}

/** A request that fails, with the problem that answers it and, for people, the cause and the cure. */
export interface Failure extends Sent {
  readonly problem: Problem
  readonly cause: string
  readonly cure: string
  /** Only the health check has data in a failure. */
  readonly data?: Readonly<Record<string, string | number>>
}

/** What the document says about a parameter beside the schema with which the route parses it. */
export interface ParameterNote {
  readonly description: string
  readonly example: string | number
}

/** The documentation of one method of a route. `document.ts` turns it into an operation of OpenAPI. */
export interface Operation {
  readonly id: string
  readonly summary: string
  readonly description: string
  /** The schema with which the route parses its query. `parameters` has a note on each member. */
  readonly query?: z.ZodMiniObject<Record<string, z.ZodMiniType>>
  readonly parameters?: Readonly<Record<string, ParameterNote>>
  /** The schema of the request's body. Only a POST has one. */
  readonly body?: z.ZodMiniType
  /** The schema of the whole body of a success, with `code` and `msg`. */
  readonly success: z.ZodMiniType
  /** The beginning of the response as CSV, if a parameter can ask for that. */
  readonly csv?: string
  /** The schema of the whole body of a failure, if it is not `failureBody()`. */
  readonly failure?: z.ZodMiniType
  readonly examples: readonly Example[]
  /** The failures of this route, besides those of every route of its kind. */
  readonly failures: readonly Failure[]
}

/** An example of a success with data; `request` is the body of a POST. */
export const dataExample = (
  name: string,
  given: Situation,
  query: string,
  data: unknown,
  request?: unknown,
): Example => {
  return { name, given, query, body: { code: 200, msg: successMsg(), data }, request }
}

/** An example of a success without data, whose `msg` has a note. */
export const noteExample = (name: string, given: Situation, query: string, note: string): Example => {
  return { name, given, query, body: { code: 200, msg: successMsg(note) } }
}

/** What the document adds to schemas. A schema with an `id` becomes a component of that name. */
export const notes = /* @__PURE__ */ z.registry<{
  id?: string
  description?: string
  'x-enum-varnames'?: readonly string[]
}>()

const components = new Map<string, z.ZodMiniType>()

/** The schema with this name, so that several routes share one component of the document. `make` is called on first use. */
export function component<Schema extends z.ZodMiniType>(id: string, make: () => Schema): Schema {
  const known = components.get(id)
  if (known !== undefined) return known as Schema // safe: each name is used for one schema only
  const schema = make()
  notes.add(schema, { ...notes.get(schema), id })
  components.set(id, schema)
  return schema
}

/** A named schema of an object that has these members and no others. */
export const object = <Members extends z.core.$ZodShape>(id: string, members: () => Members) =>
  component(id, () => z.strictObject(members()))

/** Gives a schema a description, and returns the same schema. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  notes.add(schema, { description })
  return schema
}

/** A named schema of a number from a list. Generators of clients call each value by the name at its place in `names`. */
export function numberWords<const Value extends number>(
  id: string,
  values: readonly Value[],
  names: readonly string[],
  description: string,
) {
  return component(id, () => {
    const schema = z.literal([...values])
    notes.add(schema, { description, 'x-enum-varnames': names })
    return schema
  })
}

/** A whole number from 1 on, such as an id. */
export const idSchema = (description: string) => described(z.int().check(z.minimum(1)), description)

/** A whole number from 0 on: a number of things, or a block's height. */
export const countSchema = (description: string) => described(z.int().check(z.minimum(0)), description)

const positionText =
  'The position of the log among those of the transaction; 0 for TRX, and the text `i<k>` for TRX that a contract sent, k being its place ' +
  'among the internal transactions with the note `call`, `create` or `suicide`.'

/** The position of a transfer in its transaction: a number for TRX and tokens, a text for TRX that a contract sent. */
export const positionSchema = () =>
  component('Position', () =>
    described(
      z.union([
        component('LogPosition', () => described(z.int().check(z.minimum(0)), 'The place of a log, or 0.')),
        component('InternalPosition', () => textSchema('The place of TRX that a contract sent.', internalPositionForm)),
      ]),
      positionText,
    ),
  )

/** An amount as a JSON number, in whole units of its currency: 1 is 1 USDT. */
export const amountSchema = (description: string) => described(z.number(), description)

/** Decimals that fit every currency; the limit of one currency is its `scale`. A lookahead would be shorter, but Go's regular expressions have none. */
const decimalForm = '(0*[1-9]\\d{0,15}(\\.\\d{1,8}0*)?|0+\\.\\d{0,7}[1-9]0*)'
/** The smallest decimal of a currency with the largest scale. */
const decimalMin = 1e-8

const signs = {
  negative: ['Negative', `^-${decimalForm}$`, -Number(amountMax), -decimalMin],
  positive: ['Positive', `^${decimalForm}$`, decimalMin, Number(amountMax)],
  'not negative': ['NotNegative', `^(0+(\\.0+)?|${decimalForm})$`, 0, Number(amountMax)],
} as const

/** An amount in a request, as text or as a number. */
export function sentAmountSchema(sign: keyof typeof signs) {
  const [name, form, min, max] = signs[sign]
  return component(`${name}Amount`, () =>
    described(
      z.union([
        component(`${name}AmountText`, () =>
          textSchema(`A decimal, ${sign}.`, new RegExp(form)).check(z.maxLength(amountCharsMax)),
        ),
        component(`${name}AmountNumber`, () =>
          amountSchema('The same as a number, which is read digit by digit.').check(z.minimum(min), z.maximum(max)),
        ),
      ]),
      `In whole units, ${sign}, without an exponent, with at most as many decimals as \`scale\` of the currency. Send it as text: many languages ` +
        'write a small number with an exponent, and lose digits of a large one.',
    ),
  )
}

/**
 * Excludes the characters that `isRemark` refuses, but only those up to U+00FF. For higher ones the readers of patterns share no escape, and generators write
 * patterns into source text, where some of these characters are errors.
 */
const remarkForm = '^[^\\x00-\\x1f\\x7f-\\x9f\\xad]*$'
const remarkExpected = 'Without control characters, invisible ones and those that turn the direction of text.'

/** A remark of up to `remarkCharsMax` characters. */
export const remarkSchema = (description: string) =>
  textSchema(`${description} ${remarkExpected}`, new RegExp(remarkForm)).check(z.maxLength(remarkCharsMax))

/** The reason for an action: a remark that can be read. That it is not blank, only the description says: a pattern of all blank characters is too long. */
export const whySchema = (description: string) =>
  remarkSchema(`${description} It has something that can be read.`).check(z.minLength(1))

/** An address in the body of a request: in Base58Check, whose checksum this pattern does not check. */
export const sentAddressSchema = (description: string) => textSchema(description, /^T[1-9A-HJ-NP-Za-km-z]{33}$/)

/** A txid in the body of a request, with or without `0x`. */
export const sentTxidSchema = () =>
  textSchema('The transaction: 64 hex digits, optionally prefixed with `0x`.', /^(0[xX])?[0-9a-fA-F]{64}$/)

/**
 * A list of one or more items in a request. Only the description says that items must differ: generators read `uniqueItems` as a set without order, or fail on
 * it.
 */
export const sentListSchema = <Item extends z.ZodMiniType>(item: Item, itemsMax: number, description: string) =>
  described(z.array(item).check(z.minLength(1), z.maxLength(itemsMax)), `${description} Each once.`)

/** A text, which matches `form` if that is given. */
export const textSchema = (description: string, form?: RegExp) =>
  described(form === undefined ? z.string() : z.string().check(z.regex(form)), description)

/** An instant as the service writes it: ISO 8601 with milliseconds and `Z`. */
export const instantSchema = () => described(z.iso.datetime({ precision: 3 }), 'UTC, with milliseconds.')

const successMembers = () => ({
  code: z.literal(200),
  msg: textSchema('`success`, optionally followed by a colon and a note for people.', /^success/),
})

/** The envelope `{code,msg,data}` of a success. `id` is the name that generators of clients give to it. */
export const successBody = <Data extends z.ZodMiniType>(id: string, data: () => Data) =>
  object(id, () => ({ ...successMembers(), data: data() }))

/** The named schema of a success whose `data` has these members and no others. */
export const dataBody = <Members extends z.core.$ZodShape>(id: string, members: () => Members) =>
  successBody(id, () => z.strictObject(members()))

/** The named schema of a success with a list of items. `count` describes the number beside the list. */
export const listBody = <Item extends z.ZodMiniType>(id: string, item: () => Item, count: string) =>
  dataBody(id, () => ({ list: z.array(item()), count: countSchema(count) }))

/** The named schema of a success that has only `code` and `msg`. */
export const successBodyWithoutData = (id: string) => object(id, successMembers)

const failureMembers = () => ({
  code: described(z.int().check(z.minimum(400), z.maximum(599)), 'The HTTP status.'),
  msg: textSchema('What is wrong, in one sentence.', /./),
})

/** The schema of a failure without data, as on every route but the health check. */
export const failureBody = () => object('Failure', failureMembers)

/** The named schema of a failure that may have data. Only the health check has such failures. */
export const failureBodyWithData = <Data extends z.ZodMiniType>(id: string, data: () => Data) =>
  object(id, () => ({ ...failureMembers(), data: z.optional(data()) }))

/** One of the words that `x-reason` can have. */
export const reasonSchema = () => component('Reason', () => z.enum(reasons))

/** The transaction of the USDT deposit in the examples. This and all values below match the chain that the test builds when it replays the examples. */
export const usdtTxid = '278524e29c4eded92e21d431f395bcbe536c67c3c6375ef7b8dc8ebad3e7e805'
/** The first address of the user in the examples. */
export const depositAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'

/** The ledger entry of the USDT deposit in the examples. */
export const usdtEntry = {
  id: 2,
  uid: 7,
  wid: 2,
  osn: `${usdtTxid}:0`,
  type: 1,
  cuy: 2,
  amt: 25,
  balance: 25,
  mark: 'deposit',
  created_at: '2026-09-21T14:13:20.417Z',
}

const trxTxid = '2624f452ae15842a43db87b3bc951bbb00d3f2b802da47424392e13a87d26450'
/** The ledger entry of the TRX deposit in the examples. */
export const trxEntry = { ...usdtEntry, id: 1, wid: 1, osn: trxTxid, cuy: 1, amt: 3.5, balance: 3.5 }

const payment = { id: 3, osn: 'order-1001', type: 4, amt: -2.5, balance: 22.5, mark: 'two cups' }
/** The ledger entry of a payment that the backend `shop` has posted in the examples. */
export const paidEntry = { ...usdtEntry, ...payment, created_at: '2026-09-21T14:14:20.417Z', by: 'shop' }

/** The newest final block in the examples after the scan has run. */
export const finalBlock = {
  height: 70_000_019,
  hash: '00000000042c1d939ab280cc3a38bbaae53b1e114a982fde4e7374a17c5df130',
  created_at: '2023-11-14T22:14:17.000Z',
}
/** Describes the values of `cuy`. It does not list them, because the document does not know the currencies of a deployment. */
export const cuyExpected = 'One of `/currencies`; any other is a 400 that names them.'

/** The note on `uid`, for the `parameters` of routes that take a user. */
export const uidNote = { uid: { description: 'The user.', example: 7 } }
