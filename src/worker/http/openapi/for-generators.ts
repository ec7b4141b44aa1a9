// Rewrites schemas into forms that the client generators of many languages understand (guides/clients.md). A request schema never allows what the service
// refuses by its form. A response schema never promises more than later versions keep.

/** A JSON object of the document. */
export type JsonObject = { [name: string]: unknown }

/** Responses may gain members and values later. Requests are taken exactly as described, or refused. */
export type Direction = 'request' | 'answer'

/** The largest 32-bit integer: generators take an integer without a format for a 32-bit one. */
const int32Max = 2 ** 31 - 1

/** Rewrites a schema and everything in it. */
export function forGenerators(schema: JsonObject, direction: Direction): JsonObject {
  const nested = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      isNotSchema.has(name) ? value : inside(name, value, direction),
    ]),
  )
  return rules.reduce((changed, rule) => rule(changed, direction), nested)
}

/** Members that contain values, which may look like schemas. */
const isNotSchema = new Set(['examples', 'enum', 'const', 'required'])

function inside(name: string, value: unknown, direction: Direction): unknown {
  if (Array.isArray(value)) return value.map((one) => inside('', one, direction))
  if (typeof value !== 'object' || value === null) return value
  const object = value as JsonObject // an object that is no array
  if (name !== 'properties') return forGenerators(object, direction)
  return Object.fromEntries(Object.entries(object).map(([member, one]) => [member, inside('', one, direction)]))
}

/** Whether the schema allows values of this type. */
const isOf = ({ type }: JsonObject, name: string) => [type].flat().includes(name)

type Rule = (schema: JsonObject, direction: Direction) => JsonObject

const valuesOf = ({ enum: several, const: only }: JsonObject): readonly unknown[] =>
  Array.isArray(several) ? several : only === undefined ? [] : [only]

/** A number literal gets the type integer. In responses, the description lists the values instead of an enum. */
const literals: Rule = (schema, direction) => {
  const values = valuesOf(schema)
  if (values.length === 0) return schema
  const { const: _, enum: __, ...open } = schema
  if (values.every((value) => typeof value === 'boolean')) return { ...open, type: 'boolean' }
  if (values.every((value) => typeof value === 'number')) {
    const [minimum, maximum] = [Math.min(...values), Math.max(...values)]
    const integer = { ...open, type: 'integer', format: maximum > int32Max ? 'int64' : 'int32' }
    if (values.length === 1) return { ...integer, minimum, maximum }
    return direction === 'request' ? { ...integer, minimum, maximum, enum: values } : withKnown(integer, values)
  }
  // The value that distinguishes a variant of a union stays: see `nameOf` of events.
  if (values.length === 1 || direction === 'request') return { ...open, enum: values }
  return withKnown(open, values)
}

function withKnown(schema: JsonObject, values: readonly unknown[]): JsonObject {
  const description = typeof schema.description === 'string' ? `${schema.description} ` : ''
  const list = values.map((value) => `\`${value}\``).join(', ')
  return { ...schema, description: `${description}Known values, of which there can be more: ${list}.` }
}

/** Amounts keep their digits in languages with a decimal type; `oapi-codegen` for Go needs to be told the type. */
const amounts: Rule = (schema) =>
  isOf(schema, 'number') ? { ...schema, format: 'decimal', 'x-go-type': 'json.Number' } : schema

const largeIntegers: Rule = (schema) => {
  const { format, maximum = Number.POSITIVE_INFINITY } = schema
  return isOf(schema, 'integer') && format === undefined && Number(maximum) > int32Max
    ? { ...schema, format: 'int64' }
    : schema
}

/** Some generators check a time as text if it has a pattern, and others refuse a pattern together with a format. */
const times: Rule = ({ pattern, ...schema }) =>
  pattern === undefined || schema.format === 'date-time' ? schema : { ...schema, pattern }

const openAnswers: Rule = (schema, direction) => {
  if (direction === 'request' || schema.additionalProperties !== false) return schema
  const { additionalProperties: _, ...open } = schema
  return open
}

/** A type or `null` is written as a list of types, which more generators understand than a union. */
const nullables: Rule = (schema) => {
  const { anyOf, ...others } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [one, last] = anyOf as readonly JsonObject[] // schemas
  if (last?.type !== 'null' || typeof one?.type !== 'string') return schema
  return { ...one, ...others, type: [one.type, 'null'] }
}

/** The variants of a union exclude each other (`oneOf`), which lets generators make one type of them. */
const unions: Rule = ({ anyOf, ...schema }) => (anyOf === undefined ? schema : { ...schema, oneOf: anyOf })

const rules: readonly Rule[] = [literals, amounts, largeIntegers, times, openAnswers, nullables, unions]
