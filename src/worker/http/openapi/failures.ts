import { type Reason, reasonTexts } from '../../common/reasons.ts'
import { postEntriesMax } from '../../ledger/parse-post.ts'
import type { Scope } from '../auth/authenticate.ts'
import { bodyBytesMax, urlCharsMax } from '../errors.ts'
import type { Example, Failure, Situation } from './docs.ts'

/**
 * Documents a failure with a `reason`, which is its name. `common/reasons.ts` has its cause and
 * cure.
 */
export const refused = (reason: Reason, sent: Omit<Example, 'name'>): Failure => ({
  name: reason,
  reason,
  ...reasonTexts()[reason],
  ...sent,
})

/** The failures that every route can have. */
export const serviceFailures = (): readonly Failure[] =>
  everywhere(
    {
      name: 'too-long',
      cause: 'The URL is longer than any valid one.',
      cure: 'Leave out what the route does not take.',
      given: 'a new caller',
      query: `?${'x'.repeat(urlCharsMax)}`,
    },
    {
      name: 'crash',
      cause: 'A bug in the service. No change was stored in part.',
      cure: 'Try again. If it fails again, report the `x-request-id` to the operator, who finds the details in the log.',
      given: 'no database',
    },
    refused('database-unavailable', { given: 'a database that is away' }),
    refused('not-configured', { given: 'no configuration' }),
    refused('configuration-differs', { given: 'a configuration that differs' }),
  )

const everywhere = (...failures: readonly Failure[]) => failures.map((one) => ({ ...one, everywhere: true }) as const)

/**
 * The failures of every route with a token. `unauthorized` and `cure` are the cause and the cure of
 * its 401, which differ between users and backends.
 */
const tokenFailures = (unauthorized: string, cure: string): readonly Failure[] =>
  everywhere(
    {
      name: 'bad-bookmark',
      cause: 'The value of `x-d1-bookmark` is not a bookmark.',
      cure: 'Send the value of that header in an earlier response, or leave the header out.',
      given: 'a new caller',
      requestHeaders: { 'x-d1-bookmark': 'latest' },
    },
    {
      name: 'unauthorized',
      cause: unauthorized,
      cure: `${cure} The message is the same in every case.`,
      given: 'no token',
    },
    refused('rate-limit', { given: 'a rate limit that is reached' }),
    ...serviceFailures(),
    refused('keys-unavailable', { given: 'token signing keys that cannot be fetched' }),
  )

/** The failures of every route for users. */
export const callerFailures = (): readonly Failure[] =>
  tokenFailures(
    'There is no valid bearer token: its form, signature, algorithm, times, issuer, audience or `sub` is wrong.',
    'Get a token from the issuer and send it as `Authorization: Bearer …`.',
  )

/**
 * The failures that every JSON body can have. `request` is a valid body, and `takes` shows its
 * form.
 */
export const bodyFailures = (request: object, given: Situation, takes: string): readonly Failure[] => [
  {
    name: 'broken-body',
    cause: 'The body is not JSON.',
    cure: `Send \`${takes}\` in UTF-8.`,
    given,
    request: takes.slice(0, takes.indexOf('[') + 1),
  },
  {
    name: 'wrong-body',
    cause: 'The body is another JSON value, or has other members.',
    cure: `Send \`${takes}\`.`,
    given,
    request: [],
  },
  {
    name: 'too-deep',
    cause: 'The body has more objects and lists inside each other than a valid one.',
    cure: `Send \`${takes}\`.`,
    given,
    request: `{"${memberOf(request)}":[[[]]]}`,
  },
  {
    name: 'member-twice',
    cause: 'An object of the body has two members of the same name. Parsers do not agree on which one counts.',
    cure: 'Send each member once.',
    given,
    request: `{"${memberOf(request)}":[],${JSON.stringify(request).slice(1)}`,
  },
  {
    name: 'encoded-body',
    cause: 'The body has a `content-encoding`.',
    cure: 'Send it without compression.',
    given,
    request,
    requestHeaders: { 'content-encoding': 'gzip' },
  },
  {
    name: 'too-large',
    cause: `The body has more than ${bodyBytesMax} bytes.`,
    cure: `Send at most ${postEntriesMax} items in one request, and short texts.`,
    given,
    request: ' '.repeat(bodyBytesMax + 1),
  },
  {
    name: 'wrong-media-type',
    cause: 'The body is declared as something else than JSON, or not at all.',
    cure: 'Send `content-type: application/json`.',
    given,
    request,
    requestHeaders: { 'content-type': 'text/plain' },
  },
]

const memberOf = (request: object) => Object.keys(request)[0] ?? ''

/** The failures of every route for backends. The token must have one of `scopes`. */
export const backendFailures = (scopes: readonly Scope[]): readonly Failure[] => [
  ...tokenFailures(
    'There is no valid token of a backend: its form, signature, algorithm, times, issuer or audience are wrong, it is valid for more ' +
      'than an hour, or its `sub` is no name. The token of a caller is none.',
    'Sign a token with the secret or key of the backends.',
  ),
  {
    name: 'missing-scope',
    cause: 'The token is valid, and its `scope` does not allow this.',
    cure: `Sign a token whose \`scope\` includes ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`,
    given: 'a token without a scope',
  },
]

/**
 * The failures of a route that queries nodes. `query` is an example; `before` says whether its user
 * must have an address first.
 */
export const chainFailures = (query: string, before: '' | 'an address and '): readonly Failure[] => {
  return [
    refused('node-allowance', { given: `${before}no requests to nodes`, query }),
    refused('shared-allowance', { given: `${before}no requests for callers`, query }),
    refused('own-allowance', { given: `${before}no requests for this caller`, query }),
    refused('nodes-unavailable', { given: `${before}nodes that do not respond`, query }),
  ]
}

/**
 * Documents the failure of the example `query`, in which a parameter is bad. `cause` is added to
 * the general cause.
 */
export const badQuery = (query: string, cause = ''): Failure => ({
  name: 'bad-input',
  cause: `The value of a parameter is not accepted, is empty, or is given twice.${cause}`,
  cure: 'The message names the parameter and what it takes.',
  given: 'a new caller',
  query,
})

/** The failures of requests whose path or method no route has. */
export const failuresOutsideRoutes = (): readonly (Failure & { readonly method: string; readonly path: string })[] => [
  {
    name: 'unknown-path',
    given: 'a new caller',
    method: 'get',
    path: '/tron/generate/',
    cause:
      'No route has this path: a route has one spelling. Without a key for backends there is no path that begins with `/ledger/`.',
    cure: 'Use a path of this document, without a slash at the end.',
  },
  {
    name: 'wrong-method',
    given: 'a new caller',
    method: 'post',
    path: '/wallet/list',
    cause: 'The route does not have this method.',
    cure: 'Use one of the methods in the header `Allow`.',
  },
]
