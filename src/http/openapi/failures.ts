import type { Scope } from '../auth/authenticate-backend.ts'
import {
  chainRetrySeconds,
  crashed,
  keysRetrySeconds,
  missingScope,
  notConfigured,
  rateRetrySeconds,
  toAuthProblem,
  tooManyRequests,
  toProblem,
  unknownPath,
  urlCharsMax,
  urlTooLong,
  wrongMethod,
} from '../errors.ts'
import { bookmarkRefusal } from '../middleware/bookmark.ts'
import type { Failure } from './operation.ts'

/** The failures that every route can have. */
export const serviceFailures = [
  {
    status: 500,
    name: 'crash',
    cause: 'A bug in the service, or its database is unavailable. No change was stored in part.',
    cure: 'Try again. If it fails again, report the `x-request-id` to the operator, who finds the details in the log.',
    given: 'no database',
    msg: crashed.msg,
  },
  {
    status: 503,
    name: 'not-configured',
    cause: 'A variable or secret of the deployment is missing or wrong, or there is no key to verify tokens with.',
    cure: 'For the operator: the log names every wrong value.',
    given: 'no configuration',
    msg: notConfigured.msg,
  },
] as const satisfies readonly Failure[]

const overLimit = {
  status: 429,
  name: 'too-many-requests',
  headers: { 'retry-after': String(rateRetrySeconds) },
  given: 'a rate limit that is reached',
  msg: tooManyRequests.msg,
} as const

const noKeys = {
  status: 503,
  name: 'keys-unavailable',
  cure: 'Try again after the seconds in `Retry-After`.',
  headers: { 'retry-after': String(keysRetrySeconds) },
  given: 'token signing keys that cannot be fetched',
  msg: toAuthProblem('keys-unavailable').msg,
} as const

/** The failures that every route with a token can have. */
export const callerFailures = [
  {
    status: 400,
    name: 'bad-bookmark',
    cause: 'The value of `x-d1-bookmark` is not a bookmark.',
    cure: 'Send the value of that header in an earlier response, or leave the header out.',
    given: 'a new caller',
    requestHeaders: { 'x-d1-bookmark': 'latest' },
    msg: toProblem(bookmarkRefusal).msg,
  },
  {
    status: 401,
    name: 'unauthorized',
    cause: 'There is no valid bearer token: its form, signature, algorithm, times, issuer, audience or `sub` is wrong.',
    cure: 'Get a token from the issuer and send it as `Authorization: Bearer …`. The message is the same in every case.',
    headers: { 'www-authenticate': 'Bearer' },
    given: 'no token',
    msg: toAuthProblem('unauthorized').msg,
  },
  {
    ...overLimit,
    cause:
      'You are over your rate limit: a low one for `/tron/balance`, `/tron/recharge` and `fresh=1`, which all callers together ' +
      'have as well, and a high one for the rest.',
    cure: 'Try again after the seconds in `Retry-After`.',
  },
  ...serviceFailures,
  { ...noKeys, cause: 'The key set of the token issuer (`AUTH_JWKS_URL`) could not be fetched.' },
] as const satisfies readonly Failure[]

const [badBookmark] = callerFailures

/** The failures that every route for backends can have. `scope` is what its token must allow. */
export function backendFailures(scope: Scope) {
  return [
    badBookmark,
    {
      status: 401,
      name: 'unauthorized',
      cause:
        'There is no valid token of a backend: its form, signature, algorithm or times are wrong, it is valid for more than an hour, or ' +
        'its `sub` is no name. The token of a caller is none.',
      cure: 'Sign a token with the secret or key of the backends. The message is the same in every case.',
      headers: { 'www-authenticate': 'Bearer' },
      given: 'no token',
      msg: toAuthProblem('unauthorized').msg,
    },
    {
      status: 403,
      name: 'missing-scope',
      cause: 'The token is valid, and its `scope` does not allow this.',
      cure: `Sign a token whose \`scope\` includes \`${scope}\`.`,
      given: 'a token without a scope',
      msg: missingScope(scope).msg,
    },
    {
      ...overLimit,
      cause: 'The backend is over its rate limit.',
      cure: 'Try again after the seconds in `Retry-After`, or send several entries in one post.',
    },
    ...serviceFailures,
    { ...noKeys, cause: 'The key set of the backends (`BACKEND_JWKS_URL`) could not be fetched.' },
  ] as const satisfies readonly Failure[]
}

/** The failure of a route that queries a node. */
export const chainUnavailable = {
  status: 503,
  name: 'no-node',
  cause: 'No Tron node gave a usable response in time.',
  cure: 'Try again after the seconds in `Retry-After`. Nothing was lost or credited.',
  headers: { 'retry-after': String(chainRetrySeconds) },
  given: 'nodes that do not respond',
  msg: toProblem({ kind: 'chain-unavailable' }).msg,
} as const satisfies Failure

/** The failure of a route with parameters, with an example of a bad query and the message of its response. */
export function badQuery<const Query extends string>(query: Query, msg: string, cause = '') {
  return {
    status: 400,
    name: 'bad-input',
    cause: `The value of a parameter is not accepted, is empty, or is given twice.${cause}`,
    cure: 'The message names the parameter and what it takes.',
    given: 'a new caller',
    query,
    msg,
  } as const satisfies Failure
}

/** The failures of requests that reach no route. */
export const failuresOutsideRoutes = [
  {
    status: 404,
    method: 'GET',
    path: '/tron/generate/',
    cause:
      'No route has this path: a route has one spelling. Without a key for backends there is no path that begins with `/ledger/`.',
    cure: 'Use a path of this document, without a slash at the end.',
    msg: unknownPath.msg,
  },
  {
    status: 405,
    method: 'POST',
    path: '/tron/recharge',
    cause: 'The route does not have this method.',
    cure: 'Use one of the methods in the header `Allow`.',
    msg: wrongMethod('').msg,
  },
  {
    status: 414,
    method: 'GET',
    path: `/wallet/list?${'x'.repeat(urlCharsMax)}`,
    cause: 'The URL is longer than any valid one.',
    cure: 'Leave out what the route does not take.',
    msg: urlTooLong.msg,
  },
] as const
