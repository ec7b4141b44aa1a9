import * as z from 'zod/mini'
import { internalPositionForm } from '../chain/block.ts'
import { amountCharsMax, amountMax } from '../common/amount.ts'
import { allReasons } from '../common/reasons.ts'
import { remarkCharsMax } from '../common/remark.ts'

// Building blocks of the schemas of answers and bodies. Only `http/openapi/` calls functions that
// use them, so the Worker's bundle has none of them (decision note 18).

/**
 * What the document adds to schemas. A schema with an `id` becomes a component of that name. A text
 * that is parsed by a function has its form here.
 */
export const notes = /* @__PURE__ */ z.registry<{
  id?: string
  description?: string
  'x-enum-varnames'?: readonly string[]
  pattern?: string
  minLength?: number
  maxLength?: number
}>()

const components = new Map<string, z.ZodMiniType>()

/**
 * The schema with this name, so that several routes share one component of the document. `make` is
 * called on first use.
 */
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

/**
 * A named schema of a number from a list. Generators of clients call each value by the name at its
 * place in `names`.
 */
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

/**
 * The position of a transfer in its transaction: a number for TRX and tokens, a text for TRX that a
 * contract sent.
 */
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
export const amountSchema = (description: string) => described(amount(), description)

/** An amount whose description stands at the member that holds it. */
export const amount = () => z.number().brand<'JsonAmount'>()

/**
 * Decimals that fit every currency; the limit of one currency is its `scale`. A lookahead would be
 * shorter, but Go's regular expressions have none.
 */
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
 * Excludes the characters that `isRemark` refuses, but only those up to U+00FF. For higher ones the
 * readers of patterns share no escape, and generators write patterns into source text, where some
 * of these characters are errors.
 */
const remarkForm = '^[^\\x00-\\x1f\\x7f-\\x9f\\xad]*$'
const remarkExpected = 'Without control characters, invisible ones and those that turn the direction of text.'

/** A remark of up to `remarkCharsMax` characters. */
export const remarkSchema = (description: string) =>
  textSchema(`${description} ${remarkExpected}`, new RegExp(remarkForm)).check(z.maxLength(remarkCharsMax))

/**
 * Describes the reason for an action: a remark that can be read. That it is not blank, only the
 * description says: a pattern of all blank characters is too long.
 */
export const describeWhy = (schema: z.ZodMiniType<string>, description: string) =>
  notes.add(schema, {
    description: `${description} It has something that can be read. ${remarkExpected}`,
    minLength: 1,
    maxLength: remarkCharsMax,
    pattern: remarkForm,
  })

/**
 * An address in the body of a request: in Base58Check, whose checksum this pattern does not check.
 */
export const sentAddressSchema = (description: string) => textSchema(description, /^T[1-9A-HJ-NP-Za-km-z]{33}$/)

/** Describes a txid in the body of a request, with or without `0x`. */
export const describeSentTxid = (schema: z.ZodMiniType<string>) =>
  notes.add(schema, {
    description: 'The transaction: 64 hex digits, optionally prefixed with `0x`.',
    pattern: '^(0[xX])?[0-9a-fA-F]{64}$',
  })

/**
 * A list of one or more items in a request. Only the description says that items must differ:
 * generators read `uniqueItems` as a set without order, or fail on it.
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

/**
 * The envelope `{code,msg,data}` of a success. `id` is the name that generators of clients give to
 * it.
 */
export const successBody = <Data extends z.ZodMiniType>(id: string, data: () => Data) =>
  object(id, () => ({ ...successMembers(), data: data() }))

/** The named schema of a success whose `data` has these members and no others. */
export const dataBody = <Members extends z.core.$ZodShape>(id: string, members: () => Members) =>
  successBody(id, () => z.strictObject(members()))

/**
 * The named schema of a success with a list of items. `count` describes the number beside the list.
 */
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
export const reasonSchema = () => component('Reason', () => z.enum(allReasons()))
