import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { rateRetrySeconds, tooManyRequests } from '../../../src/worker/http/errors.ts'
import wranglerText from '../../../wrangler.toml?raw'
import { brokenDatabase, failed, read, startService } from '../service.ts'

const limited = failed(429, tooManyRequests.msg)

/** The rate limits in wrangler.toml: first those of production, then those of the test network. */
const figures = [...wranglerText.matchAll(/name = "(RATE_\w+)"\nnamespace_id = "(\d+)"\nsimple = (.+)/g)].map(
  ([, name, namespace, simple]) => ({ name, namespace, simple }),
)

/**
 * Limiters that let the first `max` requests of each user pass. `counts` has the number of requests
 * by limiter and user.
 */
function countingLimiters(max: number) {
  const counts = new Map<string, number>()
  const limiter = (name: string) => ({
    limit: ({ key }: { key: string }) => {
      const count = (counts.get(`${name} ${key}`) ?? 0) + 1
      counts.set(`${name} ${key}`, count)
      return Promise.resolve({ success: count <= max })
    },
  })
  return {
    counts,
    variables: {
      RATE_LISTS: limiter('lists'),
      RATE_NODES: limiter('nodes'),
      RATE_LEDGER: limiter('ledger'),
    },
  }
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
      expect.objectContaining({ event: 'request', status: 429, databaseQueries: 0, rowsRead: 0 }),
    ])
  })

  test('a request without a valid token is 401 and is not counted', async () => {
    const { counts, variables } = countingLimiters(0)
    const service = await startService(variables)
    expect((await service.get('/wallet/list', null)).status).toBe(401)
    expect(counts.size).toBe(0)
  })

  test('the health check is not refused and not counted', async () => {
    const { counts, variables } = countingLimiters(0)
    expect((await (await startService(variables)).get('/health', null)).status).not.toBe(429)
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
    ['/tron/balance', 'nodes'],
    ['/tron/generate', 'lists'],
    ['/tron/generate?fresh=0', 'lists'],
    ['/tron/generate?fresh=1', 'nodes'],
    ['/tron/generate?format=hex&fresh=%31', 'nodes'],
    ['/tron/generate?%66resh=1', 'nodes'],
    ['/tron/recharge', 'nodes'],
    ['/tron/recharge?txid=x', 'nodes'],
  ])('for %s is that of %s', async (path, name) => {
    const { counts, variables } = countingLimiters(9)
    await (await startService(variables)).get(path)
    expect([...counts]).toEqual([[`${name} 7`, 1]])
  })
})

describe('the count of a backend', () => {
  test.each([
    '/ledger/entries?uid=7',
    '/ledger/entries?uid=x',
    '/ledger/wallets?uid=7',
    '/ledger/address?uid=7&fresh=1',
  ])('for %s is its own', async (path) => {
    const { counts, variables } = countingLimiters(1)
    const service = await startService(variables)
    expect((await service.ledger(path)).status).not.toBe(429)
    expect((await service.ledger(path, {}, { sub: 'other' })).status).not.toBe(429)
    const response = await service.ledger(path)
    expect(response.headers.get('retry-after')).toBe(String(rateRetrySeconds))
    expect(await read(response)).toEqual(limited)
    expect([...counts]).toEqual([
      ['ledger shop', 2],
      ['ledger other', 1],
    ])
  })

  test('is over for a post before its body is read', async () => {
    const service = await startService({ ...countingLimiters(0).variables, DB: brokenDatabase() })
    expect(await read(await service.post('x'))).toEqual(limited)
  })
})

/** The limit of RATE_NODES in wrangler.toml, in requests a minute. */
const nodesFigure = 20

describe('the platform’s own limiter, with the figures of wrangler.toml', () => {
  test('allows its limit in each minute and no more', async () => {
    const service = await startService({ RATE_LISTS: env.RATE_LISTS, RATE_NODES: env.RATE_NODES })
    // Twice the limit and one more: even if a new minute begins between them, one of the two
    // minutes has too many.
    const calls = 2 * nodesFigure + 1
    const getAll = (path: string) => Promise.all(Array.from({ length: calls }, () => service.get(path)))
    const some = await getAll('/tron/recharge?txid=x')
    const passed = some.filter(({ status }) => status === 400).length
    expect(passed).toBeGreaterThanOrEqual(nodesFigure)
    expect(passed).toBeLessThan(calls)
    const [refused] = some.filter(({ status }) => status !== 400)
    expect(refused && (await read(refused))).toEqual(limited)
    const generous = await getAll('/wallet/flow/list?page=x')
    expect(generous.filter(({ status }) => status !== 400)).toEqual([])
    expect((await service.get('/tron/recharge?txid=x', 8)).status).toBe(400)
  })

  test('has the same limits in production and on the test network, and separate counts', () => {
    expect(figures.map(({ name, simple }) => `${name} ${simple}`)).toEqual([
      `RATE_LISTS { limit = 600, period = ${rateRetrySeconds} }`,
      `RATE_NODES { limit = ${nodesFigure}, period = ${rateRetrySeconds} }`,
      `RATE_LEDGER { limit = 6000, period = ${rateRetrySeconds} }`,
      `RATE_LISTS { limit = 600, period = ${rateRetrySeconds} }`,
      `RATE_NODES { limit = ${nodesFigure}, period = ${rateRetrySeconds} }`,
      `RATE_LEDGER { limit = 6000, period = ${rateRetrySeconds} }`,
    ])
    expect(new Set(figures.map(({ namespace }) => namespace)).size).toBe(6)
  })
})

describe('a limiter that does not work', () => {
  test('allows every request where its binding is missing, with a line in the log', async () => {
    const service = await startService()
    expect((await service.get('/wallet/list')).status).toBe(200)
    expect(service.lines.filter((line) => line.includes('no-rate-limit'))).toEqual([
      '{"level":"warn","event":"no-rate-limit","name":"lists"}',
      '{"level":"warn","event":"no-rate-limit","name":"nodes"}',
      '{"level":"warn","event":"no-rate-limit","name":"ledger"}',
    ])
  })

  test('allows every request where it fails, with a line in the log', async () => {
    const failing = { limit: () => Promise.reject(new Error('unavailable')) }
    const service = await startService({ RATE_LISTS: failing, RATE_NODES: failing })
    expect((await service.get('/wallet/list')).status).toBe(200)
    expect(service.lines).toContain('{"level":"warn","event":"rate-limit-failed","name":"lists"}')
  })

  test('is a wrong configuration where something else has its name', async () => {
    const service = await startService({ RATE_LISTS: '600' })
    expect((await service.get('/wallet/list')).status).toBe(503)
    expect(service.lines.join()).toContain('"fault":"RATE_LISTS: ')
  })
})
