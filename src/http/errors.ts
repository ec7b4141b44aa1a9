import type { QueryFailure } from '../common/query-failure.ts'
import type { AuthFailure } from './auth/authenticate.ts'

/** A failure as a caller sees it: one sentence, never a stack, SQL, node URL or secret. */
export interface Problem {
  readonly status: number
  readonly msg: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Longest URL that is read, in characters: an answerable one has less than half as many. */
export const urlCharsMax = 2048
/** When to try again past a rate limit: the period of the limiters in wrangler.toml, the longest wait there is. */
export const rateRetrySeconds = 60
/** When to try again after no node answered. */
export const chainRetrySeconds = 5
/** When to try again after the token keys could not be fetched. */
export const keysRetrySeconds = 5

/** Nothing is mounted at this path. */
export const unknownPath: Problem = { status: 404, msg: 'no such path' }
/** The path exists, for reading only; `Allow` says so too. */
export const wrongMethod: Problem = { status: 405, msg: 'only GET and HEAD are answered here' }
/** The URL is not read at all. */
export const urlTooLong: Problem = { status: 414, msg: `the URL is longer than ${urlCharsMax} characters` }
/** The caller asks more often than its limit allows. */
export const tooMany: Problem = retryable(
  429,
  `too many requests: try again in ${rateRetrySeconds} s`,
  rateRetrySeconds,
)
/** A bug; what it was stands in the log under the request's id. */
export const crashed: Problem = { status: 500, msg: 'internal error' }
/** The configuration is wrong; what is wrong stands in the log. */
export const notConfigured: Problem = { status: 503, msg: 'the service is not configured' }

/** What a use case refused, as an answer. */
export function toProblem(failure: QueryFailure): Problem {
  switch (failure.kind) {
    case 'bad-input':
      return { status: 400, msg: `${failure.field}: ${failure.why}` }
    case 'not-found':
      return { status: 404, msg: `no such ${failure.what}` }
    case 'gap-limit':
      return { status: 409, msg: `${failure.limit} addresses are still without a deposit: use one of them first` }
    case 'not-final':
      return retryable(409, `seen, final in about ${failure.seconds} s`, failure.seconds)
    case 'undecided':
      return { status: 409, msg: failure.why }
    case 'worthless':
      return { status: 422, msg: failure.why }
    case 'chain-unavailable':
      return retryable(503, 'no Tron node gave a usable answer: try again later', chainRetrySeconds)
  }
}

/** Why nobody is let in, as an answer. The same words whatever was wrong with a token. */
export function toAuthProblem(failure: AuthFailure): Problem {
  switch (failure) {
    case 'unauthorized':
      return { status: 401, msg: 'a valid bearer token is required', headers: { 'www-authenticate': 'Bearer' } }
    case 'no-key':
      return notConfigured
    case 'keys-unavailable':
      return retryable(
        503,
        'the keys that tokens are checked with could not be read: try again later',
        keysRetrySeconds,
      )
  }
}

function retryable(status: number, msg: string, seconds: number): Problem {
  return { status, msg, headers: { 'retry-after': Math.max(1, Math.ceil(seconds)).toString() } }
}
