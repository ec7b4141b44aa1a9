import { beforeAll, describe, expect, test } from 'vitest'
import { notConfigured } from '../../src/worker/http/errors.ts'
import { routes } from '../../src/worker/http/routes.ts'
import { brokenDatabase, failed, type RunningService, read, requestsOf, startService } from './service.ts'

const paths = routes.map(({ path }) => path)
/** Routes that can change something. They take no HEAD. */
const acting: readonly string[] = ['/tron/generate', '/tron/recharge']

let service: RunningService
let broken: RunningService
let unconfigured: RunningService
beforeAll(async () => {
  broken = await startService({ DB: brokenDatabase() })
  unconfigured = await startService({ TRON_XPUB: undefined })
  service = await startService()
})

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
  ])('%s is 404 with every method', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      expect(await read(await service.get(path, 7, { method }))).toMatchObject({ status: 404, body: { code: 404 } })
    }
  })
})

describe('another method', () => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
  test.each(paths.flatMap((path) => methods.map((method) => [method, path])))('%s %s is 405', async (method, path) => {
    const response = await service.get(path, 7, { method })
    expect(response.headers.get('allow')).toBe(acting.includes(path) ? 'GET' : 'GET, HEAD')
    expect(await read(response)).toMatchObject({ status: 405, body: { code: 405 } })
  })
})

describe('HEAD', () => {
  const differing = ['server-timing', 'x-d1-bookmark', 'x-request-id'] // these differ between any two responses
  const headersOf = ({ headers }: Response) =>
    [...headers].map(([name, value]) => [name, differing.includes(name) ? 'any' : value])

  test.each([
    ['/wallet/list?x=1', 200],
    ['/nothing', 404],
    ['/tron/balance?cuy=x', 400],
  ])('at %s has the status and headers of GET without a body', async (path, status) => {
    const get = await service.get(path)
    const head = await service.get(path, 7, { method: 'HEAD' })
    expect([get.status, head.status]).toEqual([status, status])
    expect(headersOf(head)).toEqual(headersOf(get))
    expect(await head.text()).toBe('')
  })

  test.each(['/tron/generate', '/tron/generate?fresh=1', '/tron/recharge', '/ledger/address?uid=7'])(
    'at %s, which acts, is 405 and changes nothing',
    async (path) => {
      const init = { method: 'HEAD' }
      const head = path.startsWith('/ledger/') ? await service.ledger(path, init) : await service.get(path, 7, init)
      expect([head.status, head.headers.get('allow'), await head.text()]).toEqual([405, 'GET', ''])
      expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(0)
      expect(requestsOf(service)).toBe(0)
    },
  )

  test.each([
    ['a crash', () => broken, 500],
    ['a wrong configuration', () => unconfigured, 503],
  ])('has no body after %s', async (_what, running, status) => {
    const response = await running().get('/wallet/list', 7, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([status, ''])
  })
})

describe('every response', () => {
  test.each<[string, number, () => Promise<Response>]>([
    ['a success', 200, () => service.get('/wallet/list')],
    ['a bad query', 400, () => service.get('/tron/recharge?txid=1')],
    ['a missing token', 401, () => service.get('/wallet/list', null)],
    ['an unknown path', 404, () => service.get('/x')],
    ['a wrong method', 405, () => service.get('/wallet/list', 7, { method: 'POST' })],
    ['a crash', 500, () => broken.get('/wallet/list')],
    ['a wrong configuration', 503, () => unconfigured.get('/wallet/list')],
  ])('is JSON with an id that is not stored: %s (%d)', async (_what, status, request) => {
    const response = await request()
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-request-id')).toMatch(/^name-\d+$/)
    expect(await read(response)).toMatchObject({ status, body: { code: status } })
  })

  test.each(['*/*', 'text/html', 'application/xml;q=1', ''])('is JSON with the Accept header "%s"', async (accept) => {
    const response = await service.get('/wallet/list', 7, { headers: { accept } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
  })
})

describe('a service with a wrong configuration', () => {
  test.each([...paths, '/x'])('is 503 at %s without the reason', async (path) => {
    expect(await read(await unconfigured.get(path, null))).toEqual(failed(503, notConfigured.msg))
  })
})
