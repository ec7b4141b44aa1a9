import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { rateRetrySeconds, tooManyRequests } from '../../../src/http/errors.ts'
import wranglerText from '../../../wrangler.toml?raw'
import { brokenDatabase, failed, read, startService } from '../service.ts'

const limited = failed(429, tooManyRequests.msg)

/** The figures in wrangler.toml, in its order: production, then the test network. */
const figures = [...wranglerText.matchAll(/name = "(RATE_\w+)"\nnamespace_id = "(\d+)"\nsimple = (.+)/g)].map(
  ([, name, namespace, simple]) => ({ name, namespace, simple }),
)

/** Limiters that allow the first `max` requests of each caller, and the number of requests by limiter and caller. */
function countingLimiters(max: number) {
  const counts = new Map<string, number>()
  const limiter = (name: string) => ({
    limit: ({ key }: { key: string }) => {
      const count = (counts.get(`${name} ${key}`) ?? 0) + 1
      counts.set(`${name} ${key}`, count)
      return Promise.resolve({ success: count <= max })
    },
  })
  return { counts, variables: { RATE_LISTS: limiter('lists'), RATE_STRICT: limiter('strict') } }
}

describe('over the limit', () => {
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
  ])('%s is 429 with Retry-After, without a query to the database or a node', async (path) => {
    const service = await startService({ ...countingLimiters(0).variables, DB: brokenDatabase() })
    const response = await service.get(path)
    expect(response.headers.get('retry-after')).toBe(String(rateRetrySeconds))
    expect(response.headers.get('x-d1-bookmark')).toBeNull()
    expect(await read(response)).toEqual(limited)
    expect(service.nodes.flatMap((node) => node.requests)).toEqual([])
    expect(service.lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'request', status: 429, databaseQueries: 0, rowsRead: 0, nodeCalls: 0 }),
    ])
  })

  test('a request without a valid token is 401 and is not counted', async () => {
    const { counts, variables } = countingLimiters(0)
    const service = await startService(variables)
    expect((await service.get('/wallet/list', null)).status).toBe(401)
    expect(counts.size).toBe(0)
  })

  test('the health check is a success and is not counted', async () => {
    const { counts, variables } = countingLimiters(0)
    expect((await (await startService(variables)).get('/health', null)).status).toBe(200)
    expect(counts.size).toBe(0)
  })
})

describe('the count of a caller', () => {
  test('is not reduced by another caller who is over the limit', async () => {
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
  ])('for %s is that of %s', async (path, name) => {
    const { counts, variables } = countingLimiters(9)
    await (await startService(variables)).get(path)
    expect([...counts]).toEqual([[`${name} 7`, 1]])
  })
})

/** The limit of RATE_STRICT in wrangler.toml. */
const strictFigure = 120

describe('the platform’s own limiter, with the figures of wrangler.toml', () => {
  test('allows its limit in each minute and no more', async () => {
    const service = await startService({ RATE_LISTS: env.RATE_LISTS, RATE_STRICT: env.RATE_STRICT })
    // Twice the limit and one more: wherever the minute ends between them, one of the two minutes has too many.
    const calls = 2 * strictFigure + 1
    const getAll = (path: string) => Promise.all(Array.from({ length: calls }, () => service.get(path)))
    const strict = await getAll('/tron/recharge?txid=x')
    const passed = strict.filter(({ status }) => status === 400).length
    expect(passed).toBeGreaterThanOrEqual(strictFigure)
    expect(passed).toBeLessThan(calls)
    const [refused] = strict.filter(({ status }) => status !== 400)
    expect(refused && (await read(refused))).toEqual(limited)
    const generous = await getAll('/wallet/flow/list?page=x')
    expect(generous.filter(({ status }) => status !== 400)).toEqual([])
    expect((await service.get('/tron/recharge?txid=x', 8)).status).toBe(400)
  })

  test('has the same limits in production and on the test network, and separate counts', () => {
    expect(figures.map(({ name, simple }) => `${name} ${simple}`)).toEqual([
      `RATE_LISTS { limit = 600, period = ${rateRetrySeconds} }`,
      `RATE_STRICT { limit = ${strictFigure}, period = ${rateRetrySeconds} }`,
      `RATE_LISTS { limit = 600, period = ${rateRetrySeconds} }`,
      `RATE_STRICT { limit = ${strictFigure}, period = ${rateRetrySeconds} }`,
    ])
    expect(new Set(figures.map(({ namespace }) => namespace)).size).toBe(4)
  })
})

describe('a limiter that does not work', () => {
  test('allows every request where its binding is missing, with a line in the log', async () => {
    const service = await startService()
    expect((await service.get('/wallet/list')).status).toBe(200)
    expect(service.lines.filter((line) => line.includes('no-rate-limit'))).toEqual([
      '{"level":"warn","event":"no-rate-limit","name":"lists"}',
      '{"level":"warn","event":"no-rate-limit","name":"strict"}',
    ])
  })

  test('allows every request where it fails, with a line in the log', async () => {
    const failing = { limit: () => Promise.reject(new Error('unavailable')) }
    const service = await startService({ RATE_LISTS: failing, RATE_STRICT: failing })
    expect((await service.get('/wallet/list')).status).toBe(200)
    expect(service.lines).toContain('{"level":"warn","event":"rate-limit-failed","name":"lists"}')
  })

  test('is a wrong configuration where something else has its name', async () => {
    const service = await startService({ RATE_LISTS: '600' })
    expect((await service.get('/wallet/list')).status).toBe(503)
    expect(service.lines.join()).toContain('"fault":"RATE_LISTS: ')
  })
})
