import { describe, expect, it } from 'vitest'
import { allReasons } from '../../../src/worker/common/reasons.ts'
import { createDocument } from '../../../src/worker/http/openapi/document.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly maximum?: number
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean
  readonly [other: string]: unknown
}

interface Media {
  readonly content?: { readonly 'application/json': { readonly schema: Schema } }
}
interface Described {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly schema?: Schema }[]
  readonly requestBody?: Media
  readonly responses: Readonly<Record<string, Media>>
}

const { paths, webhooks, components } = JSON.parse(JSON.stringify(createDocument('0.0.0'))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Described }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
} // safe: the service's own document has these members

const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
const schemaOf = ({ content }: Media): readonly Schema[] => (content ? [content['application/json'].schema] : [])
const sent = operations.flatMap(({ requestBody, parameters = [] }) => [
  ...schemaOf(requestBody ?? {}),
  ...parameters.flatMap(({ schema }): readonly Schema[] => (schema === undefined ? [] : [schema])),
])
const answered = [
  ...operations.flatMap(({ responses }) => Object.values(responses).flatMap(schemaOf)),
  ...Object.values(webhooks).flatMap(({ post }) => schemaOf(post.requestBody ?? {})),
]

/** The schemas `roots` and all schemas inside them, each with its path from a named component. */
function all(roots: readonly Schema[]): readonly (readonly [where: string, schema: Schema])[] {
  const found = new Map<Schema, string>()
  const add = (schema: Schema, where: string) => {
    if (found.has(schema)) return
    found.set(schema, where)
    const name = schema.$ref?.replace(/.*\//, '')
    const component = name === undefined ? undefined : components.schemas[name]
    if (component !== undefined) add(component, String(name))
    for (const [member, one] of Object.entries(schema.properties ?? {})) add(one, `${where}.${member}`)
    for (const one of schema.oneOf ?? []) add(one, `${where}|`)
    if (schema.items !== undefined) add(schema.items, `${where}[]`)
  }
  for (const root of roots) add(root, '')
  return [...found].map(([schema, where]) => [where, schema])
}

const requests = all(sent)
const answers = all(answered)
/** The paths of the schemas for which `breaks` is true. */
const where = (schemas: typeof answers, breaks: (schema: Schema) => boolean) =>
  schemas.filter(([, schema]) => breaks(schema)).map(([place]) => place)
const isOf = ({ type }: Schema, name: string) => [type].flat().includes(name)
const int32Max = 2 ** 31 - 1

describe('the document is kept by generators, since', () => {
  const schemas = [...requests, ...answers]

  it('it is read here as a whole', () => {
    expect([requests.length > 100, answers.length > 400, operations.length]).toEqual([true, true, 33])
    const names = new Set(schemas.map(([place]) => place.split(/[.|[]/)[0]))
    expect(Object.keys(components.schemas).filter((name) => !names.has(name))).toEqual([])
  })

  it('webhooks have a tag of their own: openapi-generator leaves out the operations of a tag that webhooks have', () => {
    const tags = new Set(operations.flatMap((one) => one.tags))
    expect(Object.values(webhooks).flatMap(({ post }) => post.tags.filter((tag) => tags.has(tag)))).toEqual([])
  })

  it('every pattern is one of Go’s engine too: no look around, no reference back, no \\u', () => {
    const isForeign = ({ pattern = '' }: Schema) => /\(\?[=!<]|\\u|\\[1-9]|\\k|[*+?}]\+/.test(pattern)
    expect(where(schemas, isForeign)).toEqual([])
    // generators copy patterns into source code
    expect(where(schemas, ({ pattern = '' }) => /[^ -~]/.test(pattern))).toEqual([])
    for (const [, { pattern = '' }] of schemas) expect(() => new RegExp(pattern, 'u')).not.toThrow()
    expect(schemas.filter(([, { pattern }]) => pattern !== undefined).length).toBeGreaterThan(20)
  })

  it('a format has no pattern beside it', () => {
    expect(where(schemas, ({ format, pattern }) => format !== undefined && pattern !== undefined)).toEqual([])
  })

  it('whole numbers say so, with 64 bits where they need them', () => {
    const isLarge = ({ maximum = Number.POSITIVE_INFINITY, enum: values }: Schema) =>
      values === undefined && maximum > int32Max
    const needs = (schema: Schema) => isOf(schema, 'integer') && isLarge(schema) && schema.format === undefined
    expect(where(schemas, needs)).toEqual([])
    const isWhole = (value: unknown) => typeof value === 'number'
    expect(where(schemas, (schema) => isOf(schema, 'number') && (schema.enum ?? []).some(isWhole))).toEqual([])
    expect(components.schemas.Failure).toMatchObject({ properties: { code: { type: 'integer' } } })
    const flow = { type: { type: 'integer' }, uid: { type: 'integer', format: 'int64' } }
    expect(components.schemas.Flow).toMatchObject({ properties: flow })
  })

  it('every other number is a decimal, which Go keeps as its text', () => {
    const isBare = (schema: Schema) =>
      isOf(schema, 'number') && (schema.format !== 'decimal' || schema['x-go-type'] !== 'json.Number')
    expect(where(schemas, isBare)).toEqual([])
  })

  it('there is no const, no numeric exclusive bound and no set', () => {
    const words = ['const', 'exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems', 'anyOf', 'allOf', 'not']
    expect(where(schemas, (schema) => words.some((word) => word in schema))).toEqual([])
  })

  it('the variants of a union have names', () => {
    expect(where(schemas, ({ oneOf = [] }) => oneOf.some(({ $ref }) => $ref === undefined))).toEqual([])
  })

  it('no schema has the name that a generator gives to an operation', () => {
    const named = (id: string) => id.replace(/^./, (first) => first.toUpperCase())
    const taken = operations.flatMap(({ operationId: id }) => ['', 'Response', 'Params'].map((end) => named(id) + end))
    expect(taken.filter((name) => name in components.schemas)).toEqual([])
  })
})

describe('an answer', () => {
  it('can get members', () => {
    expect(where(answers, ({ additionalProperties }) => additionalProperties !== undefined)).toEqual([])
  })

  it('can get words and numbers: what is known is in its description, and only a variant of a union has one for sure', () => {
    const nameIn = ({ $ref = '' }: Schema) => $ref.replace(/.*\//, '')
    // A receiver of webhooks gets any of their bodies, as if they were a union.
    const told = Object.values(webhooks).flatMap(({ post }) => schemaOf(post.requestBody ?? {}))
    const variants = [...answers.flatMap(([, { oneOf = [] }]) => oneOf.map(nameIn)), ...told.map(nameIn)]
    const typed = variants.flatMap((name) => Object.values(components.schemas[name]?.properties ?? {}).map(nameIn))
    const certain = new Set([...variants, ...typed])
    const closed = answers.filter(([, schema]) => schema.enum !== undefined)
    expect(closed.filter(([, schema]) => schema.enum?.length !== 1).map(([place]) => place)).toEqual([])
    expect(closed.map(([place]) => place.split('.')[0] ?? '').filter((name) => !certain.has(name))).toEqual([])
    expect(components.schemas.Reason).toEqual({
      type: 'string',
      description: expect.stringContaining('new ones can come'),
      'x-enumDescriptions': Object.fromEntries(
        allReasons().map((word) => [word, expect.stringContaining('**Cause:**')]),
      ),
    })
  })
})

it('the body of a request takes no other member and no other word', () => {
  const bodies = all(operations.flatMap(({ requestBody }) => schemaOf(requestBody ?? {})))
  const objects = bodies.filter(([, schema]) => isOf(schema, 'object'))
  expect(objects.length).toBeGreaterThan(10)
  expect(where(objects, ({ additionalProperties }) => additionalProperties !== false)).toEqual([])
  const words = { decision: { enum: ['credit', 'refuse'] } }
  expect(components.schemas.DecisionToMake).toMatchObject({ properties: words })
})
