import { describe, expect, test } from 'vitest'
import type { Reason } from '../../src/worker/common/reasons.ts'
import type { QueryFailure } from '../../src/worker/common/result.ts'
import type { AuthFailure } from '../../src/worker/http/auth/authenticate.ts'
import { tokenFaults } from '../../src/worker/http/auth/token-fault.ts'
import * as errors from '../../src/worker/http/errors.ts'

const chain = String(errors.chainRetrySeconds)
const keys = String(errors.keysRetrySeconds)

describe('the failure of a query', () => {
  const cases: [QueryFailure, number, Reason | undefined, string, string | undefined][] = [
    [{ kind: 'bad-input', field: 'limit', why: 'a number' }, 400, undefined, 'limit: a number', undefined],
    [{ kind: 'not-found', what: 'address' }, 404, undefined, 'no such address', undefined],
    [{ kind: 'not-found', what: 'transaction' }, 404, undefined, 'no such transaction', undefined],
    [
      { kind: 'gap-limit', limit: 20 },
      ...([409, 'gap-limit', '20 addresses have no deposit yet; use one of them first', undefined] as const),
    ],
    [
      { kind: 'not-final', seconds: 42 },
      ...([409, 'not-final', 'found, not final yet; try again in about 42 s', '42'] as const),
    ],
    [
      { kind: 'not-final', seconds: 0 },
      ...([409, 'not-final', 'found, not final yet; try again in about 0 s', '1'] as const),
    ],
    [
      { kind: 'not-final', seconds: null },
      ...([409, 'finality-late', `found, not final yet: ${errors.finalityLate}`, '15'] as const),
    ],
    [
      { kind: 'undecided', reason: 'too-large', why: 'it is too large' },
      409,
      'too-large',
      'it is too large',
      undefined,
    ],
    [{ kind: 'worthless', reason: 'dust', why: 'it is dust' }, 422, 'dust', 'it is dust', undefined],
    [
      { kind: 'limited', whose: 'nodes', seconds: 9.5 },
      429,
      'node-allowance',
      'the requests that the Tron nodes allow are used up; deposits are credited when there is room again; try again in about 10 s',
      '10',
    ],
    [
      { kind: 'limited', whose: 'callers', seconds: 7 },
      429,
      'shared-allowance',
      'the requests to Tron nodes for all callers are used up; deposits are credited without asking; try again in about 7 s',
      '7',
    ],
    [
      { kind: 'limited', whose: 'caller', seconds: 7 },
      429,
      'own-allowance',
      'your share of the requests to Tron nodes is used up; your deposits are credited without asking; try again in about 7 s',
      '7',
    ],
    [
      { kind: 'chain-unavailable' },
      503,
      'nodes-unavailable',
      'no Tron node gave a usable response; try again later',
      chain,
    ],
  ]

  test.each(cases)('%j is %d %s "%s" with Retry-After %s', (failure, status, reason, msg, retryAfter) => {
    const { headers, ...problem } = errors.toProblem(failure)
    expect(problem).toEqual({ status, msg, ...(reason && { reason }) })
    expect(headers).toEqual(retryAfter && { 'retry-after': retryAfter })
  })
})

describe('the failure of authentication', () => {
  test.each<[AuthFailure, errors.Problem]>([
    [
      'unauthorized',
      { status: 401, msg: 'a valid bearer token is required', headers: { 'www-authenticate': 'Bearer' } },
    ],
    [
      { fault: 'expired' },
      {
        status: 401,
        msg: 'a valid bearer token is required',
        headers: { 'www-authenticate': 'Bearer error="invalid_token", error_description="the token has expired"' },
      },
    ],
    ['no-key', { status: 503, reason: 'not-configured', msg: 'the service is not configured' }],
    [
      'keys-unavailable',
      {
        status: 503,
        reason: 'keys-unavailable',
        headers: { 'retry-after': keys },
        msg: 'token signing keys could not be fetched; try again later',
      },
    ],
  ])('%j is %j', (failure, problem) => {
    expect(errors.toAuthProblem(failure)).toEqual(problem)
  })
})

test.each(Object.entries(tokenFaults))('what is told of a token with the fault %s fits into its header', (_, told) => {
  expect(told).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/) // the characters that RFC 6750, section 3, allows
})

describe('a failure without a query', () => {
  test.each([
    [
      'an unknown path',
      errors.unknownPath,
      404,
      'no such path here: /docs lists all paths, and what a deployment needs for some of them',
    ],
    ['a wrong method', errors.wrongMethod(['GET', 'HEAD', 'POST']), 405, 'method not allowed; use GET, HEAD or POST'],
    ['one that only GET has', errors.wrongMethod(['GET', 'OPTIONS']), 405, 'method not allowed; use GET'],
    ['a long URL', errors.urlTooLong, 414, `the URL is longer than ${errors.urlCharsMax} characters`],
    ['too many requests', errors.tooManyRequests, 429, `too many requests; try again in ${errors.rateRetrySeconds} s`],
    ['a crash', errors.crashed, 500, 'internal error'],
  ])('%s is %j', (_what, problem, status, msg) => {
    expect(problem).toMatchObject({ status, msg })
  })
})
