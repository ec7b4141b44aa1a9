import { describe, expect, test } from 'vitest'
import type { QueryFailure } from '../../src/common/result.ts'
import type { AuthFailure } from '../../src/http/auth/authenticate.ts'
import * as errors from '../../src/http/errors.ts'

const chain = String(errors.chainRetrySeconds)
const keys = String(errors.keysRetrySeconds)

describe('the failure of a query', () => {
  const cases: [QueryFailure, number, string, string | undefined][] = [
    [{ kind: 'bad-input', field: 'limit', why: 'a number' }, 400, 'limit: a number', undefined],
    [{ kind: 'not-found', what: 'address' }, 404, 'no such address', undefined],
    [{ kind: 'not-found', what: 'transaction' }, 404, 'no such transaction', undefined],
    [{ kind: 'gap-limit', limit: 20 }, 409, '20 addresses have no deposit yet; use one of them first', undefined],
    [{ kind: 'not-final', seconds: 42 }, 409, 'found, not final yet; try again in about 42 s', '42'],
    [{ kind: 'not-final', seconds: 0 }, 409, 'found, not final yet; try again in about 0 s', '1'],
    [{ kind: 'undecided', why: 'the nodes disagree' }, 409, 'the nodes disagree', undefined],
    [{ kind: 'worthless', why: 'the transaction failed' }, 422, 'the transaction failed', undefined],
    [
      { kind: 'limited', whose: 'nodes', seconds: 9.5 },
      429,
      'the requests that the Tron nodes allow are used up; deposits are credited when there is room again; try again in about 10 s',
      '10',
    ],
    [
      { kind: 'limited', whose: 'callers', seconds: 7 },
      429,
      'the requests to Tron nodes for all callers are used up; deposits are credited without asking; try again in about 7 s',
      '7',
    ],
    [
      { kind: 'limited', whose: 'caller', seconds: 7 },
      429,
      'your share of the requests to Tron nodes is used up; your deposits are credited without asking; try again in about 7 s',
      '7',
    ],
    [{ kind: 'chain-unavailable' }, 503, 'no Tron node gave a usable response; try again later', chain],
  ]

  test.each(cases)('%j is %d "%s" with Retry-After %s', (failure, status, msg, retryAfter) => {
    const { headers, ...problem } = errors.toProblem(failure)
    expect(problem).toEqual({ status, msg })
    expect(headers).toEqual(retryAfter && { 'retry-after': retryAfter })
  })
})

describe('the failure of authentication', () => {
  const cases: [AuthFailure, number, string, Record<string, string> | undefined][] = [
    ['unauthorized', 401, 'a valid bearer token is required', { 'www-authenticate': 'Bearer' }],
    ['no-key', 503, 'the service is not configured', undefined],
    ['keys-unavailable', 503, 'token signing keys could not be fetched; try again later', { 'retry-after': keys }],
  ]

  test.each(cases)('%s is %d "%s" with the headers %j', (failure, status, msg, headers) => {
    expect(errors.toAuthProblem(failure)).toEqual(headers ? { status, msg, headers } : { status, msg })
  })
})

describe('a failure without a query', () => {
  test.each([
    ['an unknown path', errors.unknownPath, 404, 'no such path'],
    ['a wrong method', errors.wrongMethod('GET'), 405, 'method not allowed; use GET or HEAD'],
    ['a long URL', errors.urlTooLong, 414, `the URL is longer than ${errors.urlCharsMax} characters`],
    ['too many requests', errors.tooManyRequests, 429, `too many requests; try again in ${errors.rateRetrySeconds} s`],
    ['a crash', errors.crashed, 500, 'internal error'],
  ])('%s is %j', (_what, problem, status, msg) => {
    expect(problem).toMatchObject({ status, msg })
  })
})
