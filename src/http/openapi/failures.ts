import type { Scope } from '../auth/authenticate.ts'
import {
  crashed,
  missingScope,
  notConfigured,
  toAuthProblem,
  tooManyRequests,
  toProblem,
  unknownPath,
  urlCharsMax,
  urlTooLong,
  wrongMethod,
} from '../errors.ts'
import { bookmarkRefusal } from '../middleware/access.ts'
import type { Failure } from './docs.ts'

const retryCure = 'Try again after the seconds in `Retry-After`.'

/** The failures that every route can have. */
export const serviceFailures = (): readonly Failure[] => [
  {
    name: 'too-long',
    problem: urlTooLong,
    cause: 'The URL is longer than any valid one.',
    cure: 'Leave out what the route does not take.',
    given: 'a new caller',
    query: `?${'x'.repeat(urlCharsMax)}`,
  },
  {
    name: 'crash',
    problem: crashed,
    cause: 'A bug in the service, or its database or its scanner is unavailable. No change was stored in part.',
    cure: 'Try again. If it fails again, report the `x-request-id` to the operator, who finds the details in the log.',
    given: 'no database',
  },
  {
    name: 'not-configured',
    problem: notConfigured,
    cause: 'A variable or secret of the deployment is missing or wrong, or there is no key to verify tokens with.',
    cure: 'For the operator: the log names every wrong value.',
    given: 'no configuration',
  },
]

/** The failures that every route with a token can have, by what is different for callers and backends. */
const tokenFailures = (texts: {
  readonly unauthorized: string
  readonly cure: string
  readonly overLimit: string
  readonly keysUrl: string
}): readonly Failure[] => [
  {
    name: 'bad-bookmark',
    problem: toProblem(bookmarkRefusal),
    cause: 'The value of `x-d1-bookmark` is not a bookmark.',
    cure: 'Send the value of that header in an earlier response, or leave the header out.',
    given: 'a new caller',
    requestHeaders: { 'x-d1-bookmark': 'latest' },
  },
  {
    name: 'unauthorized',
    problem: toAuthProblem('unauthorized'),
    cause: texts.unauthorized,
    cure: `${texts.cure} The message is the same in every case.`,
    given: 'no token',
  },
  {
    name: 'too-many-requests',
    problem: tooManyRequests,
    cause: texts.overLimit,
    cure: retryCure,
    given: 'a rate limit that is reached',
  },
  ...serviceFailures(),
  {
    name: 'keys-unavailable',
    problem: toAuthProblem('keys-unavailable'),
    cause: `The key set (\`${texts.keysUrl}\`) could not be fetched.`,
    cure: retryCure,
    given: 'token signing keys that cannot be fetched',
  },
]

/** The failures that every route for callers can have. */
export const callerFailures = (): readonly Failure[] =>
  tokenFailures({
    unauthorized:
      'There is no valid bearer token: its form, signature, algorithm, times, issuer, audience or `sub` is wrong.',
    cure: 'Get a token from the issuer and send it as `Authorization: Bearer …`.',
    overLimit:
      'You are over your rate limit: a low one for `/tron/balance`, `/tron/recharge` and `fresh=1`, and a high one for the rest.',
    keysUrl: 'AUTH_JWKS_URL',
  })

/** The failures that every route for backends can have. `scope` is what its token must allow. */
export const backendFailures = (scope: Scope): readonly Failure[] => [
  ...tokenFailures({
    unauthorized:
      'There is no valid token of a backend: its form, signature, algorithm, times, issuer or audience are wrong, it is valid for more ' +
      'than an hour, or its `sub` is no name. The token of a caller is none.',
    cure: 'Sign a token with the secret or key of the backends.',
    overLimit: 'The backend is over its rate limit. Send several entries in one post.',
    keysUrl: 'BACKEND_JWKS_URL',
  }),
  {
    name: 'missing-scope',
    problem: missingScope(scope),
    cause: 'The token is valid, and its `scope` does not allow this.',
    cure: `Sign a token whose \`scope\` includes \`${scope}\`.`,
    given: 'a token without a scope',
  },
]

/** The failures of a route that queries nodes, with an example of such a query. */
export const chainFailures = (query: string, before: '' | 'an address and '): readonly Failure[] => [
  {
    name: 'requests-used-up',
    problem: toProblem({ kind: 'limited', whose: 'callers', seconds: 60 }),
    cause:
      'Requests to Tron nodes are limited. Callers together have half of what the scan leaves, and one caller a tenth of that. ' +
      'The message has whose requests are used up.',
    cure: `${retryCure} Deposits are credited without asking.`,
    given: `${before}no requests for callers`,
    query,
  },
  {
    name: 'no-node',
    problem: toProblem({ kind: 'chain-unavailable' }),
    cause: 'No Tron node gave a usable response in time.',
    cure: `${retryCure} Nothing was lost or credited.`,
    given: `${before}nodes that do not respond`,
    query,
  },
]

/** The failure of a route with parameters, with an example of a bad query: the parameter, and what it takes. */
export const badQuery = (query: string, field: string, why: string, cause = ''): Failure => ({
  name: 'bad-input',
  problem: toProblem({ kind: 'bad-input', field, why }),
  cause: `The value of a parameter is not accepted, is empty, or is given twice.${cause}`,
  cure: 'The message names the parameter and what it takes.',
  given: 'a new caller',
  query,
})

/** The failures of requests that reach no route. */
export const failuresOutsideRoutes = () => [
  {
    method: 'GET',
    path: '/tron/generate/',
    problem: unknownPath,
    cause:
      'No route has this path: a route has one spelling. Without a key for backends there is no path that begins with `/ledger/`.',
    cure: 'Use a path of this document, without a slash at the end.',
  },
  {
    method: 'POST',
    path: '/tron/recharge',
    problem: wrongMethod('GET, HEAD'),
    cause: 'The route does not have this method.',
    cure: 'Use one of the methods in the header `Allow`.',
  },
]
