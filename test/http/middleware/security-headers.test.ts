import { beforeAll, describe, expect, test } from 'vitest'
import { httpsSeconds } from '../../../src/http/middleware/security-headers.ts'
import { brokenDatabase, type RunningService, startService } from '../service.ts'

let service: RunningService
let broken: RunningService
beforeAll(async () => {
  broken = await startService({ DB: brokenDatabase() })
  service = await startService()
})
const always = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

describe('the security headers', () => {
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
