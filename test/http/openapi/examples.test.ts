import { beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { allReasons, handInTexts } from '../../../src/worker/common/reasons.ts'
import type { Example, Failure, Situation } from '../../../src/worker/http/openapi/docs.ts'
import { documentedOperations, exampleKey, type Recording } from '../../../src/worker/http/openapi/document.ts'
import recordings from '../../../src/worker/http/openapi/examples.json' with { type: 'json' }
import { failuresOutsideRoutes } from '../../../src/worker/http/openapi/failures.ts'
import { failureBody } from '../../../src/worker/schemas/parts.ts'
import { bearer, forgeToken, goodClaims } from '../../support/tokens.ts'
import { postInit, type RunningService } from '../service.ts'
import { situations } from './situations.ts'

/** Each documented operation, with its method in capitals. */
const documented = documentedOperations().map((one) => ({ ...one, method: one.method.toUpperCase() }))

/** The answer to each documented request, by its place in `examples.json`. */
const answers = new Map<string, Recording>()

/**
 * Sends a documented request, checks its headers and the schema of its body, and keeps the answer
 * for `examples.json`.
 */
async function answer(service: RunningService, one: Documented): Promise<Recording> {
  const { method, path, query = '', name, reason, requestHeaders, schema } = one
  const headers = { ...requestHeaders, ...(name === 'keys-unavailable' ? keySetToken : {}) }
  const response = await send(service, method, path + query, { ...one, headers })
  const text = await response.text()
  expect(schema.safeParse(JSON.parse(text)).success).toBe(true)
  const { 'cache-control': cacheControl, 'x-reason': word, ...others } = headersOf(response)
  expect([cacheControl, word]).toEqual(['no-store', reason])
  const body = JSON.parse(text)
  expect(JSON.stringify(body)).toBe(text) // so that the recorded body has every digit
  const answered = { status: response.status, headers: others, body }
  const place = exampleKey(method, path, one).join()
  // all routes answer alike what is documented as an answer of every route
  expect(answers.get(place) ?? answered).toEqual(answered)
  answers.set(place, answered)
  return answered
}

/** A documented request, with the schema of the body of its answer. */
type Documented = Example & Partial<Failure> & { method: string; path: string; schema: z.ZodMiniType }

const requests = documented.flatMap(({ method, path, operation: { success, examples } }) =>
  examples.map((one): Documented => ({ query: '', ...one, method, path, schema: success })),
)

describe('the documentation', () => {
  test.each(requests)('has the answer to $method $path "$query", given $given: $name', async (one) => {
    expect((await answer(await situations[one.given](), one)).status).toBe(200)
  })
})

/** Each documented failure of each route, and those that no route lists. */
const failures = [
  ...documented.flatMap(({ method, path, operation: { failure: schema = failureBody() }, failures: own }) =>
    own.map((failure): Documented => ({ ...failure, method, path, schema })),
  ),
  ...failuresOutsideRoutes().map((one): Documented => ({ ...one, schema: failureBody() })),
]

// All failures with the same situation (`given`) use one service, because a request that fails
// changes nothing.
describe.each([...Map.groupBy(failures, ({ given }) => given)])('the documentation has, given %s,', (given, all) => {
  let service: RunningService
  beforeAll(async () => {
    service = await situations[given]()
  })

  test.each(all)('the failure $name of $method $path', async (one) => {
    expect((await answer(service, one)).status).toBeGreaterThanOrEqual(400)
  })
})

test('every answer above is as recorded: after a change, run `npm run examples`', async () => {
  const recorded: Readonly<Record<string, Readonly<Record<string, Recording>>>> = recordings
  const places = [...requests, ...failures].map((one) => exampleKey(one.method, one.path, one))
  const groups = [...Map.groupBy(places, ([group]) => group)].map(([group, own]) => {
    const lines = own.map(([, name]) => {
      const [known, answered] = [recorded[group]?.[name], answers.get(`${group},${name}`)]
      const isKnown = known !== undefined && answered !== undefined && undated(name, known) === undated(name, answered)
      return `    ${JSON.stringify(name)}: ${JSON.stringify(isKnown ? known : answered)}`
    })
    return `  ${JSON.stringify(group)}: {\n${[...new Set(lines)].join(',\n')}\n  }`
  })
  await expect(`{\n${groups.join(',\n')}\n}\n`).toMatchFileSnapshot('../../../src/worker/http/openapi/examples.json')
})

/**
 * Reasons that are given for single payouts in a response with status 200, and so are no documented
 * failure. The tests in test/payouts cause each.
 */
const inLists: readonly string[] = Object.keys(handInTexts())

test.each(allReasons().filter((one) => !inLists.includes(one)))(
  '%s is the word of a documented failure, which a request has shown',
  (reason) => {
    expect(failures.filter((one) => one.reason === reason)).not.toEqual([])
  },
)

describe('the example of each parameter', () => {
  const queries = documented.flatMap(({ path, operation: { parameters = {}, query } }) => {
    // examples of these have no `uid`
    const uid = (name: string) => ('uid' in parameters && !['txid', 'address', 'reason'].includes(name) ? 'uid=7&' : '')
    const needed = (name: string) =>
      Object.entries(query?.shape ?? {})
        .filter(([other, form]) => ![name, 'uid'].includes(other) && !form.safeParse(undefined).success)
        .map(([other]) => `${other}=${encodeURIComponent(parameters[other]?.example ?? '')}&`)
        .join('')
    return Object.entries(parameters)
      .filter(([name]) => name !== 'uid')
      .map(([name, { example }]) => `${path}?${uid(name)}${needed(name)}${name}=${encodeURIComponent(example)}`)
  })

  let service: RunningService
  beforeAll(async () => {
    service = await situations['two deposits, credited']()
  })

  test.each(queries)('is accepted: %s', async (query) => {
    expect((await send(service, 'GET', query, {})).status).toBe(200)
  })
})

interface Sent {
  readonly headers?: Record<string, string>
  readonly request?: unknown
  readonly given?: Situation
  readonly by?: string | undefined
}

/** Sends a request with the token of user 7, or of a backend if the path is under `/ledger/`. */
async function send(
  service: RunningService,
  method: string,
  url: string,
  { headers = {}, request, given, by = 'shop' }: Sent,
) {
  const post = request === undefined ? {} : postInit(request)
  const init = { ...post, method, headers: { ...post.headers, ...headers } }
  if (!url.startsWith('/ledger/') || given === 'no token')
    return service.get(url, given === 'no token' ? null : 7, init)
  const response = await service.ledger(url, init, {
    ...(by === undefined ? {} : { sub: by }),
    ...scopes[given ?? 'a new caller'],
  })
  await service.settled() // after a hand-in, the service sends payouts in the background
  return response
}

/** The claims of the backend's token that differ from the usual ones, by situation. */
const scopes: Readonly<Partial<Record<Situation, Readonly<Record<string, unknown>>>>> = {
  'a token without a scope': { scope: undefined },
  'a token that only reads': { scope: 'ledger:read' },
}

/** An authorization header whose token only the keys of a key set can verify. */
const keySetToken = bearer(forgeToken({ alg: 'ES256', kid: 'key-1' }, goodClaims(), 'signature'))

/**
 * An answer without what differs between runs: times, the size of the database and, for a used up
 * allowance, when there is more.
 */
function undated(name: string, { status, headers, body }: Recording): string {
  const isUsedUp = /^\w+-allowance /.test(name) // when it is renewed depends on the time of day
  const text = JSON.stringify(body).replaceAll(/(?<="created_at":"|"until":"|"bytes":|"used":)[^",]+/g, '')
  return isUsedUp ? `${status} ${text.replace(/about \d+ s/, '')}` : JSON.stringify([status, headers, text])
}

/** The documented headers of a response; `x-request-id` must exist, but differs each time. */
function headersOf({ headers }: Response): Record<string, string> {
  expect(headers.get('x-request-id')).toBeTruthy()
  const documented = ['cache-control', 'x-reason', 'retry-after', 'www-authenticate']
  return Object.fromEntries(documented.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))
}
