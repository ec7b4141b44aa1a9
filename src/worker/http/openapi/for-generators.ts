// Rewrites schemas into forms that the client generators of many languages understand
// (guides/clients.md). A request schema never allows what the service refuses by its form. A
// response schema never promises more than later versions keep.

export type JsonObject = { [name: string]: unknown }

/**
 * Where a schema is used. An answer may gain members and values in later versions. A request is
 * taken exactly as described, or refused.
 */
export type Direction = 'request' | 'answer'

/** The largest 32-bit integer: generators take an integer without a format for a 32-bit one. */
const int32Max = 2 ** 31 - 1

/** Rewrites a schema by all `rules`, the schemas inside it first. */
export function forGenerators(schema: JsonObject, direction: Direction): JsonObject {
  const nested = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      isNotSchema.has(name) ? value : inside(name, value, direction),
    ]),
  )
  return rules.reduce((changed, rule) => rule(changed, direction), nested)
}

/**
 * Members of a schema that contain values. They stay as they are, even if a value looks like a
 * schema.
 */
const isNotSchema = new Set(['examples', 'enum', 'const', 'required'])

function inside(name: string, value: unknown, direction: Direction): unknown {
  if (Array.isArray(value)) return value.map((one) => inside('', one, direction))
  if (typeof value !== 'object' || value === null) return value
  const object = value as JsonObject // safe: an object that is no array
  if (name !== 'properties') return forGenerators(object, direction)
  return Object.fromEntries(Object.entries(object).map(([member, one]) => [member, inside('', one, direction)]))
}

/** Whether the schema allows values of this type. */
const isOf = ({ type }: JsonObject, name: string) => [type].flat().includes(name)

type Rule = (schema: JsonObject, direction: Direction) => JsonObject

const valuesOf = ({ enum: several, const: only }: JsonObject): readonly unknown[] =>
  Array.isArray(several) ? several : only === undefined ? [] : [only]

/**
 * A number literal gets the type integer. In answers the description lists the values instead of an
 * enum, because later versions can have more values.
 */
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
  // A single value stays: it distinguishes the variants of a union, as the `type` of an event does.
  if (values.length === 1 || direction === 'request') return { ...open, enum: values }
  return withKnown(open, values)
}

function withKnown(schema: JsonObject, values: readonly unknown[]): JsonObject {
  const description = typeof schema.description === 'string' ? `${schema.description} ` : ''
  const list = values.map((value) => `\`${value}\``).join(', ')
  return { ...schema, description: `${description}Known values, of which there can be more: ${list}.` }
}

/**
 * With the format `decimal`, amounts keep their digits in languages with a decimal type.
 * `oapi-codegen` for Go has none, and takes the named type.
 */
const amounts: Rule = (schema) =>
  isOf(schema, 'number') ? { ...schema, format: 'decimal', 'x-go-type': 'json.Number' } : schema

const largeIntegers: Rule = (schema) => {
  const { format, maximum = Number.POSITIVE_INFINITY } = schema
  return isOf(schema, 'integer') && format === undefined && Number(maximum) > int32Max
    ? { ...schema, format: 'int64' }
    : schema
}

/**
 * A time loses its pattern: with a pattern, some generators check the parsed time as text, and
 * others refuse a pattern beside a format.
 */
const times: Rule = ({ pattern, ...schema }) =>
  pattern === undefined || schema.format === 'date-time' ? schema : { ...schema, pattern }

const openAnswers: Rule = (schema, direction) => {
  if (direction === 'request' || schema.additionalProperties !== false) return schema
  const { additionalProperties: _, ...open } = schema
  return open
}

/** A union of a type and `null` becomes a list of two types, which more generators understand. */
const nullables: Rule = (schema) => {
  const { anyOf, ...others } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [one, last] = anyOf as readonly JsonObject[] // safe: `anyOf` lists schemas
  if (last?.type !== 'null' || typeof one?.type !== 'string') return schema
  return { ...one, ...others, type: [one.type, 'null'] }
}

/**
 * `anyOf` becomes `oneOf`, because the variants of our unions exclude each other: then generators
 * can make one type of them.
 */
const unions: Rule = ({ anyOf, ...schema }) => (anyOf === undefined ? schema : { ...schema, oneOf: anyOf })

const rules: readonly Rule[] = [literals, amounts, largeIntegers, times, openAnswers, nullables, unions]
