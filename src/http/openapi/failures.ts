import type { Scope } from '../auth/authenticate.ts'
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
import type { Failure } from './docs.ts'

const retryCure = 'Try again after the seconds in `Retry-After`.'

/** The failures that every route can have. */
export const serviceFailures = () =>
  [
    {
      status: 500,
      name: 'crash',
      cause: 'A bug in the service, or its database or its scanner is unavailable. No change was stored in part.',
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

/** The failures that every route with a token can have, by what is different for callers and backends. */
const tokenFailures = (unauthorized: string, cure: string, overLimit: string, keysUrl: string) =>
  [
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
      cause: unauthorized,
      cure: `${cure} The message is the same in every case.`,
      headers: { 'www-authenticate': 'Bearer' },
      given: 'no token',
      msg: toAuthProblem('unauthorized').msg,
    },
    {
      status: 429,
      name: 'too-many-requests',
      cause: overLimit,
      cure: retryCure,
      headers: { 'retry-after': String(rateRetrySeconds) },
      given: 'a rate limit that is reached',
      msg: tooManyRequests.msg,
    },
    ...serviceFailures(),
    {
      status: 503,
      name: 'keys-unavailable',
      cause: `The key set (\`${keysUrl}\`) could not be fetched.`,
      cure: retryCure,
      headers: { 'retry-after': String(keysRetrySeconds) },
      given: 'token signing keys that cannot be fetched',
      msg: toAuthProblem('keys-unavailable').msg,
    },
  ] as const satisfies readonly Failure[]

/** The failures that every route for callers can have. */
export const callerFailures = () =>
  tokenFailures(
    'There is no valid bearer token: its form, signature, algorithm, times, issuer, audience or `sub` is wrong.',
    'Get a token from the issuer and send it as `Authorization: Bearer …`.',
    'You are over your rate limit: a low one for `/tron/balance`, `/tron/recharge` and `fresh=1`, and a high one for the rest.',
    'AUTH_JWKS_URL',
  )

/** The failures that every route for backends can have. `scope` is what its token must allow. */
export const backendFailures = (scope: Scope) =>
  [
    ...tokenFailures(
      'There is no valid token of a backend: its form, signature, algorithm or times are wrong, it is valid for more than an hour, or ' +
        'its `sub` is no name. The token of a caller is none.',
      'Sign a token with the secret or key of the backends.',
      'The backend is over its rate limit. Send several entries in one post.',
      'BACKEND_JWKS_URL',
    ),
    {
      status: 403,
      name: 'missing-scope',
      cause: 'The token is valid, and its `scope` does not allow this.',
      cure: `Sign a token whose \`scope\` includes \`${scope}\`.`,
      given: 'a token without a scope',
      msg: missingScope(scope).msg,
    },
  ] as const satisfies readonly Failure[]

/** The failures of a route that queries nodes, with an example of such a query. */
export const chainFailures = (query: string, before: '' | 'an address and ') =>
  [
    {
      status: 429,
      name: 'requests-used-up',
      cause:
        'Requests to Tron nodes are limited. Callers together have half of what the scan leaves, and one caller a tenth of that. ' +
        'The message has whose requests are used up.',
      cure: `${retryCure} Deposits are credited without asking.`,
      headers: { 'retry-after': '60' },
      given: `${before}no requests for callers`,
      query,
      msg: toProblem({ kind: 'limited', whose: 'callers', seconds: 60 }).msg,
    },
    {
      status: 503,
      name: 'no-node',
      cause: 'No Tron node gave a usable response in time.',
      cure: `${retryCure} Nothing was lost or credited.`,
      headers: { 'retry-after': String(chainRetrySeconds) },
      given: `${before}nodes that do not respond`,
      query,
      msg: toProblem({ kind: 'chain-unavailable' }).msg,
    },
  ] as const satisfies readonly Failure[]

/** The failure of a route with parameters, with an example of a bad query and the message of its response. */
export const badQuery = (query: string, msg: string, cause = '') =>
  ({
    status: 400,
    name: 'bad-input',
    cause: `The value of a parameter is not accepted, is empty, or is given twice.${cause}`,
    cure: 'The message names the parameter and what it takes.',
    given: 'a new caller',
    query,
    msg,
  }) as const satisfies Failure

/** The failure of a route for backends without a valid `uid`. */
export const badUid = (query: string) => badQuery(query, 'uid: a whole number from 1 to 9007199254740991')

/** The failures of requests that reach no route. */
export const failuresOutsideRoutes = () =>
  [
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
