import { describe, expect, test } from 'vitest'
import type { CorsOrigins } from '../../../src/config/config.ts'
import { preflightSeconds } from '../../../src/http/middleware/cors.ts'
import { appWith } from '../app-harness.ts'

const shop = 'https://shop.example'
const only: CorsOrigins = new Set([shop, 'http://localhost:3000'])
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))
const exposed = 'x-request-id, x-d1-bookmark, retry-after, server-timing'

/** What a browser asks before it sends a request with a token. */
const ask = (path: string, cors: CorsOrigins | null, origin: string) =>
  appWith({ cors }).get(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
  })

describe('a page of another origin', () => {
  test('reads nothing where CORS is not configured', async () => {
    const headers = { origin: shop }
    expect(corsOf(await appWith().get('/wallet/list', { headers }))).toEqual({})
    const preflight = await ask('/wallet/list', null, shop)
    expect(preflight.status).toBe(405)
    expect(preflight.headers.get('allow')).toBe('GET, HEAD')
    expect(corsOf(preflight)).toEqual({})
  })

  const cases: [string, number, string, RequestInit][] = [
    ['a success', 200, '/wallet/list', {}],
    ['a refusal', 400, '/tron/recharge?txid=1', {}],
    ['an unknown path', 404, '/x', {}],
    ['another method', 405, '/wallet/list', { method: 'POST' }],
    ['too long a URL', 414, `/wallet/list?${'x'.repeat(3000)}`, {}],
    ['a crash', 500, '/wallet/flow/list', {}],
  ]
  test.each(cases)('reads %s (%d) where its origin is configured', async (_what, status, path, init) => {
    const answer = await appWith({ cors: only }).get(path, { ...init, headers: { origin: shop } })
    expect(answer.status).toBe(status)
    expect(corsOf(answer)).toEqual({
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
    expect(corsOf(await appWith({ cors: only }).get('/wallet/list', { headers: { origin } }))).toEqual({
      vary: 'Origin',
    })
    const preflight = await ask('/wallet/list', only, origin)
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('reads everything where all origins are configured, and never with cookies', async () => {
    const answer = await appWith({ cors: '*' }).get('/wallet/list', { headers: { origin: 'https://any.example' } })
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': exposed,
    })
  })
})

describe('the question before a request', () => {
  test('is answered without a token, with what may be sent', async () => {
    const answer = await ask('/wallet/list', only, shop)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': shop,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'authorization, x-request-id, x-d1-bookmark',
      'access-control-max-age': String(preflightSeconds),
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    })
  })

  test('never repeats what was asked', async () => {
    const answer = await appWith({ cors: '*' }).get('/wallet/list', {
      method: 'OPTIONS',
      headers: { origin: shop, 'access-control-request-method': 'DELETE', 'access-control-request-headers': 'x-evil' },
    })
    expect(JSON.stringify([...answer.headers])).not.toMatch(/DELETE|x-evil/)
  })

  test('is 404 at an unknown path', async () => {
    expect((await ask('/x', only, shop)).status).toBe(404)
  })

  test('is named among the methods of a path that was asked with another one', async () => {
    const answer = await appWith({ cors: only }).get('/wallet/list', { method: 'DELETE' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
})
