import { describe, expect, test } from 'vitest'
import type { UnixMs } from '../../src/common/time.ts'
import { createUnconfiguredApp } from '../../src/http/app.ts'
import { urlCharsMax } from '../../src/http/errors.ts'
import { httpsSeconds, stackCharsMax } from '../../src/http/middleware/frame.ts'
import { osnCharsMax } from '../../src/http/params.ts'
import type { Logger } from '../../src/platform/logger.ts'
import { createUsage } from '../../src/platform/usage.ts'
import { appWith, read } from './app-harness.ts'

const paths = ['/tron/generate', '/tron/balance', '/tron/recharge', '/wallet/list', '/wallet/flow/list', '/health']

describe('an unknown path', () => {
  test.each([
    '/',
    '/wallet',
    '/wallet/list/',
    '//wallet/list',
    '/wallet//list',
    '/Wallet/list',
    '/wallet%2Flist',
    '/w%61llet/list',
    '/wallet/list%20',
    '/wallet/list%00',
    '/wallet/list;x',
    '/wallet/list/7',
    '/tron/generate.json',
    '/__proto__',
    '/constructor',
  ])('%s is 404 in the envelope, whatever the method', async (path) => {
    const { get } = appWith()
    const expected = { status: 404, body: { code: 404, msg: 'no such path' } }
    expect(await read(await get(path))).toEqual(expected)
    expect(await read(await get(path, { method: 'POST' }))).toEqual(expected)
  })
})

describe('another method', () => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
  test.each(paths.flatMap((path) => methods.map((method) => [method, path])))('%s %s is 405', async (method, path) => {
    const response = await appWith().get(path, { method })
    expect(response.headers.get('allow')).toBe('GET, HEAD')
    expect(await read(response)).toEqual({
      status: 405,
      body: { code: 405, msg: 'only GET and HEAD are answered here' },
    })
  })
})

describe('HEAD', () => {
  test.each(['/wallet/list?x=1', '/nothing', '/tron/balance?cuy=x'])(
    'answers %s like GET, without a body',
    async (path) => {
      const get = await appWith().get(path)
      const head = await appWith().get(path, { method: 'HEAD' })
      expect(head.status).toBe(get.status)
      expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers))
      expect(await head.text()).toBe('')
    },
  )
})

describe('every answer', () => {
  const crash = { listWallets: () => Promise.reject(new Error('boom')) }
  const cases: [string, number, Response | Promise<Response>][] = [
    ['a success', 200, appWith().get('/wallet/list')],
    ['bad input', 400, appWith().get('/tron/recharge?txid=1')],
    ['an unknown path', 404, appWith().get('/x')],
    ['a wrong method', 405, appWith().get('/wallet/list', { method: 'POST' })],
    ['a crash', 500, appWith(crash).get('/wallet/list')],
  ]
  test.each(cases)('%s (%d) is JSON with an id, not to be stored', async (_what, status, answer) => {
    const response = await answer
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).toBe('request-1')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(response.headers.get('strict-transport-security')).toBe(`max-age=${httpsSeconds}`)
    expect(response.headers.get('server-timing')).toBe('total;dur=0, db;dur=0, node;dur=0')
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('over plain http (a local one) does not ask for https', async () => {
    const response = await appWith().app.fetch(new Request('http://localhost/wallet/list'))
    expect(response.headers.get('strict-transport-security')).toBeNull()
  })

  test.each(['*/*', 'text/html', 'application/xml;q=1', ''])('is JSON where Accept says "%s"', async (accept) => {
    const response = await appWith().get('/wallet/list', { headers: { accept } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
  })
})

describe('a URL', () => {
  const pathOf = (chars: number, path: string) =>
    `${path}${'x'.repeat(chars - 'https://wallet.example'.length - path.length)}`

  test(`is read up to ${urlCharsMax} characters`, async () => {
    expect((await appWith().get(pathOf(urlCharsMax, '/wallet/list?x='))).status).toBe(200)
    expect((await appWith().get(pathOf(urlCharsMax, '/'))).status).toBe(404)
  })

  test.each(['/wallet/list?x=', '/', '/health?'])('past that is 414, whatever it begins with: %s', async (path) => {
    const { get } = appWith({ authenticate: () => Promise.reject(new Error('nobody was to be asked')) })
    expect(await read(await get(pathOf(urlCharsMax + 1, path)))).toEqual({
      status: 414,
      body: { code: 414, msg: `the URL is longer than ${urlCharsMax} characters` },
    })
  })

  test('has room for every parameter at its longest, percent-coded', () => {
    const osn = `osn=${'%20'.repeat(osnCharsMax)}`
    const others = ['page', 'limit', 'cuy', 'wid', 'type', 'from', 'to'].map((name) => `${name}=${'%20'.repeat(30)}`)
    expect(`https://wallet.example/wallet/flow/list?${[osn, ...others].join('&')}`.length).toBeLessThan(urlCharsMax)
  })
})

describe('the request id', () => {
  test.each(['abc', 'A-1_b.c', 'x'.repeat(64), crypto.randomUUID()])(
    'is the caller’s own where it is plain: %s',
    async (id) => {
      const response = await appWith().get('/wallet/list', { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toBe(id)
    },
  )

  test.each(['', 'x'.repeat(65), 'a b', 'a,b', '<b>', '"', 'a/b'])(
    'is a new one where the caller’s is "%s"',
    async (id) => {
      const response = await appWith().get('/wallet/list', { headers: { 'x-request-id': id } })
      expect(response.headers.get('x-request-id')).toBe('request-1')
    },
  )
})

describe('a crash', () => {
  test('is a bare 500 whose text stands in the log alone, under the request’s id', async () => {
    const { get, lines } = appWith({ listWallets: () => Promise.reject(new Error('SQLITE_ERROR: no such table')) })
    const response = await get('/wallet/list')
    expect(await read(response)).toEqual({ status: 500, body: { code: 500, msg: 'internal error' } })
    expect(lines).toEqual([
      {
        level: 'error',
        event: 'request crashed',
        fields: {
          requestId: 'request-1',
          route: '/wallet/list',
          text: expect.stringContaining('SQLITE_ERROR: no such table'),
        },
      },
    ])
  })

  test.each([['a text'], [null], [{ getResponse: () => new Response('own body') }]])(
    'is the same where %j was thrown instead of an error',
    async (thrown) => {
      const { get, lines } = appWith({ listWallets: () => Promise.reject(thrown) })
      expect(await read(await get('/wallet/list'))).toEqual({ status: 500, body: { code: 500, msg: 'internal error' } })
      expect(lines).toHaveLength(1)
    },
  )

  test('does not let an error bring its own answer', async () => {
    const sly = Object.assign(new Error('sly'), { getResponse: () => new Response('own body', { status: 200 }) })
    const { get } = appWith({ listWallets: () => Promise.reject(sly) })
    expect((await get('/wallet/list')).status).toBe(500)
  })

  test('has no body on HEAD', async () => {
    const { get } = appWith({ listWallets: () => Promise.reject(new Error('boom')) })
    const response = await get('/wallet/list', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([500, ''])
  })

  test('logs no more of its text than the limit', async () => {
    const { get, lines } = appWith({ listWallets: () => Promise.reject(new Error('x'.repeat(stackCharsMax * 2))) })
    await get('/wallet/list')
    expect(String(lines[0]?.fields.text)).toHaveLength(stackCharsMax)
  })
})

describe('what is observed of a request', () => {
  test('is its id, route, method, status and duration, never what the caller wrote', async () => {
    const times = [1000, 1025, 2000, 2025]
    const { get, answered } = appWith({ clock: { now: () => times.shift() as UnixMs } })
    await get('/wallet/list?secret=1')
    await get('/secret')
    expect(
      answered.map(({ visit: { requestId, route, durationMs }, method, status }) => ({
        requestId,
        route,
        method,
        status,
        durationMs,
      })),
    ).toEqual([
      { requestId: 'request-1', route: '/wallet/list', method: 'GET', status: 200, durationMs: 25 },
      { requestId: 'request-2', route: 'unknown', method: 'GET', status: 404, durationMs: 25 },
    ])
  })
})

describe('a service with a wrong configuration', () => {
  const quiet = () => undefined
  const log: Logger = { info: quiet, warn: quiet, error: quiet, alarm: quiet }
  const app = createUnconfiguredApp({
    clock: { now: () => 0 as UnixMs },
    log,
    requestId: () => 'id-1',
    createUsage,
    cors: null,
    observe: quiet,
  })

  test.each([...paths, '/x'])('answers 503 at %s and says no more', async (path) => {
    const response = await app.fetch(new Request(`http://localhost${path}`))
    expect(response.headers.get('x-request-id')).toBe('id-1')
    expect(await read(response)).toEqual({ status: 503, body: { code: 503, msg: 'the service is not configured' } })
  })

  test('answers HEAD without a body', async () => {
    const response = await app.fetch(new Request('http://localhost/health', { method: 'HEAD' }))
    expect([response.status, await response.text()]).toEqual([503, ''])
  })
})
