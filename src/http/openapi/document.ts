import * as z from 'zod/mini'
import { bookmarkCharsMax, bookmarkForm, bookmarkHeader } from '../middleware/bookmark.ts'
import { ledgerRoutes, routes } from '../routes.ts'
import { type Example, type Failure, notes, type Operation, type ParameterNote } from './docs.ts'
import { describeWebhooks } from './event-schemas.ts'
import { failuresOutsideRoutes } from './failures.ts'
import { operations } from './operations.ts'

/** A JSON object of the document. */
export type JsonObject = { [name: string]: unknown }

const info = `Gives each user a Tron deposit address and a wallet. Credits each deposit exactly once, only when it is final, and can explain
why a transfer is not credited.

Every response is \`{ code, msg, data }\`: \`code\` repeats the HTTP status, \`msg\` is for people, \`data\` is absent on failure
and on \`/tron/recharge\`. Amounts are exact decimal numbers in whole units. Unknown query parameters are ignored; a known
one with a bad value, an empty one or one given twice is a 400. HEAD gets the response to GET without the body.

Failures that no route lists:

${failuresOutsideRoutes()
  .map(({ status, cause, cure, msg }) => `- **${status}** \`${msg}\`. **Cause:** ${cause} **Cure:** ${cure}`)
  .join('\n')}

A request may have its own \`x-request-id\`: 1 to 64 letters, digits, \`_\`, \`.\` and \`-\`. Pages of other origins can read responses
where the deployment allows their origin; OPTIONS is then a further method.`

const tags = [
  { name: 'Tron', description: 'Addresses, balances on the chain, and the check for deposits.' },
  { name: 'Wallet', description: 'Balances and entries of the ledger.' },
  {
    name: 'Ledger',
    description:
      'For your own backends, with tokens of their own: the other entries of the ledger, and reads for a named user. ' +
      'Without a key for these tokens the paths do not exist.',
  },
  { name: 'Service', description: 'For operators.' },
]

const bookmarkSchema = { type: 'string', maxLength: bookmarkCharsMax, pattern: bookmarkForm.source }

/** The headers of responses, by their name in `components`. */
const headers = {
  'x-request-id': { description: 'The id of the request in the log.', schema: { type: 'string' } },
  'cache-control': { description: 'Responses are never stored.', schema: { type: 'string', const: 'no-store' } },
  'server-timing': {
    description: 'Milliseconds in total and in the database.',
    schema: { type: 'string' },
  },
  [bookmarkHeader]: {
    description: 'The state of the database that was read. A later request may send it.',
    schema: bookmarkSchema,
  },
  'retry-after': { description: 'Seconds after which to try again.', schema: { type: 'string', pattern: '^\\d+$' } },
  'www-authenticate': { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
}
/** The paths of the routes that require no token. */
const publicPaths = new Set<string>(routes.filter(({ rateClass }) => rateClass === null).map(({ path }) => path))
/** The paths of the routes for backends. */
const ledgerPaths = new Set<string>(ledgerRoutes.map(({ path }) => path))
const commonHeaders = ['x-request-id', 'cache-control', 'server-timing']

const bookmarkParameter = {
  name: bookmarkHeader,
  in: 'header',
  required: false,
  description: 'The bookmark of an earlier response: the data is then at least as new as the data of that response.',
  schema: bookmarkSchema,
}

/** The OpenAPI 3.1 document. Its schemas are those that the routes parse with and that tests check every response against. */
export function createDocument(version: string): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tron wallet service',
      version,
      description: info,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The deployment that serves this document.' }],
    security: [{ bearer: [] }],
    tags,
    paths: Object.fromEntries(
      Object.entries(operations).map(([path, methods]) => [
        path,
        Object.fromEntries(
          Object.entries(methods).map(([method, one]) => [method, describeOperation(method, path, one)]),
        ),
      ]),
    ),
    webhooks: describeWebhooks(schemaOf),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A token with your user id in `sub` (decimal digits, as text) and with an `exp`: HS256 with the shared secret, or ' +
            'RS256, ES256 or EdDSA with a key of the issuer. Only the token decides whose data is read.',
        },
        backend: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            "A backend's token: its name in `sub` (1 to 64 letters, digits, `.`, `_` and `-`), an `exp` at most an hour ahead, " +
            'and a `scope` of words separated by spaces: `ledger:read`, `ledger:post`. HS256 with the secret of the backends, or ' +
            'RS256, ES256 or EdDSA with one of their keys.',
        },
      },
      headers,
      parameters: { bookmark: bookmarkParameter },
      schemas: componentSchemas(),
    },
  }
}

function describeOperation(method: string, path: string, one: Operation): JsonObject {
  const { id, tag, summary, description, query, parameters } = one
  const taken = Object.entries(query.shape).map(([name, schema]) => parameter(name, schema, parameters[name]))
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(publicPaths.has(path)
      ? { security: [] }
      : { parameters: [...taken, { $ref: '#/components/parameters/bookmark' }] }),
    ...(ledgerPaths.has(path) ? { security: [{ backend: [] }] } : {}),
    ...requestBody(one),
    responses: { 200: successResponse(method, path, one), ...failureResponses(method, path, one) },
  }
}

function requestBody({ body, examples }: Operation): JsonObject {
  if (body === undefined) return {}
  const values = Object.fromEntries(examples.map(({ name, request }) => [wordsOf(name), { value: request }]))
  return {
    requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body), examples: values } } },
  }
}

function parameter(name: string, schema: z.ZodMiniType, note: ParameterNote | undefined): JsonObject {
  const { description, example } = note ?? {}
  // The example is in the schema: the page sends an example of the parameter itself with every request that is tried.
  return {
    name,
    in: 'query',
    required: !(schema instanceof z.ZodMiniOptional),
    description,
    schema: { ...parameterSchema(schema), examples: [example] },
  }
}

/** A query is text, but the bounds of a number are those of the parsed value, where JSON Schema can express it. */
function parameterSchema(schema: z.ZodMiniType): JsonObject {
  const parsed = withoutDialect(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }))
  return 'type' in parsed ? parsed : withoutDialect(z.toJSONSchema(schema, { io: 'input' }))
}

function successResponse(method: string, path: string, { success, examples }: Operation): JsonObject {
  const headerNames = publicPaths.has(path) ? commonHeaders : [...commonHeaders, bookmarkHeader]
  return response(
    'Success.',
    success,
    headerNames,
    Object.fromEntries(examples.map((one) => namedExample(method, path, one))),
  )
}

/** One response for each status, with all its causes and cures. */
function failureResponses(method: string, path: string, { failure, failures }: Operation): JsonObject {
  const byStatus = Map.groupBy(failures, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const headerNames = group.flatMap((one) => Object.keys(one.headers ?? {}))
      const examples = group.map((one) => namedExample(method, path, { query: '', ...one, body: failureExample(one) }))
      const text = group.map(({ cause, cure }) => `**Cause:** ${cause}\n\n**Cure:** ${cure}`).join('\n\n---\n\n')
      return [
        status,
        response(text, failure, [...commonHeaders, ...new Set(headerNames)], Object.fromEntries(examples)),
      ]
    }),
  )
}

/** The body of a documented failure. */
export function failureExample({ status, msg, data }: Failure): JsonObject {
  return data === undefined ? { code: status, msg } : { code: status, msg, data }
}

/** An example under its name, with its request. */
function namedExample(
  method: string,
  path: string,
  { name, given, query, request, requestHeaders = {}, body }: Example<unknown> & Pick<Failure, 'requestHeaders'>,
) {
  const lines = Object.entries(requestHeaders).map(([header, value]) => ` with \`${header}: ${value}\``)
  const summary = `${name.replaceAll('-', ' ')} (given ${given})`
  // A body that is no JSON value is described by the name of its example.
  const sent = typeof request === 'object' ? ` with the body \`${JSON.stringify(request)}\`` : ''
  const description = `\`${method.toUpperCase()} ${path}${query}\`${lines.join()}${sent}`
  return [wordsOf(name), { summary, description, value: body }] as const
}

const wordsOf = (name: string) => name.replaceAll(/[^a-z]+/gi, '-')

function response(
  description: string,
  schema: z.ZodMiniType,
  headerNames: readonly string[],
  examples: JsonObject,
): JsonObject {
  return {
    description,
    headers: Object.fromEntries(headerNames.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema: schemaOf(schema), examples } },
  }
}

const schemaOf = (schema: z.ZodMiniType) => ({ $ref: schemaUri(notes.get(schema)?.id ?? '') })
const schemaUri = (id: string) => `#/components/schemas/${id}`

function componentSchemas(): JsonObject {
  const { schemas } = z.toJSONSchema(notes, { metadata: notes, uri: schemaUri })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]))
}

/** A schema without its own name and without its dialect, which is the default of OpenAPI 3.1. */
function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema, $id, ...rest } = schema
  return rest
}
