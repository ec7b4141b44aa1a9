import * as z from 'zod/mini'
import { cellsMax } from '../../cells/parse-cells.ts'
import type { ReasonText } from '../../common/payout-reasons.ts'
import { reasonTexts } from '../../common/reasons.ts'
import { failureBody, notes, reasonSchema } from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { reasonHeader } from '../errors.ts'
import { bookmarkCharsMax, bookmarkForm, bookmarkHeader } from '../middleware/access.ts'
import { ledgerRoutes, operations, routes } from '../routes.ts'
import type { Example, Failure, Operation, ParameterNote } from './docs.ts'
import recordings from './examples.json' with { type: 'json' }
import { backendFailures, callerFailures, failuresOutsideRoutes, serviceFailures } from './failures.ts'
import { type Direction, forGenerators, type JsonObject } from './for-generators.ts'
import { describedText, idOf, schemaOf, schemaUri } from './references.ts'
import { describeWebhooks } from './webhooks.ts'

const entry = JSON.stringify({ entries: [{ uid: 1, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5' }] })

const info =
  () => `Gives each user a Tron deposit address and a wallet. Credits each deposit exactly once, only when it is final,
and can explain why a transfer is not credited. Three calls: where a user pays, what has come, and the payment that a
backend takes.

\`\`\`sh
curl $WALLET/tron/generate -H "authorization: Bearer $TOKEN"
curl $WALLET/tron/deposits -H "authorization: Bearer $TOKEN"
curl $WALLET/ledger/entries -H "authorization: Bearer $BACKEND" -H 'content-type: application/json' \\
  -d '${entry}'
\`\`\`

Every response is \`{ code, msg, data }\`: \`code\` repeats the HTTP status, \`msg\` is for people, \`data\` is absent
on failure and on \`/tron/recharge\`. Amounts are exact decimal numbers in whole units. Unknown query parameters are
ignored; a known one with a bad value, an empty one or one given twice is a 400. HEAD gets the response to GET without
the body; at \`/tron/generate\`, \`/tron/recharge\` and \`/ledger/address\`, which act, it is a 405. A request may have
its own \`x-request-id\`: 1 to 64 letters, digits, \`_\`, \`.\` and \`-\`. Pages of other origins can read responses
where the deployment allows their origin; OPTIONS is then a further method.

Each 409, 422, 429 and 503 has one word for its cause in \`x-reason\`: [all reasons](#reasons) are at the end, and in
the schema \`Reason\`. Failures that no route lists:

${failuresOutsideRoutes()
  .map((one) => {
    const { status, body } = recorded(one.method, one.path, one)
    return `- **${status}** \`${body.msg}\`. **Cause:** ${one.cause} **Cure:** ${one.cure}`
  })
  .join('\n')}`

/**
 * The texts of the schema `Reason`. Some viewers of OpenAPI show `x-enumDescriptions` beside each
 * value. The page at /docs lists them at its end.
 */
const describeReasons = () => ({
  description:
    'The cause of a failure, as one word for programs: `msg` can change, a word never changes its meaning, and new ones can come. The same ' +
    'word is the `reason` of errors over RPC, of events, of transfers and of what is said about a transaction.',
  'x-enumDescriptions': Object.fromEntries(
    Object.entries(reasonTexts()).map(([reason, texts]) => [reason, describeReason(reason, texts)]),
  ),
})

/** The text about one reason: the HTTP statuses with which it occurs, its cause and its cure. */
function describeReason(reason: string, { cause, cure }: ReasonText): string {
  const statuses = statusesOf(reason)
  return `${statuses.length === 0 ? '' : `${statuses.join(', ')}. `}**Cause:** ${cause} **Cure:** ${cure}`
}

function statusesOf(reason: string): readonly number[] {
  const statuses = documentedOperations().flatMap(({ method, path, failures }) =>
    failures.filter((one) => one.reason === reason).map((one) => recorded(method, path, one).status),
  )
  return [...new Set(statuses)].sort((a, b) => a - b)
}

const tags = [
  { name: 'Tron', description: 'Addresses, balances on the chain, and the check for deposits.' },
  { name: 'Wallet', description: 'Balances and entries of the ledger.' },
  {
    name: 'Ledger',
    description:
      'For your own backends, with tokens of their own: the other entries of the ledger, and reads for a named user. ' +
      'Without a key for these tokens the paths do not exist. A deployment can have several databases (`CELLS`): a `uid` leads to its own, other ' +
      'requests name one by `cell`, a webhook has `cell`, and ids are those of their database.',
  },
  { name: 'Webhooks', description: 'What the service sends to the endpoints of `WEBHOOKS`.' },
  { name: 'Service', description: 'What is accepted, and the state of the service.' },
]

const bookmarkText = { maxLength: bookmarkCharsMax, pattern: bookmarkForm.source }

/**
 * The section of `components` that describes the headers of responses. Each response refers to them
 * by name.
 */
const headers = () => ({
  'x-request-id': describedText('The id of the request in the log.'),
  'cache-control': describedText('`no-store`: responses are never stored.'),
  'server-timing': describedText('Milliseconds in total and in the database.'),
  [bookmarkHeader]: describedText(
    'The state of the database that was read. A later request may send it.',
    bookmarkText,
  ),
  [reasonHeader]: {
    description: 'The cause, as one word for programs. It never changes its meaning.',
    required: true,
    schema: schemaOf(reasonSchema()),
  },
  'retry-after': describedText('Seconds after which to try again.', { pattern: '^\\d+$' }),
  'www-authenticate': describedText(
    'How to authenticate: `Bearer`. For a token whose signature is right, also `error="invalid_token"` and an `error_description` that says ' +
      'what is wrong with it.',
  ),
})
const commonHeaders = ['x-request-id', 'cache-control', 'server-timing']

const bookmarkParameter = {
  name: bookmarkHeader,
  in: 'header',
  required: false,
  ...describedText(
    'The bookmark of an earlier response: the data is then at least as new as that of the response.',
    bookmarkText,
  ),
}

const cellParameter = {
  name: 'cell',
  in: 'query',
  required: false,
  description:
    'The number of the database that is asked. A deployment with several (`CELLS`) requires it where no user is named; with one it is ignored.',
  schema: { type: 'integer', minimum: 1, maximum: cellsMax, examples: [1] },
}

/**
 * Makes the OpenAPI 3.1 document. It uses the schemas with which routes parse requests and tests
 * check every response.
 */
export function createDocument(version: string): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tron wallet service',
      version,
      description: info(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The deployment that serves this document.' }],
    security: [{ bearer: [] }],
    tags,
    paths: Object.fromEntries(
      [...Map.groupBy(documentedOperations(), ({ path }) => path)].map(([path, methods]) => [
        path,
        Object.fromEntries(methods.map((one) => [one.method, describeOperation(one)])),
      ]),
    ),
    webhooks: describeWebhooks(),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A token with your user id in `sub` (decimal digits, as text) and with an `exp`: HS256 with the shared secret (HS384 and HS512 if it ' +
            'has 48 and 64 bytes), or RS256, ES256 or EdDSA (Ed25519) with a key of the issuer. Only the token decides whose data is read.',
        },
        backend: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            "A backend's token: its name in `sub` (1 to 64 letters, digits, `.`, `_` and `-`), an `exp` at most an hour ahead, " +
            'and a `scope` of words separated by spaces: `ledger:read`, `ledger:post`, `ledger:pay`, `ledger:approve`, `ledger:sign`. HS256, HS384 or HS512 with the secret of the ' +
            'backends, or RS256, ES256 or EdDSA (Ed25519) with one of their keys. Where the deployment has `DESK_ACCESS`, a person who has ' +
            'signed in by Cloudflare Access may read, approve, cancel and decide without one, from a page of the service.',
        },
      },
      headers: headers(),
      parameters: { bookmark: bookmarkParameter, cell: cellParameter },
      schemas: componentSchemas(),
    },
  }
}

export interface DocumentedOperation {
  readonly method: string
  readonly path: string
  readonly operation: Operation
  readonly security: readonly JsonObject[]
  /** The failures of this operation and those of every route of its kind. */
  readonly failures: readonly Failure[]
}

/**
 * Every method of every route. Tests send the service each documented example, and for each
 * documented refusal a request that causes it.
 */
export function documentedOperations(): readonly DocumentedOperation[] {
  return Object.entries(operations()).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]: [string, Operation]) => {
      const own = { method, path, operation }
      const ledgerRoute: LedgerRoute | undefined = ledgerRoutes.find(
        (route) => route.path === path && route.method === method.toUpperCase(),
      )
      if (ledgerRoute !== undefined) {
        const failures = [...operation.failures, ...backendFailures([ledgerRoute.scope(path)].flat())]
        return { ...own, security: [{ backend: [] }], failures }
      }
      const isPublic = routes.some((route) => route.path === path && route.rateClass === null)
      const common = isPublic ? serviceFailures() : callerFailures()
      return { ...own, security: isPublic ? [] : [{ bearer: [] }], failures: [...operation.failures, ...common] }
    }),
  )
}

function describeOperation(documented: DocumentedOperation): JsonObject {
  const { method, path, operation, security } = documented
  const { id, summary, description, query, parameters = {}, success, examples, csv } = operation
  const taken = Object.entries(query?.shape ?? {}).map(([name, schema]) => parameter(name, schema, parameters[name]))
  const isPublic = security.length === 0
  const ofEach = path.startsWith('/ledger/') ? ['cell', 'bookmark'] : ['bookmark']
  const named = examples.map((one) => namedExample(method, path, one))
  return {
    operationId: id,
    tags: [tags.find(({ name }) => path.startsWith(`/${name.toLowerCase()}/`))?.name ?? 'Service'],
    summary,
    description,
    security,
    ...(isPublic
      ? {}
      : { parameters: [...taken, ...ofEach.map((name) => ({ $ref: `#/components/parameters/${name}` }))] }),
    ...requestBody(operation),
    responses: {
      200: withCsv(response('Success.', success, isPublic ? [] : [bookmarkHeader], named), csv),
      ...failureResponses(documented),
    },
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
  if (note === undefined) throw new Error(`the parameter ${name} has no note`)
  const { description, example } = note
  // The example stands inside the schema. Swagger UI would send an example that stands beside the
  // schema with every request that a reader tries.
  return {
    name,
    in: 'query',
    required: !(schema instanceof z.ZodMiniOptional),
    description,
    schema: { ...parameterSchema(schema), examples: [example] },
  }
}

/**
 * The JSON Schema of a query parameter: of the parsed value, which shows a number's bounds. If JSON
 * Schema cannot express that value, it is of the text.
 */
function parameterSchema(schema: z.ZodMiniType): JsonObject {
  const parsed = withoutDialect(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }))
  return forGenerators('type' in parsed ? parsed : withoutDialect(z.toJSONSchema(schema, { io: 'input' })), 'request')
}

/**
 * The failures of an operation as one response for each status, with the causes and cures of its
 * failures.
 */
function failureResponses({ method, path, operation, failures }: DocumentedOperation): JsonObject {
  const answered = failures.map((one) => ({ ...one, ...recorded(method, path, one) }))
  return Object.fromEntries(
    [...Map.groupBy(answered, ({ status }) => status)].map(([status, group]) => {
      const headerNames = group.flatMap(({ reason, headers }) => [
        ...(reason === undefined ? [] : [reasonHeader]),
        ...Object.keys(headers),
      ])
      const text = group
        .map(({ reason, cause, cure }) => {
          const word = reason === undefined ? '' : `\`${reason}\`: `
          return `${word}**Cause:** ${cause}\n\n**Cure:** ${cure}`
        })
        .join('\n\n---\n\n')
      const examples = group.map((one) => namedExample(method, path, one))
      return [status, response(text, operation.failure ?? failureBody(), headerNames, examples)]
    }),
  )
}

/**
 * An answer to the request of an example: the headers that the document describes, except those of
 * every answer, and the body.
 */
export interface Recording {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** Where `examples.json` has the answer to a request: in which group, and by which name. */
export const exampleKey = (method: string, path: string, { name, given, everywhere }: Example & Partial<Failure>) =>
  [everywhere ? 'every route' : `${method.toUpperCase()} ${path}`, `${name} (given ${given})`] as const

/** The answer to a documented request as `examples.json` has it. */
function recorded(method: string, path: string, sent: Example): Recording {
  const [group, name] = exampleKey(method, path, sent)
  const all: Readonly<Record<string, Readonly<Record<string, Recording>>>> = recordings
  const known = all[group]?.[name]
  if (known === undefined) throw new Error(`${group} has no answer to "${name}": run \`npm run examples\``)
  return known
}

/** An entry of `examples`: the name of an example, its body, and the request that causes it. */
function namedExample(method: string, path: string, sent: Example): readonly [string, JsonObject] {
  const { name, given, query = '', request, requestHeaders = {} } = sent
  const lines = Object.entries(requestHeaders).map(([header, value]) => ` with \`${header}: ${value}\``)
  const summary = `${name.replaceAll('-', ' ')} (given ${given})`
  // A body that is not JSON and a long query are not shown: the name of the example describes them.
  const body = typeof request === 'object' ? ` with the body \`${JSON.stringify(request)}\`` : ''
  const shown = query.length > 200 ? '?…' : query
  return [
    wordsOf(name),
    {
      summary,
      description: `\`${method.toUpperCase()} ${path}${shown}\`${lines.join()}${body}`,
      value: recorded(method, path, sent).body,
    },
  ]
}

const wordsOf = (name: string) => name.replaceAll(/[^a-z]+/gi, '-')

function response(
  description: string,
  schema: z.ZodMiniType,
  headerNames: readonly string[],
  examples: readonly (readonly [string, JsonObject])[],
) {
  const names = new Set([...commonHeaders, ...headerNames])
  return {
    description,
    headers: Object.fromEntries([...names].map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema: schemaOf(schema), examples: Object.fromEntries(examples) } },
  }
}

/**
 * Adds the media type CSV to a response if its route can answer with CSV. `csv` is an example: the
 * beginning of a table.
 */
function withCsv(described: ReturnType<typeof response>, csv: string | undefined): JsonObject {
  if (csv === undefined) return described
  return { ...described, content: { ...described.content, 'text/csv': { schema: { type: 'string' }, example: csv } } }
}

function componentSchemas(): JsonObject {
  const { schemas } = z.toJSONSchema(notes, { metadata: notes, uri: schemaUri })
  const all = Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]))
  const sent = sentWith(all)
  const directionOf = (id: string): Direction => (sent.has(id) ? 'request' : 'answer')
  return Object.fromEntries(
    Object.entries(all).map(([id, schema]) => [
      id,
      { ...forGenerators(schema, directionOf(id)), ...(id === 'Reason' ? describeReasons() : {}) },
    ]),
  )
}

/**
 * The names of the component schemas that bodies of requests use, directly or inside other
 * components.
 */
function sentWith(schemas: Readonly<Record<string, JsonObject>>): ReadonlySet<string> {
  const sent = new Set<string>()
  const add = (id: string) => {
    if (sent.has(id)) return
    sent.add(id)
    for (const [, inner = ''] of JSON.stringify(schemas[id]).matchAll(/"#\/components\/schemas\/(\w+)"/g)) add(inner)
  }
  for (const { operation } of documentedOperations()) if (operation.body !== undefined) add(idOf(operation.body))
  return sent
}

/**
 * A schema without `$id`, and without `$schema`: that member would only name the dialect that
 * OpenAPI 3.1 has by default.
 */
function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema, $id, ...rest } = schema
  return rest
}
