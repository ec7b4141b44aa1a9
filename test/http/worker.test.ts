import { env } from 'cloudflare:workers'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { notConfigured } from '../../src/worker/http/errors.ts'
import worker from '../../src/worker/index.ts'
import { freshDatabase, resetObjects } from '../support/database.ts'
import { bearer, signHs256 } from '../support/tokens.ts'
import { testSecret, testVariables } from '../support/variables.ts'
import { failed, read } from './service.ts'

const empty = {
  status: 200,
  body: {
    code: 200,
    msg: 'success',
    data: {
      list: [
        { amt: 0, cuy: 1 },
        { amt: 0, cuy: 2 },
      ],
      count: 2,
    },
  },
}

const unavailable = failed(503, notConfigured.msg)
const unlimited = { limit: () => Promise.resolve({ success: true }) }
const limiters = { RATE_LISTS: unlimited, RATE_NODES: unlimited, RATE_LEDGER: unlimited }

/**
 * A request to the Worker's exported handler, as the platform calls it: with the real clock and
 * log, and without a network.
 */
const request = async (
  url: string,
  { headers = {}, variables = {} }: { headers?: HeadersInit; variables?: Record<string, unknown> } = {},
) => {
  await resetObjects()
  return worker.fetch(new Request(url, { headers }), {
    ...testVariables(await freshDatabase()),
    SCANNER: env.SCANNER,
    ENDPOINT: env.ENDPOINT,
    ...limiters,
    ...variables,
  })
}
afterAll(resetObjects) // otherwise the objects' alarms would run while other files use the database

let lines: string[]
beforeEach(() => {
  lines = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
})

describe('the exported Worker', () => {
  test('serves a caller with a token', async () => {
    const exp = Math.floor(Date.now() / 1000) + 60
    const headers = bearer(await signHs256({ sub: '7', exp }, testSecret))
    expect(await read(await request('https://wallet.example/wallet/list', { headers }))).toEqual(empty)
  })

  test('refuses other requests, with a new id for each', async () => {
    const responses = [
      await request('https://wallet.example/wallet/list'),
      await request('http://localhost/wallet/list'),
    ]
    for (const response of responses) {
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(response.status).toBe(401)
    }
    const ids = responses.map(({ headers }) => headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(2)
    expect(ids.join(' ')).toMatch(/^[\w-]{8,64} [\w-]{8,64}$/)
  })

  test('acts for DEV_UID on loopback only', async () => {
    const variables = { DEV_UID: '42' }
    expect(await read(await request('http://localhost:8787/wallet/list', { variables }))).toEqual(empty)
    expect((await request('https://wallet.example/wallet/list', { variables })).status).toBe(401)
  })

  test('does not accept a token of another configuration that the isolate has served', async () => {
    const headers = bearer(await signHs256({ sub: '7', exp: Math.floor(Date.now() / 1000) + 60 }, testSecret))
    const url = 'https://wallet.example/wallet/list'
    expect((await request(url, { headers })).status).toBe(200)
    for (const variables of [
      { AUTH_JWT_SECRET: `${testSecret}x` },
      { AUTH_ISSUER: 'https://issuer.example' },
      { AUTH_AUDIENCE: 'wallet' },
      { AUTH_JWT_SECRET: undefined, AUTH_JWKS_URL: 'https://issuer.example/keys' },
    ]) {
      expect((await request(url, { headers, variables })).status).toBe(401)
    }
    expect((await request(url, { headers })).status).toBe(200)
  })

  test.each(['/wallet/list', '/health', '/nothing'])(
    'serves nothing at %s with a wrong configuration',
    async (path) => {
      const variables = { TRON_XPUB: 'xprv-something-secret', DEV_UID: '42' }
      expect(await read(await request(`http://localhost${path}`, { variables }))).toEqual(unavailable)
      expect(lines.join()).toContain('"alarm":"misconfigured","fault":"TRON_XPUB: ')
      expect(lines.join()).not.toContain('something-secret')
    },
  )
})
