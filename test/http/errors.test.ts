import { describe, expect, test } from 'vitest'
import type { QueryFailure } from '../../src/common/query-failure.ts'
import { err } from '../../src/common/result.ts'
import type { AuthFailure } from '../../src/http/auth/authenticate.ts'
import { chainRetrySeconds, keysRetrySeconds } from '../../src/http/errors.ts'
import { appWith, read } from './app-harness.ts'

describe('what a use case refuses', () => {
  const cases: [QueryFailure, number, string, number | null][] = [
    [{ kind: 'bad-input', field: 'address', why: 'not one of yours' }, 400, 'address: not one of yours', null],
    [{ kind: 'not-found', what: 'address' }, 404, 'no such address', null],
    [{ kind: 'not-found', what: 'transaction' }, 404, 'no such transaction', null],
    [{ kind: 'gap-limit', limit: 20 }, 409, '20 addresses are still without a deposit: use one of them first', null],
    [{ kind: 'not-final', seconds: 42 }, 409, 'seen, final in about 42 s', 42],
    [{ kind: 'not-final', seconds: 0 }, 409, 'seen, final in about 0 s', 1],
    [{ kind: 'undecided', why: 'the nodes disagree' }, 409, 'the nodes disagree', null],
    [{ kind: 'worthless', why: 'the transaction failed' }, 422, 'the transaction failed', null],
    [{ kind: 'chain-unavailable' }, 503, 'no Tron node gave a usable answer: try again later', chainRetrySeconds],
  ]

  test.each(cases)('%j is %d "%s", to be tried again after %s s', async (failure, status, msg, retryAfter) => {
    const { get } = appWith({ readBalance: () => Promise.resolve(err(failure)) })
    const response = await get('/tron/balance')
    expect(response.headers.get('retry-after')).toBe(retryAfter === null ? null : String(retryAfter))
    expect(await read(response)).toEqual({ status, body: { code: status, msg } })
  })
})

describe('why nobody is let in', () => {
  const cases: [AuthFailure, number, string, Record<string, string>][] = [
    ['unauthorized', 401, 'a valid bearer token is required', { 'www-authenticate': 'Bearer' }],
    ['no-key', 503, 'the service is not configured', {}],
    [
      'keys-unavailable',
      503,
      'the keys that tokens are checked with could not be read: try again later',
      { 'retry-after': String(keysRetrySeconds) },
    ],
  ]

  test.each(cases)('%s is %d "%s"', async (failure, status, msg, headers) => {
    const { get } = appWith({ authenticate: () => Promise.resolve(err(failure)) })
    for (const path of [
      '/tron/generate',
      '/tron/balance',
      '/tron/recharge',
      '/wallet/list',
      '/wallet/flow/list?limit=0',
    ]) {
      const response = await get(path)
      expect(Object.fromEntries(response.headers)).toMatchObject(headers)
      expect(await read(response)).toEqual({ status, body: { code: status, msg } })
    }
  })
})
