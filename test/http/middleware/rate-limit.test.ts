import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { rateRetrySeconds } from '../../../src/http/errors.ts'
import wranglerText from '../../wrangler.toml?raw'
import { startService, wholeOf } from '../service.ts'

const limited = {
  status: 429,
  text: `{"code":429,"msg":"too many requests: try again in ${rateRetrySeconds} s"}`,
}

/** The figures in wrangler.toml, in its order: production, then the test network. */
const figures = [...wranglerText.matchAll(/name = "(RATE_\w+)"\nnamespace_id = "(\d+)"\nsimple = (.+)/g)].map(
  ([, name, namespace, simple]) => ({ name, namespace, simple }),
)

/** A database that must not be touched. */
const untouchable = new Proxy(
  { prepare: null, batch: null, withSession: null },
  {
    get: () => () => {
      throw new Error('the database was asked')
    },
  },
)

/** Limiters that let the first `max` requests of each caller pass, and what they were asked. */
function countingLimiters(max: number) {
  const counts = new Map<string, number>()
  const limiter = (name: string) => ({
    limit: ({ key }: { key: string }) => {
      const place = `${name} ${key}`
      counts.set(place, (counts.get(place) ?? 0) + 1)
      return Promise.resolve({ success: (counts.get(place) ?? 0) <= max })
    },
  })
  return { counts, variables: { RATE_LISTS: limiter('lists'), RATE_STRICT: limiter('strict') } }
}

describe('past the limit', () => {
  test.each([
    '/tron/generate',
    '/tron/generate?fresh=1',
    '/tron/balance',
    '/tron/recharge',
    `/tron/recharge?txid=${'ab'.repeat(32)}`,
    '/wallet/list',
    '/wallet/flow/list',
    '/wallet/list?x=bad',
    '/tron/balance?cuy=bad',
  ])('%s is 429 with Retry-After, and neither the database nor a node is asked', async (path) => {
    const service = await startService({ ...countingLimiters(0).variables, DB: untouchable })
    const answer = await service.get(path)
    expect(answer.headers.get('retry-after')).toBe(String(rateRetrySeconds))
    expect(answer.headers.get('x-d1-bookmark')).toBeNull()
    expect(await wholeOf(answer)).toEqual(limited)
    expect(service.nodes.flatMap((node) => node.requests)).toEqual([])
    expect(service.lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'request', status: 429, databaseQueries: 0, rowsRead: 0, nodeCalls: 0 }),
    ])
  })

  test('a request without a good token is not counted, and is 401', async () => {
    const { counts, variables } = countingLimiters(0)
    const service = await startService(variables)
    expect((await service.get('/wallet/list', null)).status).toBe(401)
    expect(counts.size).toBe(0)
  })

  test('the health check answers still, and is not counted', async () => {
    const { counts, variables } = countingLimiters(0)
    expect((await (await startService(variables)).get('/health', null)).status).toBe(200)
    expect(counts.size).toBe(0)
  })
})

describe('the count', () => {
  test('is each caller’s own: one that is past its limit takes nothing from another', async () => {
    const service = await startService(countingLimiters(2).variables)
    const statuses: number[] = []
    for (const uid of [7, 7, 7, 8, 8]) statuses.push((await service.get('/wallet/list', uid)).status)
    expect(statuses).toEqual([200, 200, 429, 200, 200])
  })

  test.each([
    ['/wallet/list', 'lists'],
    ['/wallet/flow/list', 'lists'],
    ['/tron/balance', 'lists'],
    ['/tron/generate', 'lists'],
    ['/tron/generate?fresh=0', 'lists'],
    ['/tron/generate?fresh=1', 'strict'],
    ['/tron/generate?format=hex&fresh=%31', 'strict'],
    ['/tron/generate?%66resh=1', 'strict'],
    ['/tron/recharge', 'strict'],
    ['/tron/recharge?txid=x', 'strict'],
  ])('of %s is that of %s', async (path, name) => {
    const { counts, variables } = countingLimiters(9)
    await (await startService(variables)).get(path)
    expect([...counts]).toEqual([[`${name} 7`, 1]])
  })
})

/** What wrangler.toml allows a caller of what costs most, in a minute. */
const strictFigure = 120

describe('the platform’s own limiter, with the figures of wrangler.toml', () => {
  test('lets through what it says for each minute, and then no more', async () => {
    const service = await startService({ RATE_LISTS: env.RATE_LISTS, RATE_STRICT: env.RATE_STRICT })
    // Twice the limit and one: whenever the minute turns between them, one of the two has too many.
    const calls = 2 * strictFigure + 1
    const ask = (path: string) => Promise.all(Array.from({ length: calls }, () => service.get(path)))
    const strict = await ask('/tron/recharge?txid=x')
    const passed = strict.filter((answer) => answer.status === 400).length
    expect(passed).toBeGreaterThanOrEqual(strictFigure)
    expect(passed).toBeLessThan(calls)
    const [refused] = strict.filter((answer) => answer.status !== 400)
    expect(refused && (await wholeOf(refused))).toEqual(limited)
    const generous = await ask('/wallet/flow/list?page=x')
    expect(generous.filter((answer) => answer.status !== 400)).toEqual([])
    expect((await service.get('/tron/recharge?txid=x', 8)).status).toBe(400)
  })

  test('is the same in production and on the test network, under names of its own', () => {
    expect(figures.map(({ name, simple }) => `${name} ${simple}`)).toEqual([
      `RATE_LISTS { limit = 600, period = ${rateRetrySeconds} }`,
      `RATE_STRICT { limit = ${strictFigure}, period = ${rateRetrySeconds} }`,
      `RATE_LISTS { limit = 600, period = ${rateRetrySeconds} }`,
      `RATE_STRICT { limit = ${strictFigure}, period = ${rateRetrySeconds} }`,
    ])
    expect(new Set(figures.map(({ namespace }) => namespace)).size).toBe(4)
  })
})

describe('a limiter that is no help', () => {
  test('is done without where its binding is missing, and the log says so', async () => {
    const service = await startService()
    expect((await service.get('/wallet/list')).status).toBe(200)
    expect(service.lines.filter((line) => line.includes('no-rate-limit'))).toEqual([
      '{"level":"warn","event":"no-rate-limit","name":"lists"}',
      '{"level":"warn","event":"no-rate-limit","name":"strict"}',
    ])
  })

  test('is done without where it fails, and the log says so', async () => {
    const failing = { limit: () => Promise.reject(new Error('away')) }
    const service = await startService({ RATE_LISTS: failing, RATE_STRICT: failing })
    expect((await service.get('/wallet/list')).status).toBe(200)
    expect(service.lines).toContain('{"level":"warn","event":"rate-limit-failed","name":"lists"}')
  })

  test('is a wrong configuration where something else has its name', async () => {
    const service = await startService({ RATE_LISTS: '600' })
    expect((await service.get('/wallet/list')).status).toBe(503)
    expect(service.lines.join()).toContain('"fault":"RATE_LISTS: a rate-limit binding"')
  })
})
