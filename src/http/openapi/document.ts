import * as z from 'zod/mini'
import { bookmarkHeader } from '../middleware/bookmark.ts'
import { elsewhere } from './failures.ts'
import type { Example, Failure, Operation, ParameterNote } from './operation.ts'
import { operations } from './operations.ts'
import { bookmark, failureAnswer, notes, unhealthyAnswer } from './response-schemas.ts'

/** A JSON object of the document. */
export type JsonObject = { [name: string]: unknown }

const info = `Gives each user a Tron deposit address and a wallet, credits exactly once and only what is final, and can say why not.

Every answer is \`{ code, msg, data }\`: \`code\` repeats the HTTP status, \`msg\` is for people, \`data\` is absent on failure
and on \`/tron/recharge\`. Amounts are exact decimal numbers in whole units. Unknown query parameters are ignored; a known
one with a bad value, an empty one or one given twice is a 400. HEAD is answered like GET, without the body.

Beside what each route lists:

${elsewhere.map(({ status, cause, cure, msg }) => `- **${status}** \`${msg}\`. **Cause:** ${cause} **Cure:** ${cure}`).join('\n')}

A request may bring its own \`x-request-id\`: 1 to 64 letters, digits, \`_\`, \`.\` and \`-\`. Pages of other origins can read answers where the
deployment names their origin; OPTIONS is then answered too.`

const tags = [
  { name: 'Tron', description: 'Addresses, the chain, and looking for deposits.' },
  { name: 'Wallet', description: 'Balances and entries, as the ledger has them.' },
  { name: 'Service', description: 'For whoever runs it.' },
]

/** Headers that an answer can have, by their name in `components`. */
const headers = {
  'x-request-id': { description: "The request's id in the log.", schema: { type: 'string' } },
  'cache-control': { description: 'Never stored.', schema: { type: 'string', const: 'no-store' } },
  'server-timing': {
    description: 'Milliseconds in all, in the database and at nodes.',
    schema: { type: 'string' },
  },
  [bookmarkHeader]: {
    description: "How new the database's answer is; a later request may send it along.",
    schema: bare(z.toJSONSchema(bookmark)),
  },
  'retry-after': { description: 'Seconds after which to try again.', schema: { type: 'string', pattern: '^\\d+$' } },
  'www-authenticate': { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
}
const everywhere = ['x-request-id', 'cache-control', 'server-timing']

/** A request may bring the bookmark of an earlier answer: its answer is then never older than that one. */
const bookmarkParameter = {
  name: bookmarkHeader,
  in: 'header',
  required: false,
  description: 'The bookmark of an earlier answer: what is read now is then at least as new as that was.',
  schema: bare(z.toJSONSchema(bookmark)),
}

/** The OpenAPI 3.1 document. Its schemas are those that the routes parse with and that tests hold their answers to. */
export function createDocument(version: string): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tron wallet service',
      version,
      description: info,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'Where this document is served.' }],
    security: [{ bearer: [] }],
    tags,
    paths: Object.fromEntries(Object.entries(operations).map(([path, one]) => [path, { get: describe(path, one) }])),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A token whose `sub` is your number (decimal, as text) and that has an `exp`: HS256 with the shared secret, or ' +
            "RS256, ES256 or EdDSA with a key of the issuer's set. Only the token decides whose data is read.",
        },
      },
      headers,
      parameters: { bookmark: bookmarkParameter },
      schemas: componentSchemas(),
    },
  }
}

function describe(path: string, one: Operation): JsonObject {
  const { id, tag, summary, description, isPublic, query, parameters } = one
  const taken = Object.entries(query.shape).map(([name, schema]) => parameter(name, schema, parameters[name]))
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(isPublic ? { security: [] } : { parameters: [...taken, { $ref: '#/components/parameters/bookmark' }] }),
    responses: { 200: successResponse(path, one), ...failureResponses(path, one) },
  }
}

function parameter(name: string, schema: z.ZodMiniOptional, note: ParameterNote | undefined): JsonObject {
  const { description, example } = note ?? {}
  // The example stands in the schema: the page would send the parameter's own with every request that is tried out.
  return {
    name,
    in: 'query',
    required: false,
    description,
    schema: { ...parameterSchema(schema), examples: [example] },
  }
}

/** A query is text, but a number's bounds are told by what its schema makes of the text, where JSON Schema can say it. */
function parameterSchema(schema: z.ZodMiniType): JsonObject {
  const made = bare(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }))
  return 'type' in made ? made : bare(z.toJSONSchema(schema, { io: 'input' }))
}

function successResponse(path: string, { answer, examples, isPublic }: Operation): JsonObject {
  const names = isPublic ? everywhere : [...everywhere, bookmarkHeader]
  return response('Success.', answer, names, Object.fromEntries(examples.map((one) => told(path, one))))
}

/** One response for each status, with all its causes and cures. */
function failureResponses(path: string, { failures }: Operation): JsonObject {
  const byStatus = Map.groupBy(failures, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const schema = group.some(({ data }) => data !== undefined) ? unhealthyAnswer : failureAnswer
      const extra = group.flatMap((one) => Object.keys(one.headers ?? {}))
      const examples = Object.fromEntries(group.map((one) => told(path, { ...one, body: failureBody(one) })))
      const text = group.map(({ cause, cure }) => `**Cause:** ${cause}\n\n**Cure:** ${cure}`).join('\n\n---\n\n')
      return [status, response(text, schema, [...everywhere, ...new Set(extra)], examples)]
    }),
  )
}

/** The body of a failure. */
export function failureBody({ status, msg, data }: Failure): JsonObject {
  return data === undefined ? { code: status, msg } : { code: status, msg, data }
}

/** An example under its name, with the request that it answers. */
function told(path: string, { name, given, query, requestHeaders = {}, body }: Told) {
  const lines = Object.entries(requestHeaders).map(([header, value]) => ` with \`${header}: ${value}\``)
  const summary = `${name.replaceAll('-', ' ')} (given ${given})`
  const description = `\`GET ${path}${query}\`${lines.join()}`
  return [name.replaceAll(/[^a-z]+/gi, '-'), { summary, description, value: body }] as const
}

type Told = Example<unknown> & Pick<Failure, 'requestHeaders'>

function response(
  description: string,
  schema: z.ZodMiniType,
  headerNames: readonly string[],
  examples: JsonObject,
): JsonObject {
  return {
    description,
    headers: Object.fromEntries(headerNames.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema: { $ref: schemaUri(notes.get(schema)?.id ?? '') }, examples } },
  }
}

const schemaUri = (id: string) => `#/components/schemas/${id}`

function componentSchemas(): JsonObject {
  const { schemas } = z.toJSONSchema(notes, { metadata: notes, uri: schemaUri })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema)]))
}

/** Without the members that name the dialect, which in OpenAPI 3.1 is the default, and the schema itself. */
function bare(schema: JsonObject): JsonObject {
  const { $schema, $id, ...rest } = schema
  return rest
}
