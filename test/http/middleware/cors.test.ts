import { beforeAll, describe, expect, test } from 'vitest'
import { urlCharsMax } from '../../../src/worker/http/errors.ts'
import { preflightSeconds } from '../../../src/worker/http/middleware/every-request.ts'
import { brokenDatabase, type RunningService, startService } from '../service.ts'

const shop = 'https://shop.example'
const exposed = 'x-request-id, x-d1-bookmark, x-reason, retry-after, server-timing'

let off: RunningService
let open: RunningService
let some: RunningService
/** Configured as `some`, but with a database that always fails. */
let broken: RunningService
beforeAll(async () => {
  off = await startService()
  open = await startService({ CORS_ORIGINS: '*' })
  some = await startService({ CORS_ORIGINS: [shop, 'http://localhost:3000'] })
  broken = some.with({ DB: brokenDatabase() })
})
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

/** The OPTIONS request that a browser sends before a request with a token. */
const preflight = (service: RunningService, path: string, origin: string) =>
  service.get(path, null, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
  })

describe('a page of another origin', () => {
  test('reads nothing where CORS is not configured', async () => {
    expect(corsOf(await off.get('/wallet/list', null, { headers: { origin: shop } }))).toEqual({})
    const response = await preflight(off, '/wallet/list', shop)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(corsOf(response)).toEqual({})
  })

  test.each<[string, number, string, RequestInit]>([
    ['a bad query', 400, '/tron/recharge?txid=1', {}],
    ['an unknown path', 404, '/x', {}],
    ['another method', 405, '/wallet/list', { method: 'POST' }],
    ['a long URL', 414, `/wallet/list?${'x'.repeat(urlCharsMax)}`, {}],
    ['a crash', 500, '/wallet/list', {}],
  ])('reads %s (%d) where its origin is configured', async (_what, status, path, init) => {
    const response = await (status === 500 ? broken : some).get(path, 7, { ...init, headers: { origin: shop } })
    expect(response.status).toBe(status)
    expect(corsOf(response)).toEqual({
      'access-control-allow-origin': shop,
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    })
  })

  test.each([
    'https://shop.example.evil.example',
    'https://evil-shop.example',
    'https://sub.shop.example',
    'http://shop.example',
    'https://shop.example:8443',
    'https://shop.example/',
    'HTTPS://SHOP.EXAMPLE',
    `${shop}, ${shop}`,
    'null',
    '*',
    '',
  ])('reads nothing where its origin is another: %s', async (origin) => {
    expect(corsOf(await some.get('/x', 7, { headers: { origin } }))).toEqual({ vary: 'Origin' })
    const response = await preflight(some, '/wallet/list', origin)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('reads a success where every origin is allowed, and never with cookies', async () => {
    const response = await open.get('/tron/balance', 7, { headers: { origin: 'https://any.example' } })
    expect(response.status).toBe(200)
    expect(corsOf(response)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': exposed,
    })
  })
})

describe('a preflight', () => {
  test('needs no token and lists what a request may have', async () => {
    const response = await preflight(some, '/wallet/list', shop)
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-type')).toBeNull()
    expect(corsOf(response)).toEqual({
      'access-control-allow-origin': shop,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'authorization, x-request-id, x-d1-bookmark',
      'access-control-max-age': String(preflightSeconds),
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    })
  })

  test('never repeats its request', async () => {
    const response = await open.get('/wallet/list', null, {
      method: 'OPTIONS',
      headers: { origin: shop, 'access-control-request-method': 'DELETE', 'access-control-request-headers': 'x-evil' },
    })
    expect(JSON.stringify([...response.headers])).not.toMatch(/DELETE|x-evil/)
  })

  test('is 404 at an unknown path', async () => {
    expect((await preflight(some, '/x', shop)).status).toBe(404)
  })

  test('makes OPTIONS a method of every route', async () => {
    const response = await some.get('/wallet/list', 7, { method: 'DELETE' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
})
