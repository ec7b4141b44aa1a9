import { describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import type { Address } from '../../../src/addresses/address.ts'
import { failureBody } from '../../../src/http/openapi/document.ts'
import { elsewhere } from '../../../src/http/openapi/failures.ts'
import type { Operation, Situation } from '../../../src/http/openapi/operation.ts'
import { operations } from '../../../src/http/openapi/operations.ts'
import { failureAnswer, unhealthyAnswer } from '../../../src/http/openapi/response-schemas.ts'
import { addressOf, usdt } from '../../support/chain-builder.ts'
import { addressIn, finalityLag, payFinal, type RunningService, startService, trxTo, usdtTo } from '../service.ts'

const paths: readonly (readonly [string, Operation])[] = Object.entries(operations)

describe.each(paths)('%s, as documented', (path, { answer, examples, failures }) => {
  test.each(examples)('$name: given $given, "$query" is answered so', async ({ given, query, body }) => {
    const response = await (await situations[given]()).get(path + query)
    const text = await response.text()
    expect({ status: response.status, text: undated(text) }).toEqual({
      status: 200,
      text: undated(JSON.stringify(body)),
    })
    expect(fits(answer, text)).toBe(true)
    expect(headersOf(response)).toEqual({ 'cache-control': 'no-store' })
  })

  test.each(failures)('$status $name: given $given, "$query" is answered so', async (failure) => {
    const service = await situations[failure.given]()
    const uid = failure.given === 'no token' ? null : 7
    const response = await service.get(path + failure.query, uid, { headers: failure.requestHeaders ?? {} })
    const text = await response.text()
    expect({ status: response.status, text }).toEqual({
      status: failure.status,
      text: JSON.stringify(failureBody(failure)),
    })
    expect(fits(failure.data === undefined ? failureAnswer : unhealthyAnswer, text)).toBe(true)
    expect(headersOf(response)).toEqual({ 'cache-control': 'no-store', ...failure.headers })
  })
})

describe('the example of each parameter', () => {
  const queries = paths.flatMap(([path, { parameters }]) =>
    Object.entries(parameters).map(([name, { example }]) => `${path}?${name}=${encodeURIComponent(example)}`),
  )

  test.each(queries)('is taken: %s', async (query) => {
    const response = await (await situations['two deposits, credited']()).get(query)
    expect(response.status).toBe(200)
  })
})

describe('outside the routes, as documented', () => {
  test.each(elsewhere)('$method $path is answered $status', async ({ method, path, status, msg }) => {
    const response = await (await startService()).get(path, null, { method })
    expect(response.status).toBe(status)
    expect(await response.text()).toBe(JSON.stringify({ code: status, msg }))
  })
})

/** When an entry was made is the one thing that no two runs share. */
const undated = (text: string) => text.replaceAll(/(?<="created_at":")[^"]+/g, 'then')

const fits = (schema: z.ZodMiniType, text: string) => schema.safeParse(JSON.parse(text)).success

/** The headers that the document tells of, but for the id, which is never the same. */
function headersOf({ headers }: Response): Record<string, string> {
  expect(headers.get('x-request-id')).toBeTruthy()
  const told = ['cache-control', 'retry-after', 'www-authenticate']
  return Object.fromEntries(told.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))
}

const away = () => {
  throw new Error('D1_ERROR: the database is away')
}
const brokenDatabase = { prepare: away, batch: away, withSession: away }

const reachedLimit = { limit: () => Promise.resolve({ success: false }) }

const withAddress = async (variables: Record<string, unknown> = {}) => {
  const service = await startService(variables)
  return { service, to: await addressIn(await service.get('/tron/generate')) }
}

/** The caller's two deposits, always in a block of the same height: then their txids are always the same. */
const deposits = (to: Address) => [trxTo(to, 3_500_000n), usdtTo(to, 25_000_000n)] as const

const twoDeposits = async () => {
  const { service, to } = await withAddress()
  payFinal(service, ...deposits(to))
  for (const node of service.nodes) {
    node.balances.set(to, 3_500_000n)
    node.balances.set(`${usdt} ${to}`, 25_000_000n)
  }
  return service
}

const credited = async () => {
  const service = await twoDeposits()
  await service.get('/tron/recharge')
  service.clock.seconds += 60
  return service
}

const silence = (service: RunningService) => {
  for (const node of service.nodes) node.script = () => ({ kind: 'broken-connection' })
  return service
}

const situations: Readonly<Record<Situation, () => Promise<RunningService>>> = {
  'a new caller': () => startService(),
  'no token': () => startService(),
  'an address': async () => (await withAddress()).service,
  'twenty addresses without a deposit': async () => {
    const { service } = await withAddress()
    for (let i = 1; i < 20; i += 1) await service.get('/tron/generate?fresh=1')
    return service
  },
  'two deposits, not scanned yet': twoDeposits,
  'two deposits, credited': credited,
  'two deposits that are not final': async () => {
    const { service, to } = await withAddress()
    service.chain.add(deposits(to))
    return service
  },
  'a transaction that failed': async () => {
    const { service, to } = await withAddress()
    payFinal(service, { kind: 'token', contract: usdt, from: addressOf(99), to, amount: 25_000_000n, failed: true })
    return service
  },
  'nodes that disagree': async () => {
    const service = await twoDeposits()
    const [, second] = service.nodes
    if (second === undefined) throw new Error('two nodes are asked')
    second.chain = service.chain.fork(service.chain.tip().height - finalityLag - 1)
    second.chain.addEmpty(finalityLag + 1)
    return service
  },
  'nodes that do not answer': async () => silence(await startService()),
  'an address, and nodes that do not answer': async () => silence((await withAddress()).service),
  'token keys that can not be fetched': () =>
    startService({ AUTH_JWT_SECRET: undefined, AUTH_JWKS_URL: 'https://keys.example/jwks' }),
  'no configuration': () => startService({ TRON_XPUB: undefined }),
  'no database': () => startService({ DB: brokenDatabase }),
  'a rate limit that is reached': () => startService({ RATE_LISTS: reachedLimit, RATE_STRICT: reachedLimit }),
  'no scan for four minutes': async () => {
    const service = await credited()
    service.clock.seconds += 180
    return service
  },
}
