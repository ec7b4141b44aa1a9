import { beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { allReasons, handInTexts } from '../../../src/worker/common/reasons.ts'
import type { Situation } from '../../../src/worker/http/openapi/docs.ts'
import { documentedOperations, failureExample } from '../../../src/worker/http/openapi/document.ts'
import { failuresOutsideRoutes } from '../../../src/worker/http/openapi/failures.ts'
import { failureBody } from '../../../src/worker/schemas/parts.ts'
import { bearer, forgeToken, goodClaims } from '../../support/tokens.ts'
import { postInit, type RunningService, startService } from '../service.ts'
import { situations } from './situations.ts'

/** Each documented operation, with its method in capitals. */
const documented = documentedOperations().map((one) => ({ ...one, method: one.method.toUpperCase() }))

describe.each(documented)(
  'the documentation of $method $path',
  ({ method, path, operation: { success, examples } }) => {
    test.each(examples)(
      'has the response to "$query", given $given: $name',
      async ({ given, query = '', request, by, body }) => {
        const response = await send(await situations[given](), method, path + query, { request, by })
        const text = await response.text()
        expect({ status: response.status, text: undated(text) }).toEqual({
          status: 200,
          text: undated(JSON.stringify(body)),
        })
        expect(fits(success, text)).toBe(true)
        expect(headersOf(response)).toEqual({ 'cache-control': 'no-store' })
      },
    )
  },
)

/** Each documented failure of each route, with the schema of its body. */
const failures = documented.flatMap(({ method, path, operation: { failure: schema = failureBody() }, failures: own }) =>
  own.map((failure) => ({ ...failure, method, path, schema })),
)

// All failures with the same situation (`given`) use one service, because a request that fails changes nothing.
describe.each([...Map.groupBy(failures, ({ given }) => given)])('the documentation has, given %s,', (given, all) => {
  let service: RunningService
  beforeAll(async () => {
    service = await situations[given]()
  })

  test.each(all)('the failure $problem.status $name of $method $path', async (documented) => {
    const { name, method, path, query = '', request, by, requestHeaders, schema, problem } = documented
    const headers = { ...requestHeaders, ...(name === 'keys-unavailable' ? keySetToken : {}) }
    const response = await send(service, method, path + query, { headers, request, given, by })
    const text = await response.text()
    const isUsedUp = name.endsWith('-allowance') // `retry-after` depends on the time of day
    const shown = isUsedUp ? text.replace(/about \d+ s/, 'about 60 s') : text
    expect({ status: response.status, text: shown }).toEqual({
      status: problem.status,
      text: JSON.stringify(failureExample(documented)),
    })
    expect(fits(schema, text)).toBe(true)
    const seconds = isUsedUp ? { 'retry-after': expect.stringMatching(/^\d+$/) } : {}
    const word = 'reason' in problem ? { 'x-reason': problem.reason } : {}
    expect(headersOf(response)).toEqual({ 'cache-control': 'no-store', ...word, ...problem.headers, ...seconds })
  })
})

/** Reasons that are given for single payouts in a response with status 200, and so are no documented failure. The tests in test/payouts cause each. */
const inLists: readonly string[] = Object.keys(handInTexts())

test.each(allReasons().filter((one) => !inLists.includes(one)))(
  '%s is the word of a documented failure, which a request has shown',
  (reason) => {
    const own = failures.filter(({ problem }) => 'reason' in problem && problem.reason === reason)
    expect(own.map(({ problem }) => problem.status)).not.toEqual([])
  },
)

describe('the example of each parameter', () => {
  const queries = documented.flatMap(({ path, operation: { parameters = {} } }) => {
    const uid = (name: string) => ('uid' in parameters && !['txid', 'address'].includes(name) ? 'uid=7&' : '') // examples of these two have no `uid`
    return Object.entries(parameters)
      .filter(([name]) => name !== 'uid')
      .map(([name, { example }]) => `${path}?${uid(name)}${name}=${encodeURIComponent(example)}`)
  })

  let service: RunningService
  beforeAll(async () => {
    service = await situations['two deposits, credited']()
  })

  test.each(queries)('is accepted: %s', async (query) => {
    expect((await send(service, 'GET', query, {})).status).toBe(200)
  })
})

describe('the documentation of requests that reach no route', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService()
  })

  test.each(failuresOutsideRoutes())(
    'has the failure of $method $path: $problem.status',
    async ({ method, path, problem: { status, msg } }) => {
      const response = await service.get(path, null, { method })
      expect(response.status).toBe(status)
      expect(await response.text()).toBe(JSON.stringify({ code: status, msg }))
    },
  )
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

/** Removes what differs between runs: the times, and the size of the database. */
const undated = (text: string) => text.replaceAll(/(?<="created_at":"|"until":"|"bytes":|"used":)[^",]+/g, '')

const fits = (schema: z.ZodMiniType, text: string) => schema.safeParse(JSON.parse(text)).success

/** The documented headers of a response; `x-request-id` must exist, but differs each time. */
function headersOf({ headers }: Response): Record<string, string> {
  expect(headers.get('x-request-id')).toBeTruthy()
  const documented = ['cache-control', 'x-reason', 'retry-after', 'www-authenticate']
  return Object.fromEntries(documented.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))
}
