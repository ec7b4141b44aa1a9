import {
  crashed,
  notConfigured,
  rateRetrySeconds,
  toAuthProblem,
  tooMany,
  toProblem,
  unknownPath,
  urlCharsMax,
  urlTooLong,
  wrongMethod,
} from '../errors.ts'
import type { Failure } from './operation.ts'

/** What every route can answer. */
export const serviceFailures = [
  {
    status: 500,
    name: 'crash',
    cause: 'A fault in the service, or its database is away. Nothing was half-done.',
    cure: 'Try again; if it stays, tell the operator the `x-request-id`, under which the log has what happened.',
    given: 'no database',
    query: '',
    msg: crashed.msg,
  },
  {
    status: 503,
    name: 'not-configured',
    cause: 'A variable or secret of the deployment is missing or wrong, or no key to check tokens with is set.',
    cure: 'For the operator: the log names every wrong value.',
    given: 'no configuration',
    query: '',
    msg: notConfigured.msg,
  },
] as const satisfies readonly Failure[]

/** What every route that acts for a caller can answer. */
export const callerFailures = [
  {
    status: 400,
    name: 'bad-bookmark',
    cause: '`x-d1-bookmark` is sent, and is no bookmark.',
    cure: 'Send back what an earlier answer had in that header, or nothing.',
    given: 'a new caller',
    query: '',
    requestHeaders: { 'x-d1-bookmark': 'latest' },
    msg: 'x-d1-bookmark: a bookmark as an earlier answer had it, given once',
  },
  {
    status: 401,
    name: 'unauthorized',
    cause:
      'There is no bearer token, or something is wrong with it: form, signature, algorithm, times, issuer, audience, `sub`.',
    cure: 'Get a token from the issuer and send it as `Authorization: Bearer …`. The words are the same whatever was wrong.',
    headers: { 'www-authenticate': 'Bearer' },
    given: 'no token',
    query: '',
    msg: toAuthProblem('unauthorized').msg,
  },
  {
    status: 429,
    name: 'too-many-requests',
    cause:
      'You ask more often than the limit allows: one for `/tron/recharge` and `fresh=1`, a generous one for the rest.',
    cure: 'Try again after the seconds in `Retry-After`.',
    headers: { 'retry-after': String(rateRetrySeconds) },
    given: 'a rate limit that is reached',
    query: '',
    msg: tooMany.msg,
  },
  ...serviceFailures,
  {
    status: 503,
    name: 'keys-unavailable',
    cause: "The token issuer's key set (`AUTH_JWKS_URL`) can't be fetched.",
    cure: 'Try again after the seconds in `Retry-After`.',
    headers: { 'retry-after': '5' },
    given: 'token keys that can not be fetched',
    query: '',
    msg: toAuthProblem('keys-unavailable').msg,
  },
] as const satisfies readonly Failure[]

/** What every route that asks a node can answer. */
export const chainUnavailable = {
  status: 503,
  name: 'no-node',
  cause: 'No Tron node gave a usable answer in time.',
  cure: 'Try again after the seconds in `Retry-After`. Nothing was lost or credited.',
  headers: { 'retry-after': '5' },
  given: 'nodes that do not answer',
  query: '',
  msg: toProblem({ kind: 'chain-unavailable' }).msg,
} as const satisfies Failure

/** What is answered outside the routes. */
export const elsewhere = [
  {
    status: 404,
    method: 'GET',
    path: '/tron/generate/',
    cause: 'Nothing is mounted at the path. A route has one spelling.',
    cure: 'Use a path of this document, without a slash at the end.',
    msg: unknownPath.msg,
  },
  {
    status: 405,
    method: 'POST',
    path: '/tron/recharge',
    cause: 'The path takes no other method than GET and HEAD.',
    cure: 'Use GET; the header `Allow` says so too.',
    msg: wrongMethod.msg,
  },
  {
    status: 414,
    method: 'GET',
    path: `/wallet/list?${'x'.repeat(urlCharsMax)}`,
    cause: 'The URL is longer than any that can be answered.',
    cure: 'Leave out what the route does not take.',
    msg: urlTooLong.msg,
  },
] as const
