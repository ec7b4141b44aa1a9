import { beforeEach, describe, expect, test, vi } from 'vitest'
import worker from '../../src/index.ts'
import { testSecret, testVariables } from '../support/configured.ts'
import { freshDatabase } from '../support/database.ts'
import { bearer, signHs256 } from '../support/tokens.ts'
import { read } from './app-harness.ts'

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

const unlimited = { limit: () => Promise.resolve({ success: true }) }
const limiters = { RATE_LISTS: unlimited, RATE_STRICT: unlimited }

/** The exported Worker as the platform calls it: its own clock, log and (closed) network. */
const ask = async (
  url: string,
  { headers = {}, variables = {} }: { headers?: HeadersInit; variables?: Record<string, unknown> } = {},
) => worker.fetch(new Request(url, { headers }), { ...testVariables(await freshDatabase()), ...limiters, ...variables })

let lines: string[]
beforeEach(() => {
  lines = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
})

describe('the exported Worker', () => {
  test('answers a caller with a token', async () => {
    const exp = Math.floor(Date.now() / 1000) + 60
    const headers = bearer(await signHs256({ sub: '7', exp }, testSecret))
    expect(await read(await ask('https://wallet.example/wallet/list', { headers }))).toEqual(empty)
  })

  test('answers nobody else, with an id that is new for each request', async () => {
    const answers = [await ask('https://wallet.example/wallet/list'), await ask('http://localhost/wallet/list')]
    for (const answer of answers) {
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(await read(answer)).toEqual({ status: 401, body: { code: 401, msg: 'a valid bearer token is required' } })
    }
    const ids = answers.map((answer) => answer.headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(2)
    expect(ids.join(' ')).toMatch(/^[\w-]{8,64} [\w-]{8,64}$/)
  })

  test('acts for DEV_UID on loopback alone', async () => {
    const variables = { DEV_UID: '42' }
    expect(await read(await ask('http://localhost:8787/wallet/list', { variables }))).toEqual(empty)
    expect((await ask('https://wallet.example/wallet/list', { variables })).status).toBe(401)
  })

  test('fails closed without a key, and says nothing of why', async () => {
    const variables = { AUTH_JWT_SECRET: undefined }
    expect(await read(await ask('https://wallet.example/wallet/list', { variables }))).toEqual({
      status: 503,
      body: { code: 503, msg: 'the service is not configured' },
    })
    expect((await ask('https://wallet.example/health', { variables })).status).toBe(200)
  })

  test.each(['/wallet/list', '/health', '/nothing'])(
    'serves nothing at %s with a wrong configuration',
    async (path) => {
      const variables = { TRON_XPUB: 'xprv-something-secret', DEV_UID: '42' }
      expect(await read(await ask(`http://localhost${path}`, { variables }))).toEqual({
        status: 503,
        body: { code: 503, msg: 'the service is not configured' },
      })
      expect(lines.join()).toContain('"alarm":"misconfigured","fault":"TRON_XPUB: ')
      expect(lines.join()).not.toContain('something-secret')
    },
  )

  test('logs one line for a request, with nothing in it that the caller wrote', async () => {
    await ask('https://wallet.example/wallet/list?password=hidden', { headers: { authorization: 'Bearer hid.de.n' } })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'info',
        event: 'request',
        requestId: expect.any(String),
        route: '/wallet/list',
        method: 'GET',
        status: 401,
        durationMs: expect.any(Number),
        nodeCalls: 0,
        nodeMs: 0,
        databaseQueries: 0,
        databaseMs: 0,
        rowsRead: 0,
      },
    ])
  })
})
