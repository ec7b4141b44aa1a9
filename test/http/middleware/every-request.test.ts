import { beforeAll, describe, expect, test } from 'vitest'
import { crashed, urlCharsMax } from '../../../src/worker/http/errors.ts'
import { httpsSeconds } from '../../../src/worker/http/middleware/every-request.ts'
import { osnCharsMax } from '../../../src/worker/ledger/entry.ts'
import { stackCharsMax } from '../../../src/worker/platform/logger.ts'
import { brokenDatabase, failed, type RunningService, read, startService } from '../service.ts'

let service: RunningService
let broken: RunningService
beforeAll(async () => {
  broken = await startService({ DB: brokenDatabase() })
  service = await startService()
})

describe('the request id', () => {
  const idFor = async (own: string) =>
    (await service.get('/wallet/list', 7, { headers: { 'x-request-id': own } })).headers.get('x-request-id')

  test.each(['abc', 'A-1_b.c', 'x'.repeat(64)])('is the own one of the caller: %s', async (own) => {
    expect(await idFor(own)).toBe(own)
    expect(JSON.parse(service.lines.at(-1) ?? '')).toMatchObject({ requestId: own })
  })

  test.each(['', 'x'.repeat(65), 'a b', 'a,b', 'a=b', '<b>', '"', 'a/b', '%0d%0a'])(
    'is a new one in place of "%s"',
    async (own) => {
      expect(await idFor(own)).toMatch(/^name-\d+$/)
    },
  )
})

describe('the security headers', () => {
  const always = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }

  test.each<[string, number, () => Promise<Response>]>([
    ['a success', 200, () => service.get('/wallet/list')],
    ['a bad query', 400, () => service.get('/tron/recharge?txid=1')],
    ['an unknown path', 404, () => service.get('/x')],
    ['a wrong method', 405, () => service.get('/wallet/list', 7, { method: 'POST' })],
    ['a crash', 500, () => broken.get('/wallet/list')],
  ])('and no others are on %s (%d)', async (_what, status, request) => {
    const response = await request()
    expect(response.status).toBe(status)
    const others = ['allow', 'cache-control', 'content-type', 'server-timing', 'x-d1-bookmark', 'x-request-id']
    const headers = [...response.headers].filter(([name]) => !others.includes(name))
    expect(Object.fromEntries(headers)).toEqual({
      ...always,
      'strict-transport-security': `max-age=${httpsSeconds}`,
    })
  })

  test('do not require https of a client that uses http', async () => {
    const { headers } = await service.fetch(new Request('http://localhost/wallet/list'))
    expect(headers.get('strict-transport-security')).toBeNull()
    expect(Object.fromEntries(headers)).toMatchObject(always)
  })
})

describe('Server-Timing', () => {
  test.each(['/wallet/list', '/tron/recharge', '/health', '/x', '/tron/balance?cuy=x'])(
    'at %s has the milliseconds of the log line',
    async (path) => {
      const timing = (await service.get(path)).headers.get('server-timing') ?? ''
      expect(timing).toMatch(/^total;dur=\d+, db;dur=\d+$/)
      const [total = 0, database = 0] = [...timing.matchAll(/\d+/g)].map(Number)
      expect(database).toBeLessThanOrEqual(total)
      const line = JSON.parse(service.lines.at(-1) ?? '')
      expect([line.durationMs, line.databaseMs]).toEqual([total, database])
    },
  )
})

describe('a URL', () => {
  const origin = 'https://wallet.example'
  const pathOf = (chars: number, path: string) => path + 'x'.repeat(chars - origin.length - path.length)

  test(`is read up to ${urlCharsMax} characters`, async () => {
    expect((await service.get(pathOf(urlCharsMax, '/wallet/list?x='))).status).toBe(200)
    expect((await service.get(pathOf(urlCharsMax, '/'))).status).toBe(404)
  })

  test.each(['/wallet/list?x=', '/', '/health?'])('past that is 414, even without a token: %s', async (path) => {
    expect((await service.get(pathOf(urlCharsMax + 1, path), null)).status).toBe(414)
  })

  test('can have every parameter at its longest, percent-encoded', () => {
    const osn = `osn=${'%20'.repeat(osnCharsMax)}`
    const others = ['page', 'limit', 'cuy', 'wid', 'type', 'from', 'to'].map((name) => `${name}=${'%20'.repeat(30)}`)
    expect(`${origin}/wallet/flow/list?${[osn, ...others].join('&')}`.length).toBeLessThan(urlCharsMax)
  })
})

describe('a crash', () => {
  /** The response and the log lines of a request during which the database throws `thrown`. */
  async function crash(thrown: unknown) {
    const service = await startService({ DB: brokenDatabase(thrown) })
    await service.get('/x') // so that the lines of an isolate's first request are not counted
    service.lines.length = 0
    const response = await service.get('/wallet/list')
    return { response, lines: service.lines.map((line) => JSON.parse(line)) }
  }

  test('is a bare 500, and only the log has its text, under the id of the request', async () => {
    const { response, lines } = await crash(new Error(`SQLITE_ERROR: no such table ${'x'.repeat(stackCharsMax * 2)}`))
    expect(await read(response)).toEqual(failed(500, crashed.msg))
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        event: 'request-crashed',
        requestId: response.headers.get('x-request-id'),
        route: '/wallet/list',
        text: expect.stringContaining('SQLITE_ERROR: no such table'),
      },
    ])
    expect(lines[0]?.text).toHaveLength(stackCharsMax)
  })

  test.each([
    ['a text', 'a text'],
    ['null', null],
    ['an object with a response', { getResponse: () => new Response('own body') }],
    [
      'an error with a response',
      Object.assign(new Error('an error'), { getResponse: () => new Response('own body', { status: 200 }) }),
    ],
  ])('is the same where %s is thrown', async (_what, thrown) => {
    const { response, lines } = await crash(thrown)
    expect(await read(response)).toEqual(failed(500, crashed.msg))
    expect(lines.map(({ event }) => event)).toEqual(['request-crashed', 'request'])
  })
})
