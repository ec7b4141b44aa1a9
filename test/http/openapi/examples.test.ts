import { beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import type { Address } from '../../../src/chain/address.ts'
import { failureBody, type Situation } from '../../../src/http/openapi/docs.ts'
import { documentedOperations, failureExample } from '../../../src/http/openapi/document.ts'
import { failuresOutsideRoutes } from '../../../src/http/openapi/failures.ts'
import { bearer, forgeToken, goodClaims } from '../../support/tokens.ts'
import { addressOf, usdtAddress } from '../../support/transaction-spec.ts'
import {
  addressIn,
  brokenDatabase,
  finalityLag,
  nodesWith,
  payFinal,
  postInit,
  type RunningService,
  renewFinal,
  startService,
  trxTo,
  usdtTo,
} from '../service.ts'

/** Each method of each route, with its documentation. */
const documented = documentedOperations().map((one) => ({ ...one, method: one.method.toUpperCase() }))

describe.each(documented)(
  'the documentation of $method $path',
  ({ method, path, operation: { success, examples } }) => {
    test.each(examples)(
      'has the response to "$query", given $given: $name',
      async ({ given, query = '', request, body }) => {
        const response = await send(await situations[given](), method, path + query, { request })
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

// One service for all failures of a situation: a request that fails changes nothing.
describe.each([...Map.groupBy(failures, ({ given }) => given)])('the documentation has, given %s,', (given, all) => {
  let service: RunningService
  beforeAll(async () => {
    service = await situations[given]()
  })

  test.each(all)('the failure $problem.status $name of $method $path', async (documented) => {
    const { name, method, path, query = '', request, requestHeaders, schema, problem } = documented
    const headers = { ...requestHeaders, ...(name === 'keys-unavailable' ? keySetToken : {}) }
    const response = await send(service, method, path + query, { headers, request, given })
    const text = await response.text()
    const isUsedUp = name === 'requests-used-up' // how long it takes depends on the hour
    const shown = isUsedUp ? text.replace(/about \d+ s/, 'about 60 s') : text
    expect({ status: response.status, text: shown }).toEqual({
      status: problem.status,
      text: JSON.stringify(failureExample(documented)),
    })
    expect(fits(schema, text)).toBe(true)
    const seconds = isUsedUp ? { 'retry-after': expect.stringMatching(/^\d+$/) } : {}
    expect(headersOf(response)).toEqual({ 'cache-control': 'no-store', ...problem.headers, ...seconds })
  })
})

describe('the example of each parameter', () => {
  const queries = documented.flatMap(({ path, operation: { parameters = {} } }) => {
    const uid = (name: string) => ('uid' in parameters && !['txid', 'address'].includes(name) ? 'uid=7&' : '') // these go alone
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

/** What a request has besides its method and URL. */
interface Sent {
  readonly headers?: Record<string, string>
  readonly request?: unknown
  readonly given?: Situation
}

/** Sends a request of caller 7, or of a backend, as the path requires. */
function send(service: RunningService, method: string, url: string, { headers = {}, request, given }: Sent) {
  const post = request === undefined ? {} : postInit(request)
  const init = { ...post, method, headers: { ...post.headers, ...headers } }
  if (!url.startsWith('/ledger/') || given === 'no token')
    return service.get(url, given === 'no token' ? null : 7, init)
  return service.ledger(url, init, given === 'a token without a scope' ? { scope: undefined } : {})
}

/** A token that only a key of a key set can verify. */
const keySetToken = bearer(forgeToken({ alg: 'ES256', kid: 'key-1' }, goodClaims(), 'signature'))

/** Without the creation times and the size of the database, which differ between runs. */
const undated = (text: string) => text.replaceAll(/(?<="created_at":"|"bytes":)[^",]+/g, '')

const fits = (schema: z.ZodMiniType, text: string) => schema.safeParse(JSON.parse(text)).success

/** The documented headers without the id, which always differs. */
function headersOf({ headers }: Response): Record<string, string> {
  expect(headers.get('x-request-id')).toBeTruthy()
  const documented = ['cache-control', 'retry-after', 'www-authenticate']
  return Object.fromEntries(documented.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))
}

/** Nodes that allow less than what is set aside for ticks. */
const nodesForTicks = nodesWith({ perDay: 10_000 })

const reachedLimit = { limit: () => Promise.resolve({ success: false }) }

const withAddress = async (variables: Record<string, unknown> = {}) => {
  const service = await startService(variables)
  return { service, to: await addressIn(await service.get('/tron/generate')) }
}

/** Two deposits of the caller. They are always in a block of the same height, so that their txids are the same. */
const deposits = (to: Address) => [trxTo(to, 3_500_000n), usdtTo(to, 25_000_000n)] as const

const twoDeposits = async () => {
  const { service, to } = await withAddress()
  payFinal(service, ...deposits(to))
  for (const node of service.nodes) {
    node.balances.set(to, 3_500_000n)
    node.balances.set(`${usdtAddress} ${to}`, 25_000_000n)
  }
  return service
}

const credited = async () => {
  const service = await twoDeposits()
  await service.get('/tron/recharge')
  service.clock.seconds += 60
  await service.get('/tron/recharge') // a scan has succeeded just now
  await renewFinal(service)
  return service
}

const silence = (service: RunningService) => {
  for (const node of service.nodes) node.script = () => ({ kind: 'broken-connection' })
  return service
}

const situations: Readonly<Record<Situation, () => Promise<RunningService>>> = {
  'a new caller': () => startService(),
  'a token without a scope': () => startService(),
  'no token': () => startService(),
  'an address': async () => (await withAddress()).service,
  'twenty addresses without a deposit': async () => {
    const { service } = await withAddress()
    for (let i = 1; i < 20; i += 1) await service.get('/tron/generate?fresh=1')
    return service
  },
  'no issue of addresses': () => startService({ ISSUE_ADDRESSES: 'off' }),
  'two deposits, not scanned yet': twoDeposits,
  'two deposits, credited': credited,
  'two deposits and a payment': async () => {
    const service = await credited()
    const { status } = await service.post([
      { uid: 7, cuy: 2, type: 4, osn: 'order-1001', amt: '-2.5', mark: 'two cups' },
    ])
    expect(status).toBe(200)
    return service
  },
  'two deposits that are not final': async () => {
    const { service, to } = await withAddress()
    service.chain.add(deposits(to))
    return service
  },
  'a failed transaction': async () => {
    const { service, to } = await withAddress()
    payFinal(service, {
      kind: 'token',
      contract: usdtAddress,
      from: addressOf(99),
      to,
      amount: 25_000_000n,
      failed: true,
    })
    return service
  },
  'nodes that disagree': async () => {
    const service = await twoDeposits()
    const [, second] = service.nodes
    if (second === undefined) throw new Error('the service has two nodes')
    second.chain = service.chain.fork(service.chain.tip().height - finalityLag - 1)
    second.chain.addEmpty(finalityLag + 1)
    return service
  },
  'nodes that do not respond': async () => silence(await startService()),
  'an address and nodes that do not respond': async () => silence((await withAddress()).service),
  'no requests for callers': () => startService(nodesForTicks),
  'an address and no requests for callers': async () => (await withAddress()).service.with(nodesForTicks),
  'token signing keys that cannot be fetched': () =>
    startService({
      AUTH_JWT_SECRET: undefined,
      AUTH_JWKS_URL: 'https://keys.example/jwks',
      BACKEND_JWKS_URL: 'https://keys.example/backends',
    }),
  'no configuration': () => startService({ TRON_XPUB: undefined }),
  'no database': () => startService({ DB: brokenDatabase() }),
  'a rate limit that is reached': () =>
    startService({ RATE_LISTS: reachedLimit, RATE_NODES: reachedLimit, RATE_LEDGER: reachedLimit }),
  'no scan for four minutes': async () => {
    const service = await credited()
    service.clock.seconds += 180
    return service
  },
}
